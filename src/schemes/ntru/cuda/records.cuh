// SPDX-License-Identifier: Apache-2.0
// Packed records of any alignment, read and written by one warp as aligned 32-bit words. [NTRU20, pack_S3, pack_Rq0,
// pack_Sq]
#pragma once

#include <cstdint>

#include "schemes/ntru/cuda/sets.hpp"

namespace polykem::ntru::cuda {

__device__ __forceinline__ unsigned warp_lane() {
  return threadIdx.x % 32;
}

__device__ __forceinline__ uint32_t warp_sum(uint32_t x) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2)
    x += __shfl_xor_sync(0xffffffff, x, distance);
  return x;
}

/// x mod 3 for x < 2^16. (check-magic: 43691 == ceil(2^17 / 3))
__device__ __forceinline__ uint32_t mod3(uint32_t x) {
  return x - 3 * ((x * 43691u) >> 17);
}

/// {0, 1, 2} -> {0, 1, -1}.
__device__ __forceinline__ int centred(uint32_t trit) {
  return static_cast<int>(trit) - 3 * static_cast<int>(trit >> 1);
}

/// Four bytes mod 3 at once.
__device__ __forceinline__ uint32_t mod3_bytes(uint32_t x) {
  x = (x & 0x0f0f0f0f) + ((x >> 4) & 0x0f0f0f0f);  // 16 = 1 mod 3; now <= 30
  x = (x & 0x03030303) + ((x >> 2) & 0x07070707);  // 4 = 1 mod 3; now <= 10
  x = (x & 0x03030303) + ((x >> 2) & 0x03030303);  // now <= 5
  x = (x & 0x03030303) + ((x >> 2) & 0x01010101);  // now <= 3
  return x ^ ((x & (x >> 1) & 0x01010101) * 3);    // 3 -> 0
}

/// {0, 1, 2} -> {0, 1, -1} in four bytes at once.
__device__ __forceinline__ uint32_t centred_bytes(uint32_t x) {
  return (x & 0x01010101) | (((x >> 1) & 0x01010101) * 0xff);
}

/// Copies the aligned words that the record [from, from + bytes) touches to `words`; the record then begins at byte
/// `result` of them, 0..3. Bytes outside the record are zero. words: bytes / 4 + 3 words of shared memory of this warp.
__device__ __forceinline__ uint32_t load_record(uint32_t* words, const uint8_t* from, int bytes, unsigned lane) {
  const auto skip = static_cast<int>(reinterpret_cast<uintptr_t>(from) & 3);
  const uint8_t* base = from - skip;
  const int count = (skip + bytes + 3) / 4;
  for (int w = static_cast<int>(lane); w < count + 1; w += 32) {
    uint32_t value = 0;
    if (4 * w >= skip && 4 * w + 4 <= skip + bytes) {
      value = *reinterpret_cast<const uint32_t*>(base + 4 * w);
    } else {
#pragma unroll
      for (int b = 0; b < 4; ++b) {
        const int at = 4 * w + b;
        if (at >= skip && at < skip + bytes) value |= static_cast<uint32_t>(base[at]) << (8 * b);
      }
    }
    words[w] = value;
  }
  __syncwarp();
  return static_cast<uint32_t>(skip);
}

/// Bytes 4 w .. 4 w + 3 of a record of any alignment and of `bytes` bytes; what lies past its end has no meaning. Reads
/// only words that the record touches.
__device__ __forceinline__ uint32_t record_word(const uint8_t* record, int w, int bytes) {
  const auto skip = static_cast<int>(reinterpret_cast<uintptr_t>(record) & 3);
  const auto* words = reinterpret_cast<const uint32_t*>(record - skip);
  const int last = (skip + bytes - 1) / 4;
  return __funnelshift_r(words[w], words[w < last ? w + 1 : last], 8 * skip);
}

/// Writes the record [to, to + bytes) as aligned words. word_at(offset): the bytes offset .. offset + 3 of the record,
/// -3 <= offset < bytes; what lies outside the record is not stored.
template <class WordAt>
__device__ __forceinline__ void store_record(uint8_t* to, int bytes, unsigned lane, WordAt word_at) {
  const auto skip = static_cast<int>(reinterpret_cast<uintptr_t>(to) & 3);
  uint8_t* base = to - skip;
  for (int w = static_cast<int>(lane); 4 * w < skip + bytes; w += 32) {
    const int offset = 4 * w - skip;
    const uint32_t value = word_at(offset);
    if (offset >= 0 && offset + 4 <= bytes) {
      *reinterpret_cast<uint32_t*>(base + 4 * w) = value;
    } else {
#pragma unroll
      for (int b = 0; b < 4; ++b) {
        if (offset + b >= 0 && offset + b < bytes) base[4 * w + b] = static_cast<uint8_t>(value >> (8 * b));
      }
    }
  }
}

