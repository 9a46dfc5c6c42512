// SPDX-License-Identifier: Apache-2.0
#include "schemes/ntru/sort/sort.hpp"

#include "ct/ct.hpp"

namespace polykem {

namespace {

/// Swaps the two values if needed, so that low <= high. The difference of two int32 needs 33 bits, hence the wider
/// type.
void compare_exchange(int32_t& low, int32_t& high) {
  const int64_t difference = static_cast<int64_t>(high) - low;
  const auto swap = ct::barrier(static_cast<uint32_t>(difference >> 63));
  const uint32_t delta = swap & static_cast<uint32_t>(low ^ high);
  low = static_cast<int32_t>(static_cast<uint32_t>(low) ^ delta);
  high = static_cast<int32_t>(static_cast<uint32_t>(high) ^ delta);
}

}  // namespace

void sort_int32(int32_t* values, size_t count) {
  if (count < 2) return;
  size_t top = 1;
  while (2 * top < count)
    top *= 2;
  for (size_t p = top; p > 0; p /= 2) {
    size_t q = top, r = 0, distance = p;
    while (true) {
      for (size_t i = 0; i + distance < count; ++i) {
        if ((i & p) == r) compare_exchange(values[i], values[i + distance]);
      }
      if (q == p) break;
      distance = q - p;
      q /= 2;
      r = p;
    }
  }
}

}  // namespace polykem
