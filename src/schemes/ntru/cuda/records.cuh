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

/// Returns two neighbouring coefficients as one word of a row.
__device__ __forceinline__ uint32_t pair(uint32_t low, uint32_t high) {
  return (low & 0xffff) | (high << 16);
}

/// Maps {0, 1, 2} to {0, 1, 0xffff} in both halves.
__device__ __forceinline__ uint32_t centred_pair(uint32_t x) {
  return (x & 0x00010001) | (((x >> 1) & 0x00010001) * 0xffff);
}

/// Writes a row of trits 0, 1, 2 in shared memory as a row of elements of Rq in global memory.
template <class Set>
__device__ __forceinline__ void store_trit_row(uint16_t* row, const uint8_t* t, unsigned lane) {
  auto* out = reinterpret_cast<uint32_t*>(row);
  const auto* in = reinterpret_cast<const uint16_t*>(t);
  for (int w = static_cast<int>(lane); w < Shape<Set>::kRow / 2; w += 32) {
    const uint32_t both = in[w];
    const uint32_t spread = (both & 0xff) | ((both & 0xff00) << 8);
    out[w] = centred_pair(spread);
  }
}

/// Reads a row in either ternary form from global memory and writes its trits 0, 1, 2 to shared memory.
template <class Set>
__device__ __forceinline__ void load_trit_row(uint8_t* t, const uint16_t* row, unsigned lane) {
  const auto* in = reinterpret_cast<const uint32_t*>(row);
  auto* out = reinterpret_cast<uint16_t*>(t);
  for (int w = static_cast<int>(lane); w < Shape<Set>::kRow / 2; w += 32) {
    const uint32_t x = in[w];
    const uint32_t minus = (x >> 15) & 0x00010001;
    const uint32_t trits = (x & 0x00030003) ^ minus;  // 0xffff: 3 -> 2
    out[w] = static_cast<uint16_t>((trits & 0xff) | (trits >> 8));
  }
  __syncwarp();
}

}  // namespace polykem::ntru::cuda
