// SPDX-License-Identifier: Apache-2.0
// Packs coefficients into bytes, as many at a time as the lanes of a register hold.
#pragma once

#include <array>
#include <cstring>

#include "prim/simd/vec32.hpp"
#include "schemes/mldsa/params.hpp"

namespace polykem::mldsa::lanes {
inline namespace POLYKEM_ISA {

using simd::V32;
using Reg = V32::Reg;

/// The number of coefficients that are joined in a 64-bit lane. Neighbours are joined to one value in a lane twice as
/// wide, until it has 64 bits.
template <unsigned kBits>
inline constexpr size_t kJoined = kBits <= 8    ? 8
                                  : kBits <= 16 ? 4
                                                : 2;

/// The number of coefficients that are joined in all 64-bit lanes of a register.
template <unsigned kBits>
inline constexpr size_t kPackedAtOnce = V32::kLanes / 2 * kJoined<kBits>;

/// Returns the factors 2^kBits and 1 for the upper and the lower neighbour, in lanes of 8 or 16 bits.
template <unsigned kBits>
constexpr int32_t join_factors(unsigned lane_bits) {
  const uint32_t pair = 1 | 1U << (lane_bits + kBits);
  return static_cast<int32_t>(lane_bits == 8 ? pair | pair << 16 : pair);
}

#ifdef POLYKEM_ISA_AVX512

POLYKEM_INLINE Reg join_words(Reg x, unsigned bits) {
  const Reg low = _mm512_and_si512(x, _mm512_set1_epi64(0xffffffff));
  return _mm512_or_si512(low, _mm512_slli_epi64(_mm512_srli_epi64(x, 32), bits));
}

/// Returns kPackedAtOnce coefficients, of which kJoined are joined in each 64-bit lane.
template <unsigned kBits>
POLYKEM_INLINE Reg joined(const int32_t* c) {
  if constexpr (kBits > 16) {
    return join_words(V32::load(c).r, kBits);
  } else if constexpr (kBits > 8) {
    const __m256i low = _mm512_cvtepi32_epi16(V32::load(c).r), high = _mm512_cvtepi32_epi16(V32::load(c + 16).r);
    const Reg halves = _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
    return join_words(_mm512_madd_epi16(halves, V32::set1(join_factors<kBits>(16)).r), 2 * kBits);
  } else {
    Reg bytes = _mm512_castsi128_si512(_mm512_cvtepi32_epi8(V32::load(c).r));
    bytes = _mm512_inserti32x4(bytes, _mm512_cvtepi32_epi8(V32::load(c + 16).r), 1);
    bytes = _mm512_inserti32x4(bytes, _mm512_cvtepi32_epi8(V32::load(c + 32).r), 2);
    bytes = _mm512_inserti32x4(bytes, _mm512_cvtepi32_epi8(V32::load(c + 48).r), 3);
    const Reg pairs = _mm512_maddubs_epi16(bytes, V32::set1(join_factors<kBits>(8)).r);
    return join_words(_mm512_madd_epi16(pairs, V32::set1(join_factors<2 * kBits>(16)).r), 4 * kBits);
  }
}

/// Says which byte of a register goes to each byte of the output, where 64-bit lane i has kBits bits from bit i kBits
/// on: lanes begin at a whole or at a half byte. `parity` chooses the even or the odd lanes; the mask of the others is
/// 0.
template <unsigned kBits>
struct LaneBytes {
  uint8_t indices[64] = {};
  uint64_t mask = 0;

  constexpr explicit LaneBytes(size_t parity) {
    for (size_t lane = parity; lane < 8; lane += 2) {
      for (size_t byte = lane * kBits / 8; 8 * byte < (lane + 1) * kBits; ++byte) {
        indices[byte] = static_cast<uint8_t>(8 * lane + byte - lane * kBits / 8);
        mask |= uint64_t{1} << byte;
      }
    }
  }
};

/// Packs 256 coefficients in [0, 2^kBits) into 32 kBits bytes. [FIPS204, Alg 16]
template <unsigned kBits>
void pack(uint8_t* out, const int32_t* c) {
  constexpr unsigned kLaneBits = kBits * kJoined<kBits>, kBytes = kLaneBits;
  static_assert(kLaneBits % 4 == 0 && kBytes <= 64);
  static constexpr LaneBytes<kLaneBits> kEven(0), kOdd(1);
  const Reg shifts = _mm512_set1_epi64(0);
  const Reg odd_shifts = _mm512_mask_mov_epi64(shifts, 0xaa, _mm512_set1_epi64(kLaneBits % 8));
  for (size_t i = 0; i < kN; i += kPackedAtOnce<kBits>, out += kBytes) {
    const Reg lanes = _mm512_sllv_epi64(joined<kBits>(c + i), odd_shifts);
    const Reg even = _mm512_maskz_permutexvar_epi8(kEven.mask, _mm512_loadu_si512(kEven.indices), lanes);
    const Reg odds = _mm512_maskz_permutexvar_epi8(kOdd.mask, _mm512_loadu_si512(kOdd.indices), lanes);
    _mm512_mask_storeu_epi8(out, ~uint64_t{0} >> (64 - kBytes), _mm512_or_si512(even, odds));
  }
}

#else

POLYKEM_INLINE Reg join_words(Reg x, unsigned bits) {
  const Reg low = _mm256_and_si256(x, _mm256_set1_epi64x(0xffffffff));
  return _mm256_or_si256(low, _mm256_slli_epi64(_mm256_srli_epi64(x, 32), static_cast<int>(bits)));
}

/// Returns c[0] to c[15] in 16-bit lanes.
POLYKEM_INLINE Reg halves(const int32_t* c) {
  return _mm256_permute4x64_epi64(_mm256_packus_epi32(V32::load(c).r, V32::load(c + 8).r), 0xd8);
}

/// Returns kPackedAtOnce coefficients, of which kJoined are joined in each 64-bit lane.
template <unsigned kBits>
POLYKEM_INLINE Reg joined(const int32_t* c) {
  if constexpr (kBits > 16) {
    return join_words(V32::load(c).r, kBits);
  } else if constexpr (kBits > 8) {
    return join_words(_mm256_madd_epi16(halves(c), V32::set1(join_factors<kBits>(16)).r), 2 * kBits);
  } else {
    const Reg bytes = _mm256_permute4x64_epi64(_mm256_packus_epi16(halves(c), halves(c + 16)), 0xd8);
    const Reg pairs = _mm256_maddubs_epi16(bytes, V32::set1(join_factors<kBits>(8)).r);
    return join_words(_mm256_madd_epi16(pairs, V32::set1(join_factors<2 * kBits>(16)).r), 4 * kBits);
  }
}

/// Packs 256 coefficients in [0, 2^kBits) into 32 kBits bytes. [FIPS204, Alg 16]
template <unsigned kBits>
void pack(uint8_t* out, const int32_t* c) {
  constexpr unsigned kLaneBits = kBits * kJoined<kBits>, kBytes = kLaneBits / 2;
  for (size_t i = 0; i < kN; i += kPackedAtOnce<kBits>, out += kBytes) {
    alignas(32) uint64_t lanes[4];
    _mm256_store_si256(reinterpret_cast<Reg*>(lanes), joined<kBits>(c + i));
    for (size_t pair = 0; pair < 2; ++pair) {
      const uint64_t low = lanes[2 * pair], high = lanes[2 * pair + 1];
      const uint64_t words[2] = {low | high << kLaneBits, high >> (64 - kLaneBits)};
      std::memcpy(out + pair * kLaneBits / 4, words, kLaneBits / 4);
    }
  }
}

#endif

}  // namespace POLYKEM_ISA
}  // namespace polykem::mldsa::lanes
