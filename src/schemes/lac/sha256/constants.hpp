// SPDX-License-Identifier: Apache-2.0
// The constants of SHA-256: the first 32 bits of the fractional parts of square and cube roots of the first primes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace polykem::sha256 {

inline constexpr size_t kRounds = 64;

/// Returns floor(2^32 root) mod 2^32 for the square root (kPower == 2) or cube root (kPower == 3) of n.
template <unsigned kPower>
consteval uint32_t root_fraction(uint64_t n) {
  using Wide = unsigned __int128;
  uint64_t root = 0;  // largest r with r^kPower <= n 2^(32 kPower); n < 2^9, so r < 2^37 and r^3 < 2^111
  for (int bit = 36; bit >= 0; --bit) {
    const uint64_t next = root | uint64_t{1} << bit;
    const Wide power = kPower == 2 ? Wide{next} * next : Wide{next} * next * next;
    if (power <= Wide{n} << (32 * kPower)) root = next;
  }
  return static_cast<uint32_t>(root);
}

template <unsigned kPower, size_t kCount>
consteval std::array<uint32_t, kCount> root_fractions() {
  std::array<uint32_t, kCount> out{};
  size_t found = 0;
  for (uint64_t n = 2; found < kCount; ++n) {
    bool prime = true;
    for (uint64_t d = 2; d * d <= n; ++d)
      prime = prime && n % d != 0;
    if (prime) out[found++] = root_fraction<kPower>(n);
  }
  return out;
}

inline constexpr auto kInitial = root_fractions<2, 8>();             ///< [FIPS180, 5.3.3]
alignas(64) inline constexpr auto kRound = root_fractions<3, 64>();  ///< [FIPS180, 4.2.2]
static_assert(kInitial[0] == 0x6a09e667 && kRound[0] == 0x428a2f98 && kRound[63] == 0xc67178f2);

}  // namespace polykem::sha256
