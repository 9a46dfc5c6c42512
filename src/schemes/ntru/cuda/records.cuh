// SPDX-License-Identifier: Apache-2.0
// Polynomials of NTRU as packed records and as rows. [NTRU20, pack_S3, pack_Rq0, pack_Sq]
#pragma once

#include <cstdint>

#include "prim/cuda/warp.cuh"
#include "prim/records/cuda/records.cuh"
#include "schemes/ntru/cuda/sets.hpp"

namespace polykem::ntru::cuda {

using polykem::cuda::begin_record;
using polykem::cuda::block_again;
using polykem::cuda::lane_again;
using polykem::cuda::record_word;
using polykem::cuda::Records;
using polykem::cuda::store_record;
using polykem::cuda::warp_lane;
using polykem::cuda::warp_sum;

/// Returns x mod 3. Range in: below 2^16. (check-magic: 43691 == ceil(2^17 / 3))
__device__ __forceinline__ uint32_t mod3(uint32_t x) {
  return x - 3 * ((x * 43691u) >> 17);
}

/// Maps {0, 1, 2} to {0, 1, -1}.
__device__ __forceinline__ int centred(uint32_t trit) {
  return static_cast<int>(trit) - 3 * static_cast<int>(trit >> 1);
}

/// Returns four bytes mod 3.
__device__ __forceinline__ uint32_t mod3_bytes(uint32_t x) {
  x = (x & 0x0f0f0f0f) + ((x >> 4) & 0x0f0f0f0f);  // 16 = 1 mod 3; now <= 30
  x = (x & 0x03030303) + ((x >> 2) & 0x07070707);  // 4 = 1 mod 3; now <= 10
  x = (x & 0x03030303) + ((x >> 2) & 0x03030303);  // now <= 5
  x = (x & 0x03030303) + ((x >> 2) & 0x01010101);  // now <= 3
  return x ^ ((x & (x >> 1) & 0x01010101) * 3);    // 3 -> 0
}

/// Maps {0, 1, 2} to {0, 1, -1} in four bytes at once.
__device__ __forceinline__ uint32_t centred_bytes(uint32_t x) {
  return (x & 0x01010101) | (((x >> 1) & 0x01010101) * 0xff);
}

/// The number of zeros before a row that is packed.
inline constexpr int kGuard = 8;

/// Returns four bytes of the packed form of coefficients c, beginning at byte `offset` >= -3. c: kRow values below q in
/// shared memory, zero from n - 1 on, after kGuard zeros.
template <class Set>
__device__ __forceinline__ uint32_t pack_rq_word(const uint16_t* c, int offset) {
  constexpr int kBits = static_cast<int>(Shape<Set>::kLogQ), kCoefficients = 31 / kBits + 2;
  const int bit = 8 * offset + kGuard * kBits;
  const int first = bit / kBits;
  uint64_t bits = 0;
#pragma unroll
  for (int j = 0; j < kCoefficients; ++j)
    bits |= static_cast<uint64_t>(c[first - kGuard + j]) << (j * kBits);
  return static_cast<uint32_t>(bits >> (bit - first * kBits));
}

/// Computes poly_Rq_sum_zero_tobytes or poly_Sq_tobytes: packs all coefficients but n - 1. c: kRow values below q in
/// shared memory, with kGuard more words before them. Those words and coefficient n - 1 are overwritten by zeros.
template <class Set>
__device__ __forceinline__ void store_rq(uint8_t* to, uint16_t* c, unsigned lane) {
  __syncwarp();
  if (lane < kGuard) c[static_cast<int>(lane) - kGuard] = 0;
  if (lane == kGuard) c[Shape<Set>::kN - 1] = 0;
  __syncwarp();
  store_record(to, Shape<Set>::kRqBytes, lane, [c](int at) { return pack_rq_word<Set>(c, at); });
}

/// Returns four bytes of five trits each, beginning at byte `offset` >= -3 of the packed form of t. t: values 0, 1, 2
/// in shared memory, zero from n - 1 on.
template <class Set>
__device__ __forceinline__ uint32_t pack_trits_word(const uint8_t* t, int offset) {
  uint32_t word = 0;
#pragma unroll
  for (int b = 0; b < 4; ++b) {
    const int k = offset + b;
    if (k < 0 || k >= Shape<Set>::kTritsBytes) continue;
    const uint8_t* five = t + 5 * k;
    word |= (five[0] + 3u * five[1] + 9u * five[2] + 27u * five[3] + 81u * five[4]) << (8 * b);
  }
  return word;
}

/// Computes poly_S3_tobytes of trits in shared memory.
template <class Set>
__device__ __forceinline__ void store_trits(uint8_t* to, const uint8_t* t, unsigned lane) {
  store_record(to, Shape<Set>::kTritsBytes, lane, [t](int at) { return pack_trits_word<Set>(t, at); });
}

/// Writes the trits of a packed polynomial to t: kRow values 0, 1, 2. The inverse of store_trits().
template <class Set>
__device__ __forceinline__ void unpack_trits(uint8_t* t, const uint8_t* packed, unsigned lane) {
  using S = Shape<Set>;
#pragma unroll 2
  for (int k = static_cast<int>(lane); k < S::kTritsBytes; k += 32) {
    uint32_t rest = packed[k];
#pragma unroll
    for (int j = 0; j < 5; ++j) {
      const uint32_t quotient = (rest * 43691u) >> 17;
      if (5 * k + j < S::kN - 1) t[5 * k + j] = static_cast<uint8_t>(rest - 3 * quotient);
      rest = quotient;
    }
  }
  for (int i = S::kN - 1 + static_cast<int>(lane); i < S::kRow; i += 32)
    t[i] = 0;
  __syncwarp();
}

/// Maps {0, 1, 2, -1} to {0, 1, 2, 2} in four bytes at once.
__device__ __forceinline__ uint32_t trit_bytes(uint32_t x) {
  return (x & 0x03030303) ^ ((x >> 7) & 0x01010101);
}

/// Writes a row of trits 0, 1, 2 in shared memory as a row of bytes 0, 1, -1.
template <class Set>
__device__ __forceinline__ void store_centred(uint8_t* row, const uint8_t* t, unsigned lane) {
  for (int w = static_cast<int>(lane); w < Shape<Set>::kRow / 4; w += 32)
    reinterpret_cast<uint32_t*>(row)[w] = centred_bytes(reinterpret_cast<const uint32_t*>(t)[w]);
}

/// Writes G / 3 as a row of bytes: g for HPS, (x - 1) g for HRSS. t: the trits of g in shared memory.
template <class Set>
__device__ __forceinline__ void store_lifted(uint8_t* row, const uint8_t* t, unsigned lane) {
  if constexpr (Shape<Set>::kHps) {
    store_centred<Set>(row, t, lane);
  } else {
    for (int w = static_cast<int>(lane); w < Shape<Set>::kRow / 4; w += 32) {
      const uint32_t g = centred_bytes(reinterpret_cast<const uint32_t*>(t)[w]);
      const uint32_t previous = w == 0 ? 0 : centred_bytes(t[4 * w - 1]);  // coefficient n - 1 is 0
      reinterpret_cast<uint32_t*>(row)[w] = __vsub4(__byte_perm(g, previous, 0x2104), g);
    }
  }
}

}  // namespace polykem::ntru::cuda
