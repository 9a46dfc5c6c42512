// SPDX-License-Identifier: Apache-2.0
// Polynomials of NTRU as packed records and as rows. [NTRU20, pack_S3, pack_Rq0, pack_Sq]
#pragma once

#include <cstdint>

#include "prim/cuda/warp.cuh"
#include "prim/polymul/cuda/polymul_cuda.cuh"
#include "prim/records/cuda/records.cuh"
#include "schemes/ntru/cuda/sets.hpp"

namespace polykem::ntru::cuda {

using polykem::cuda::begin_record;
using polykem::cuda::block_again;
using polykem::cuda::lane_again;
using polykem::cuda::mod3;
using polykem::cuda::record_word;
using polykem::cuda::Records;
using polykem::cuda::store_record;
using polykem::cuda::warp_lane;
using polykem::cuda::warp_sum;

/// Calls f(i, w) for each of a row's words w that is this lane's, the i-th of them, if kLanes lanes share kWords words.
template <int kWords, int kLanes, class F>
__device__ __forceinline__ void for_each_word(unsigned lane, F&& f) {
#pragma unroll
  for (int i = 0; i < (kWords + kLanes - 1) / kLanes; ++i) {
    const int w = kLanes * i + static_cast<int>(lane);
    if (kLanes * (i + 1) <= kWords || w < kWords) f(i, w);
  }
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

/// Returns four bytes of five trits each: x holds twenty trits 0, 1, 2.
__device__ __forceinline__ uint32_t packed_trits(const uint32_t (&x)[5]) {
  const uint32_t byte0 = __dp4a(x[0], 0x1b090301u, __dp4a(x[1], 0x00000051u, 0u));
  const uint32_t byte1 = __dp4a(x[1], 0x09030100u, __dp4a(x[2], 0x0000511bu, 0u));
  const uint32_t byte2 = __dp4a(x[2], 0x03010000u, __dp4a(x[3], 0x00511b09u, 0u));
  const uint32_t byte3 = __dp4a(x[3], 0x01000000u, __dp4a(x[4], 0x511b0903u, 0u));
  return byte0 + (byte1 << 8) + (byte2 << 16) + (byte3 << 24);
}

/// Returns four bytes of five trits each, beginning at byte `offset` >= -3 of the packed form of t; bytes outside that
/// form are undefined. t: values 0, 1, 2 in shared memory, zero from n - 1 on, 4-byte aligned.
template <class Set>
__device__ __forceinline__ uint32_t pack_trits_word(const uint8_t* t, int offset) {
  constexpr uint32_t kLastWord = Shape<Set>::kRow / 4 - 1;
  const auto* words = reinterpret_cast<const uint32_t*>(t);
  const int first = 5 * offset + 16;  // not negative
  const uint32_t word = static_cast<uint32_t>(first / 4) - 4;
  uint32_t read[6], x[5];
#pragma unroll
  for (uint32_t i = 0; i < 6; ++i)
    read[i] = words[min(word + i, kLastWord)];
#pragma unroll
  for (int i = 0; i < 5; ++i)
    x[i] = __funnelshift_r(read[i], read[i + 1], 8 * (first % 4));
  return packed_trits(x);
}

/// Computes poly_S3_tobytes of trits in shared memory, by kLanes lanes.
template <class Set, int kLanes = 32>
__device__ __forceinline__ void store_trits(uint8_t* to, const uint8_t* t, unsigned lane) {
  store_record<kLanes>(to, Shape<Set>::kTritsBytes, lane, [t](int at) { return pack_trits_word<Set>(t, at); });
}

/// Writes the trits of a packed polynomial to t: kRow values 0, 1, 2, 2-byte aligned. The inverse of store_trits(). One
/// byte after the packed form may be read.
template <class Set>
__device__ __forceinline__ void unpack_trits(uint8_t* t, const uint8_t* packed, unsigned lane) {
  using S = Shape<Set>;
  constexpr int kPairs = (S::kTritsBytes + 1) / 2, kRounds = (kPairs + 31) / 32;
  static_assert(S::kN % 2 == 1);
  auto* out = reinterpret_cast<uint16_t*>(t);
#pragma unroll
  for (int i = 0; i < kRounds; ++i) {
    const int k = static_cast<int>(lane) + 32 * i;
    if ((i + 1) * 32 > kPairs && k >= kPairs) continue;
    // Two bytes side by side, and their quotients by 3, 9, 27, 81 and 243.
    const uint32_t q0 = packed[2 * k] | static_cast<uint32_t>(packed[2 * k + 1]) << 16;
    const uint32_t q1 = (q0 * 171) >> 9 & 0x007f007f, q2 = (q0 * 57) >> 9 & 0x001f001f;
    const uint32_t q3 = (q0 * 19) >> 9 & 0x000f000f, q4 = (q0 * 203) >> 14 & 0x00030003;
    const uint32_t q5 = q4 & (q4 >> 1) & 0x00010001;
    const uint32_t trits01 = q0 + 253 * q1 - 768 * q2;  // (q0 - 3 q1) + 256 (q1 - 3 q2)
    const uint32_t trits23 = q2 + 253 * q3 - 768 * q4, trit4 = q4 - 3 * q5;
    const uint32_t pairs[5] = {trits01, trits23, __byte_perm(trit4, trits01, 0x4460),
                               __byte_perm(trits01, trits23, 0x4463), __byte_perm(trits23, trit4, 0x4463)};
#pragma unroll
    for (int j = 0; j < 5; ++j) {
      if (32 * (i + 1) * 10 <= S::kN - 1 || 10 * k + 2 * j < S::kN - 1)
        out[5 * k + j] = static_cast<uint16_t>(pairs[j]);
    }
  }
  static_assert(S::kRow - (S::kN - 1) <= 32);
  if (static_cast<int>(lane) < S::kRow - (S::kN - 1)) t[S::kN - 1 + lane] = 0;
  __syncwarp();
}

/// Maps {0, 1, 2, -1} to {0, 1, 2, 2} in four bytes at once.
__device__ __forceinline__ uint32_t trit_bytes(uint32_t x) {
  return (x & 0x03030303) ^ ((x >> 7) & 0x01010101);
}

/// Writes a row of trits 0, 1, 2 in shared memory as a row of bytes 0, 1, -1, by kLanes lanes.
template <class Set, int kLanes = 32>
__device__ __forceinline__ void store_centred(uint8_t* row, const uint8_t* t, unsigned lane) {
  for_each_word<Shape<Set>::kRow / 4, kLanes>(lane, [&](int, int w) {
    reinterpret_cast<uint32_t*>(row)[w] = centred_bytes(reinterpret_cast<const uint32_t*>(t)[w]);
  });
}

/// Writes G / 3 as a row of bytes, by kLanes lanes: g for HPS, (x - 1) g for HRSS. t: the trits of g in shared memory.
template <class Set, int kLanes = 32>
__device__ __forceinline__ void store_lifted(uint8_t* row, const uint8_t* t, unsigned lane) {
  if constexpr (Shape<Set>::kHps) {
    store_centred<Set, kLanes>(row, t, lane);
  } else {
    for_each_word<Shape<Set>::kRow / 4, kLanes>(lane, [&](int, int w) {
      const uint32_t g = centred_bytes(reinterpret_cast<const uint32_t*>(t)[w]);
      const uint32_t previous = w == 0 ? 0 : centred_bytes(t[4 * w - 1]);  // coefficient n - 1 is 0
      reinterpret_cast<uint32_t*>(row)[w] = __vsub4(__byte_perm(g, previous, 0x2104), g);
    });
  }
}

}  // namespace polykem::ntru::cuda
