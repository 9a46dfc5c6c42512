// SPDX-License-Identifier: Apache-2.0
// What FrodoKEM's threads do by themselves: errors from random bits, packed coefficients.
#pragma once

#include <cstdint>

#include "schemes/frodo/params.hpp"

namespace polykem::frodo::cuda {

/// The thresholds of a distribution, as constants for two 16-bit halves at once: adding one to two positions sets bit
/// 15 of a half if its position is above the threshold. Entries beyond the distribution's are 0, which never does.
struct Thresholds {
  uint32_t at[kMaxCdf - 1];
  uint32_t one = 1;  ///< a factor that the compiler does not know
};

constexpr Thresholds thresholds(const Cdf& cdf) {
  Thresholds result{};
  for (size_t z = 0; z + 1 < cdf.size; ++z)
    result.at[z] = (0x7fffu - cdf.at[z]) * 0x10001u;
  return result;
}

/// a + b by the multipliers, which are idle while the other units hash.
__device__ __forceinline__ uint32_t add_by_multiplier(uint32_t a, uint32_t one, uint32_t b) {
  uint32_t sum;
  asm("mad.lo.u32 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(one), "r"(b));
  return sum;
}

/// Four random words of 16 bits -> four errors as signed bytes. Reads kCount thresholds, all of them for every word.
/// [FRODO21, Alg 5]
template <int kCount>
__device__ __forceinline__ uint32_t sample4(uint64_t words, const Thresholds& t) {
  const uint32_t two[2] = {static_cast<uint32_t>(words), static_cast<uint32_t>(words >> 32)};
  uint32_t sum[2] = {};  // the halves' errors times 2^7 and 2^11: dot products count with weights 1 and 16
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const uint32_t position = (two[half] >> 1) & 0x7fff7fff;
#pragma unroll
    for (int z = 0; z < kCount; ++z)
      sum[half] = __dp4a(add_by_multiplier(position, t.one, t.at[z]) & 0x80008000u, 0x10000100u, sum[half]);
  }
  const uint32_t both = (sum[0] >> 7) + (sum[1] << 9);
  const uint32_t errors = (both | both << 4) & 0x0f0f0f0f;
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
