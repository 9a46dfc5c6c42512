// SPDX-License-Identifier: Apache-2.0
#include "ckks/src/words.hpp"

#include <mutex>

namespace polykem::ckks {

namespace {

constexpr size_t kAlignment = 64, kMinKept = size_t{64} << 10, kMaxKept = size_t{256} << 20, kMaxBlocks = 64;

/// What stands before the memory of a block.
struct alignas(kAlignment) Header {
  size_t bytes;  ///< of the memory
};

std::mutex mutex;
Header* kept[kMaxBlocks];
size_t kept_blocks, kept_bytes;

Header* allocate_block(size_t bytes) {
  void* const memory = ::operator new (sizeof(Header) + bytes, std::align_val_t{kAlignment});
  return ::new (memory) Header{bytes};
}

void free_block(Header* block) {
  ::operator delete (block, std::align_val_t{kAlignment});
}

/// Takes out the smallest block of at least `bytes` and at most twice as many; nullptr if there is none.
Header* take(size_t bytes) {
  size_t best = kept_blocks;
  for (size_t i = 0; i < kept_blocks; ++i) {
    const size_t size = kept[i]->bytes;
    if (size >= bytes && size <= 2 * bytes && (best == kept_blocks || size < kept[best]->bytes)) best = i;
  }
  if (best == kept_blocks) return nullptr;
  Header* const block = kept[best];
  kept[best] = kept[--kept_blocks];
  kept_bytes -= block->bytes;
  return block;
}

/// Returns whether the block was kept.
bool keep(Header* block) {
  if (kept_blocks == kMaxBlocks || kept_bytes + block->bytes > kMaxKept) return false;
  kept[kept_blocks++] = block;
  kept_bytes += block->bytes;
  return true;
}

}  // namespace

// A lock that is not free, which another thread may have held when this process was forked, is not waited for.
void* allocate_rows(size_t bytes) {
  if (bytes >= kMinKept) {
    const std::unique_lock lock(mutex, std::try_to_lock);
    if (Header* const block = lock ? take(bytes) : nullptr) return block + 1;
  }
  return allocate_block(bytes) + 1;
}

void free_rows(void* memory) noexcept {
  if (memory == nullptr) return;
  Header* const block = static_cast<Header*>(memory) - 1;
  if (block->bytes >= kMinKept) {
    const std::unique_lock lock(mutex, std::try_to_lock);
    if (lock && keep(block)) return;
  }
  free_block(block);
}

void release_rows() noexcept {
  const std::unique_lock lock(mutex, std::try_to_lock);
  if (!lock) return;
  while (kept_blocks != 0)
    free_block(kept[--kept_blocks]);
  kept_bytes = 0;
}

}  // namespace polykem::ckks