/// Coefficient i of a packed polynomial that begins `skip` bytes into the words.
template <unsigned kLogQ>
__device__ __forceinline__ uint32_t packed_coefficient(const uint32_t* words, uint32_t skip, int i) {
  const uint32_t bit = 8 * skip + static_cast<uint32_t>(i) * kLogQ;
  return __funnelshift_r(words[bit / 32], words[bit / 32 + 1], bit % 32) & ((1u << kLogQ) - 1);
}

/// Four bytes of the packed form of coefficients c (any representatives mod q), from byte `offset` on, which may be -3.
template <class Set>
__device__ __forceinline__ uint32_t pack_rq_word(const uint16_t* c, int offset) {
  using S = Shape<Set>;
  const int first_bit = 8 * offset;
  const int first = first_bit <= 0 ? 0 : first_bit / static_cast<int>(S::kLogQ);
  uint64_t bits = 0;
#pragma unroll
  for (int j = 0; j < static_cast<int>(31 / S::kLogQ) + 2; ++j) {
    const int i = first + j;
    const uint64_t value = i < S::kN - 1 ? c[i] & S::kMask : 0u;
    bits |= value << (j * S::kLogQ);
  }
  const int shift = first_bit - first * static_cast<int>(S::kLogQ);
  return static_cast<uint32_t>(shift >= 0 ? bits >> shift : bits << -shift);
}

/// Four bytes of five trits each, from byte `offset` (-3 <= offset) of the packed forms of t and u side by side on. t,
/// u: values 0, 1, 2 in shared memory, zero from n - 1 on.
template <class Set>
__device__ __forceinline__ uint32_t pack_trits_word(const uint8_t* t, const uint8_t* u, int offset) {
  constexpr int kBytes = Shape<Set>::kTritsBytes;
  uint32_t word = 0;
#pragma unroll
  for (int b = 0; b < 4; ++b) {
    const int k = offset + b;
    if (k < 0 || k >= 2 * kBytes) continue;
    const uint8_t* five = k < kBytes ? t + 5 * k : u + 5 * (k - kBytes);
    word |= (five[0] + 3u * five[1] + 9u * five[2] + 27u * five[3] + 81u * five[4]) << (8 * b);
  }
  return word;
}

/// The other way round: trits of a packed polynomial that begins `skip` bytes into the words, to t (kRow values 0, 1,
/// 2).
template <class Set>
__device__ __forceinline__ void unpack_trits(uint8_t* t, const uint32_t* words, uint32_t skip, unsigned lane) {
  using S = Shape<Set>;
  const auto* bytes = reinterpret_cast<const uint8_t*>(words) + skip;
  for (int k = static_cast<int>(lane); k < S::kTritsBytes; k += 32) {
    uint32_t rest = bytes[k];
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

/// Two neighbouring coefficients in one word of a row.
__device__ __forceinline__ uint32_t pair(uint32_t low, uint32_t high) {
  return (low & 0xffff) | (high << 16);
}

/// {0, 1, 2} in both halves -> {0, 1, 0xffff}.
__device__ __forceinline__ uint32_t centred_pair(uint32_t x) {
  return (x & 0x00010001) | (((x >> 1) & 0x00010001) * 0xffff);
}

/// Row of trits 0, 1, 2 in shared memory -> row of coefficients in global memory; kCentred: as elements of Rq.
template <class Set, bool kCentred>
__device__ __forceinline__ void store_trit_row(uint16_t* row, const uint8_t* t, unsigned lane) {
  auto* out = reinterpret_cast<uint32_t*>(row);
  const auto* in = reinterpret_cast<const uint16_t*>(t);
  for (int w = static_cast<int>(lane); w < Shape<Set>::kRow / 2; w += 32) {
    const uint32_t both = in[w];
    const uint32_t spread = (both & 0xff) | ((both & 0xff00) << 8);
    out[w] = kCentred ? centred_pair(spread) : spread;
  }
}

/// The other way round, from either form.
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
