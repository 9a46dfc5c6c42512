// SPDX-License-Identifier: Apache-2.0
// Lanes of Keccak's state with their even bits in the lower and their odd bits in the upper half, so that rotating a
// lane takes no more than rotating its two words.
#pragma once

#include <cstdint>

extern "C" void polykem_keccak_rounds(uint32_t state[50], const uint32_t* constants, const uint32_t* end);

namespace polykem::cortex_m4 {

/// Swaps the bits of `high` at `mask` with those of `low` that are `distance` above them.
constexpr void exchange(uint32_t& low, uint32_t& high, uint32_t mask, unsigned distance) {
  const uint32_t difference = (low >> distance ^ high) & mask;
  high ^= difference;
  low ^= difference << distance;
}

/// Moves the even bits of a lane to the lower half and its odd bits to the upper half. A bit's place is a number of six
/// bits, of which the first says in which word it is. Each exchange swaps this bit of the number with another, and
/// together they rotate all six.
constexpr uint64_t interleaved(uint64_t lane) {
  auto low = static_cast<uint32_t>(lane), high = static_cast<uint32_t>(lane >> 32);
  exchange(low, high, 0x0000ffff, 16);
  exchange(low, high, 0x00ff00ff, 8);
  exchange(low, high, 0x0f0f0f0f, 4);
  exchange(low, high, 0x33333333, 2);
  exchange(low, high, 0x55555555, 1);
  return low | uint64_t{high} << 32;
}
/// Moves the bits back: the inverse of interleaved().
constexpr uint64_t restored(uint64_t lane) {
  auto low = static_cast<uint32_t>(lane), high = static_cast<uint32_t>(lane >> 32);
  exchange(low, high, 0x55555555, 1);
  exchange(low, high, 0x33333333, 2);
  exchange(low, high, 0x0f0f0f0f, 4);
  exchange(low, high, 0x00ff00ff, 8);
  exchange(low, high, 0x0000ffff, 16);
  return low | uint64_t{high} << 32;
}
static_assert(interleaved(0xaaaaaaaaaaaaaaaa) == 0xffffffff00000000 && interleaved(5) == 3 &&
              interleaved(2) == 1ull << 32);
static_assert(restored(interleaved(0x0123456789abcdef)) == 0x0123456789abcdef);

/// Permutes a state whose lanes are interleaved.
void keccak_interleaved(uint64_t state[25]);

}  // namespace polykem::cortex_m4
