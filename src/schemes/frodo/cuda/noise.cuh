// SPDX-License-Identifier: Apache-2.0
// What FrodoKEM's threads do by themselves: errors from random bits, packed coefficients.
#pragma once

#include <cstdint>

#include "schemes/frodo/params.hpp"

namespace polykem::frodo::cuda {

/// The thresholds of a distribution as bits of two equal half-precision numbers: 2^15 - 1 - t. Such numbers compare as
/// their bits do. Entries beyond the distribution's are 0, below which nothing is.
struct Thresholds {
  uint32_t at[kMaxCdf - 1];
};

constexpr Thresholds thresholds(const Cdf& cdf) {
  Thresholds result{};
  for (size_t z = 0; z + 1 < cdf.size; ++z)
    result.at[z] = (0x7fffu - cdf.at[z]) * 0x10001u;
  return result;
}

constexpr bool thresholds_are_finite(const Cdf& cdf) {
  return 0x7fff - cdf.at[0] < 0x7c00;  // the others are smaller; from 0x7c00 on there are infinity and no numbers
}
static_assert(thresholds_are_finite(kFrodo640.cdf) && thresholds_are_finite(kFrodo976.cdf) &&
              thresholds_are_finite(kFrodo1344.cdf));

/// Adds 1 to the halves of sum where those of a are below those of b.
__device__ __forceinline__ void count_below(uint32_t& sum, uint32_t a, uint32_t b) {
  uint32_t below;
  asm("set.lt.f16x2.f16x2 %0, %1, %2;" : "=r"(below) : "r"(a), "r"(b));
  asm("add.f16x2 %0, %0, %1;" : "+r"(sum) : "r"(below));
}

/// Four random words of 16 bits -> four errors as signed bytes. Reads kCount thresholds, all of them for every word.
/// Half-precision units compare and count, which are idle while the others hash. [FRODO21, Alg 5]
template <int kCount>
__device__ __forceinline__ uint32_t sample4(uint64_t words, const Thresholds& t) {
  const uint32_t two[2] = {static_cast<uint32_t>(words), static_cast<uint32_t>(words >> 32)};
  uint32_t sum[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const uint32_t above = (~two[half] >> 1) & 0x7fff7fff;  // what the positions lack to 2^15 - 1
    sum[half] = 0x64006400;                                 // 1024, whose lowest bits count
#pragma unroll
    for (int z = 0; z < kCount; ++z)
      count_below(sum[half], above, t.at[z]);
  }
  const uint32_t errors = __byte_perm(sum[0], sum[1], 0x6420);
  const uint32_t sign = __byte_perm(two[0], two[1], 0x6420) & 0x01010101, negative = sign * 0xff;
  // Minus e is the complement of e plus 1; no carry may leave a byte when e is 0.
  return (((errors ^ negative) & 0x7f7f7f7f) + sign) ^ (negative & 0x80808080);
}

/// Eight coefficients, packed with D bits each, the most significant bit first: bytes 4 k .. 4 k + 3 are word k, the
/// first of them its highest. D is 15 or 16. [FRODO21, Alg 3]
__device__ __forceinline__ void pack8(uint32_t (&words)[4], const uint32_t (&c)[kBar], unsigned logq) {
  if (logq == 16) {
#pragma unroll
    for (int k = 0; k < 4; ++k)
      words[k] = (c[2 * k] << 16) | (c[2 * k + 1] & 0xffff);
    return;
  }
  uint32_t b[kBar];
#pragma unroll
  for (int k = 0; k < static_cast<int>(kBar); ++k)
    b[k] = c[k] & 0x7fff;
  words[0] = (b[0] << 17) | (b[1] << 2) | (b[2] >> 13);
  words[1] = (b[2] << 19) | (b[3] << 4) | (b[4] >> 11);
  words[2] = (b[4] << 21) | (b[5] << 6) | (b[6] >> 9);
  words[3] = (b[6] << 23) | (b[7] << 8);
}

/// The inverse; bits beyond the coefficients' are ignored. [FRODO21, Alg 4]
__device__ __forceinline__ void unpack8(uint32_t (&c)[kBar], const uint32_t (&words)[4], unsigned logq) {
  if (logq == 16) {
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      c[2 * k] = words[k] >> 16;
      c[2 * k + 1] = words[k] & 0xffff;
    }
    return;
  }
  c[0] = words[0] >> 17;
  c[1] = words[0] >> 2;
  c[2] = (words[0] << 13) | (words[1] >> 19);
  c[3] = words[1] >> 4;
  c[4] = (words[1] << 11) | (words[2] >> 21);
  c[5] = words[2] >> 6;
  c[6] = (words[2] << 9) | (words[3] >> 23);
  c[7] = words[3] >> 8;
#pragma unroll
  for (int k = 0; k < static_cast<int>(kBar); ++k)
    c[k] &= 0x7fff;
}

}  // namespace polykem::frodo::cuda
