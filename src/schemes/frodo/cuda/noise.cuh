// SPDX-License-Identifier: Apache-2.0
// Sampling errors from random bits and packing coefficients, each by one thread.
#pragma once

#include <cstdint>

#include "schemes/frodo/params.hpp"

namespace polykem::frodo::cuda {

/// The thresholds of a distribution for random words of 16 bits: 2^23 + 2 t + 1, since the words' lowest bits are the
/// signs. Entries beyond the distribution's are above all words.
struct Thresholds {
  float at[kMaxCdf - 1];
};

constexpr Thresholds thresholds(const Cdf& cdf) {
  Thresholds result{};
  for (size_t z = 0; z + 1 < kMaxCdf; ++z)
    result.at[z] = static_cast<float>((1 << 23) + (z + 1 < cdf.size ? 2 * cdf.at[z] + 1 : 0xffff));
  return result;
}

/// Samples four errors, as signed bytes, from four random words of 16 bits. Reads kCount thresholds, all of them for
/// every word. Floating-point units count the thresholds, since they are idle while the other units hash: a word w
/// above a threshold t is w - t cut to [0, 1]. All values are whole numbers below 2^24, and so exact. [FRODO21, Alg 5]
template <int kCount>
__device__ __forceinline__ uint32_t sample4(uint64_t words, const Thresholds& t) {
  const uint32_t two[2] = {static_cast<uint32_t>(words), static_cast<uint32_t>(words >> 32)};
  float sum[2] = {1 << 23, 1 << 23};  // bits 0 to 3: errors of words 0 and 1, bits 16 to 19: those of words 2 and 3
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const float word = __uint_as_float(__byte_perm(two[j / 2], 0x4b00, j % 2 == 0 ? 0x5410 : 0x5432));  // 2^23 + word
#pragma unroll
    for (int z = 0; z < kCount; ++z)
      sum[j % 2] = __fmaf_rn(__saturatef(word - t.at[z]), j < 2 ? 1.0f : 65536.0f, sum[j % 2]);
  }
  const uint32_t errors = __byte_perm(__float_as_uint(sum[0]), __float_as_uint(sum[1]), 0x6240);
  const uint32_t sign = __byte_perm(two[0], two[1], 0x6420) & 0x01010101, negative = sign * 0xff;
  // Minus e is the complement of e plus 1; no carry may leave a byte when e is 0.
  return (((errors ^ negative) & 0x7f7f7f7f) + sign) ^ (negative & 0x80808080);
}

/// Packs eight coefficients with D bits each, the most significant bit first: bytes 4 k .. 4 k + 3 are word k, the
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

/// Unpacks what pack8 packs. Bits beyond the coefficients' are ignored. [FRODO21, Alg 4]
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
