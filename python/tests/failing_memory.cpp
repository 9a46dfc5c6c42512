// SPDX-License-Identifier: Apache-2.0
// A library for LD_PRELOAD: memory that polykem's extension and the C++ runtime ask for is refused on demand, Python's
// and NumPy's own never is. It counts their blocks, and finds secrets in blocks that they free. A block starts without
// what its memory held before: Python and NumPy do not wipe theirs.
#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);
}

namespace {

struct Range {
  std::uintptr_t begin, end;
};

constexpr std::size_t kNeedleBytes = 16, kMaxNeedles = 16;

std::array<Range, 8> watched;
std::atomic<std::size_t> watched_count{0};
std::array<std::array<unsigned char, kNeedleBytes>, kMaxNeedles> needles;
std::atomic<std::size_t> needle_count{0};
std::atomic<int> left{0};  // calls until one fails; 0: none is planned
std::atomic<bool> onward{false}, happened{false};
std::atomic<long> blocks{0}, found{0};

bool is_watched(const void* caller) {
  const auto address = reinterpret_cast<std::uintptr_t>(caller);
  for (std::size_t i = 0; i < watched_count; ++i)
    if (address >= watched[i].begin && address < watched[i].end) return true;
  return false;
}

bool fails() {
  int now = left.load();
  while (now > 1)
    if (left.compare_exchange_weak(now, now - 1)) return false;
  if (now == 0 || (!onward && !left.compare_exchange_strong(now, 0))) return false;
  happened = true;
  errno = ENOMEM;
  return true;
}

/// Behind the bytes of a watched block stands this number and its address, by which free() knows it: the last call of a
/// destructor may have any caller.
constexpr std::uint64_t kMark = 0x5a7b3c91d2e4f608;

std::uint64_t* mark_of(void* memory) {
  return reinterpret_cast<std::uint64_t*>(static_cast<char*>(memory) + malloc_usable_size(memory)) - 1;
}

std::uint64_t mark(void* memory) {
  return kMark ^ reinterpret_cast<std::uint64_t>(memory);
}

/// Returns allocate(bytes), marked and filled if the caller is watched; null if it is the call that is to fail.
template <class Allocate>
void* allocated(std::size_t bytes, const void* caller, const Allocate& allocate, unsigned char fill = 0xa5) {
  if (!is_watched(caller)) return allocate(bytes);
  if (fails() || bytes > SIZE_MAX - sizeof kMark) return nullptr;
  void* memory = allocate(bytes + sizeof kMark);
  if (memory == nullptr) return nullptr;
  std::memset(memory, fill, malloc_usable_size(memory));
  *mark_of(memory) = mark(memory);
  ++blocks;
  return memory;
}

/// True if the block was marked; it no longer is.
bool unmark(void* memory) {
  if (malloc_usable_size(memory) < sizeof kMark || *mark_of(memory) != mark(memory)) return false;
  *mark_of(memory) = 0;
  --blocks;
  return true;
}

void search(const void* memory) {
  for (std::size_t i = 0; i < needle_count; ++i)
    if (memmem(memory, malloc_usable_size(const_cast<void*>(memory)), needles[i].data(), kNeedleBytes) != nullptr)
      ++found;
}

int add_range(dl_phdr_info* info, size_t, void*) {
  const char* name = info->dlpi_name;
  if (std::strstr(name, "/polykem/_core.") == nullptr && std::strstr(name, "/libstdc++.so") == nullptr) return 0;
  for (int i = 0; i < info->dlpi_phnum && watched_count < watched.size(); ++i) {
    const ElfW(Phdr)& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    const std::uintptr_t begin = info->dlpi_addr + part.p_vaddr;
    watched[watched_count] = {begin, begin + part.p_memsz};
    ++watched_count;
  }
  return 0;
}

}  // namespace

extern "C" {

/// To be called once, after the extension was loaded. Returns how many code segments are watched.
int watch_polykem() {
  dl_iterate_phdr(add_range, nullptr);
  return static_cast<int>(watched_count);
}

/// The nth allocation from now on fails (from 1), with `all_later` all that follow it, too.
void arm(int nth, int all_later) {
  onward = all_later != 0;
  happened = false;
  left = nth;
}

/// Nothing fails any more. Returns 1 if something did.
int disarm() {
  left = 0;
  return happened ? 1 : 0;
}

long live_blocks() {
  return blocks;
}

/// From now on 16 bytes are searched for in what is freed.
void add_secret(const unsigned char* bytes) {
  if (needle_count == kMaxNeedles) return;
  std::memcpy(needles[needle_count].data(), bytes, kNeedleBytes);
  ++needle_count;
}

/// How many freed blocks had a secret.
long secrets_found() {
  return found;
}

void* malloc(size_t bytes) {
  return allocated(bytes, __builtin_return_address(0), __libc_malloc);
}

void* calloc(size_t count, size_t bytes) {
  size_t all = 0;
  if (__builtin_mul_overflow(count, bytes, &all)) return __libc_calloc(count, bytes);
  return allocated(
      all, __builtin_return_address(0), [](size_t size) { return __libc_calloc(1, size); }, 0);
}

void* realloc(void* old, size_t bytes) {
  const void* caller = __builtin_return_address(0);
  if (old == nullptr) return allocated(bytes, caller, __libc_malloc);
  if (bytes > 0 && is_watched(caller) && fails()) return nullptr;
  if (!unmark(old)) return __libc_realloc(old, bytes);
  const size_t had = malloc_usable_size(old);
  void* memory = __libc_realloc(old, bytes == 0 ? 0 : bytes + sizeof kMark);
  void* const marked = memory != nullptr || bytes == 0 ? memory : old;
  if (marked == nullptr) return nullptr;
  if (malloc_usable_size(marked) > had)
    std::memset(static_cast<char*>(marked) + had, 0xa5, malloc_usable_size(marked) - had);
  *mark_of(marked) = mark(marked);
  ++blocks;
  return memory;
}

void* memalign(size_t alignment, size_t bytes) {
  return allocated(bytes, __builtin_return_address(0),
                   [alignment](size_t size) { return __libc_memalign(alignment, size); });
}

void* aligned_alloc(size_t alignment, size_t bytes) {
  return allocated(bytes, __builtin_return_address(0),
                   [alignment](size_t size) { return __libc_memalign(alignment, size); });
}

int posix_memalign(void** out, size_t alignment, size_t bytes) {
  void* memory = allocated(bytes, __builtin_return_address(0),
                           [alignment](size_t size) { return __libc_memalign(alignment, size); });
  if (memory == nullptr) return ENOMEM;
  *out = memory;
  return 0;
}

void free(void* memory) {
  if (memory != nullptr && unmark(memory)) search(memory);
  __libc_free(memory);
}

void* mmap(void* address, size_t bytes, int protection, int flags, int file, off_t offset) {
  if (is_watched(__builtin_return_address(0)) && fails()) return MAP_FAILED;
  return reinterpret_cast<void*>(syscall(SYS_mmap, address, bytes, protection, flags, file, offset));
}

}  // extern "C"
