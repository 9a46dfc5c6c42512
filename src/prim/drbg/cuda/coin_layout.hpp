// SPDX-License-Identifier: Apache-2.0
// The random bytes that a warp of the device's generator makes, and their places in memory. The kernel and the host's
// tests both compile this, because an index that wrapped at 2^32 blocks or bytes would leave the last items without
// random bytes.
#pragma once

#include <cstdint>

namespace polykem::cuda {

/// Bytes of a block of random bytes, which is one of ChaCha20.
inline constexpr uint32_t kCoinBlockBytes = 64;

/// Returns how many blocks hold the `bytes` random bytes of an item.
constexpr uint32_t coin_blocks(int bytes) {
  return (static_cast<uint32_t>(bytes) + kCoinBlockBytes - 1) / kCoinBlockBytes;
}

/// The 32 consecutive blocks of one warp, one for each lane: block b of a batch is block b % kBlocks of item
/// b / kBlocks. Offsets of the whole warp have 64 bits; a lane's offset from them fits in 32.
///
/// kBlocks is the number of blocks of an item, kStride the number of bytes from one item's row to the next.
template <uint32_t kBlocks, uint32_t kStride>
class CoinLayout {
 public:
  static_assert(kStride % 16 == 0 && kStride >= kBlocks * kCoinBlockBytes);
  static_assert((kBlocks + 31) / kBlocks * uint64_t{kStride} < (uint64_t{1} << 32));

  /// `warp` is the index of the warp in the grid, whose blocks have one warp each. `count` is the number of items of
  /// the batch, below 2^64 / kBlocks.
  constexpr CoinLayout(uint64_t warp, uint64_t count) {
    const uint64_t first = warp * 32, end = count * kBlocks;
    first_item_ = first / kBlocks;
    first_block_ = static_cast<uint32_t>(first % kBlocks);
    valid_ = first >= end ? 0 : static_cast<uint32_t>(end - first < 32 ? end - first : 32);
  }

  /// Returns the number of lanes that have a block of the batch; these are the first ones.
  constexpr uint32_t valid() const { return valid_; }
  /// Returns the item that a lane's block belongs to.
  constexpr uint64_t item(uint32_t lane) const { return first_item_ + (first_block_ + lane) / kBlocks; }
  /// Returns the index of a lane's block within its item.
  constexpr uint32_t block(uint32_t lane) const { return (first_block_ + lane) % kBlocks; }
  /// Returns the number of bytes from the batch's first row to the row of the warp's first item.
  constexpr uint64_t row_offset() const { return first_item_ * kStride; }
  /// Returns the distance from the row of the warp's first item to a lane's block, in units of 16 bytes.
  constexpr uint32_t block_offset(uint32_t lane) const {
    return (first_block_ + lane) / kBlocks * (kStride / 16) + block(lane) * (kCoinBlockBytes / 16);
  }

 private:
  uint64_t first_item_ = 0;
  uint32_t first_block_ = 0, valid_ = 0;
};

}  // namespace polykem::cuda
