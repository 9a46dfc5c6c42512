// SPDX-License-Identifier: Apache-2.0
// Lanes of Keccak's state with their even bits in the lower and their odd bits in the upper half, so that a rotation
// takes no more than that of a word.
#pragma once

#include <cstdint>

extern "C" void polykem_keccak_rounds(uint32_t state[50], const uint32_t* constants, const uint32_t* end);

namespace polykem::cortex_m4 {

/// Swaps the bits of `mask` with those `distance` above them.
constexpr uint32_t swap_bits(uint32_t x, uint32_t mask, unsigned distance) {
  const uint32_t difference = (x ^ (x >> distance)) & mask;
  return x ^ difference ^ (difference << distance);
}

/// The even bits become the lower half, the odd ones the upper half.
constexpr uint32_t part(uint32_t x) {
  return swap_bits(swap_bits(swap_bits(swap_bits(x, 0x22222222, 1), 0x0c0c0c0c, 2), 0x00f000f0, 4), 0x0000ff00, 8);
}
constexpr uint32_t unpart(uint32_t x) {
  return swap_bits(swap_bits(swap_bits(swap_bits(x, 0x0000ff00, 8), 0x00f000f0, 4), 0x0c0c0c0c, 2), 0x22222222, 1);
}

constexpr uint64_t interleaved(uint64_t lane) {
  const uint32_t low = part(static_cast<uint32_t>(lane)), high = part(static_cast<uint32_t>(lane >> 32));
  return ((low & 0xffff) | high << 16) | uint64_t{low >> 16 | (high & 0xffff0000)} << 32;
}
constexpr uint64_t restored(uint64_t lane) {
  const auto even = static_cast<uint32_t>(lane), odd = static_cast<uint32_t>(lane >> 32);
  return unpart((even & 0xffff) | odd << 16) | uint64_t{unpart(even >> 16 | (odd & 0xffff0000))} << 32;
}

/// The permutation on such lanes.
void keccak_interleaved(uint64_t state[25]);

}  // namespace polykem::cortex_m4
