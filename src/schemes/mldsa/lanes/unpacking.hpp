// SPDX-License-Identifier: Apache-2.0
// Unpacks coefficients from bytes, as many at a time as a register has lanes.
#pragma once

#include <array>
#include <bit>
#include <cstring>

#include "core/round.hpp"
#include "ct/ct.hpp"
#include "prim/simd/vec32.hpp"

namespace polykem::mldsa::lanes {
inline namespace POLYKEM_ISA {

using simd::V32;
using Reg = V32::Reg;

#ifdef POLYKEM_ISA_AVX512

inline constexpr size_t kGroup = 16;

/// Returns the indices with which lane i gets bytes first(i) to first(i) + 3 of 64.
template <class First>
consteval auto byte_indices(First first) {
  std::array<uint8_t, 64> indices{};
  for (size_t i = 0; i < indices.size(); ++i)
    indices[i] = static_cast<uint8_t>(first(i / 4) + i % 4);
  return indices;
}

POLYKEM_INLINE Reg load_bytes(const uint8_t* in, size_t bytes) {
  return _mm512_maskz_loadu_epi8((uint64_t{1} << bytes) - 1, in);
}
POLYKEM_INLINE Reg bytes_of(Reg from, const std::array<uint8_t, 64>& indices) {
  return _mm512_permutexvar_epi8(_mm512_loadu_si512(indices.data()), from);
}

template <unsigned kBits>
inline constexpr size_t kBytesRead = 2 * kBits;

/// Returns sixteen coefficients of kBits <= 25 bits from 2 kBits bytes.
template <unsigned kBits>
POLYKEM_INLINE Reg unpacked(const uint8_t* in) {
  static constexpr auto kIndices = byte_indices([](size_t lane) { return lane * kBits / 8; });
  alignas(64) static constexpr auto kShifts = [] {
    std::array<int32_t, 16> shifts{};
    for (size_t i = 0; i < 16; ++i)
      shifts[i] = static_cast<int32_t>(i * kBits % 8);
    return shifts;
  }();
  const Reg words = bytes_of(load_bytes(in, 2 * kBits), kIndices);
  return _mm512_and_si512(_mm512_srlv_epi32(words, V32::load(kShifts.data()).r), V32::set1((1 << kBits) - 1).r);
}

/// Writes the 23-bit integers of 48 bytes that are below q to `out`, which has space for 16, and returns their number.
POLYKEM_INLINE size_t take_uniform_group(int32_t* out, const uint8_t* in) {
  static constexpr auto kIndices = byte_indices([](size_t lane) { return 3 * lane; });
  const Reg x = _mm512_and_si512(bytes_of(load_bytes(in, 48), kIndices), V32::set1(0x7fffff).r);
  const __mmask16 taken = _mm512_cmplt_epi32_mask(x, V32::set1(kQ).r);
  _mm512_storeu_si512(out, _mm512_maskz_compress_epi32(taken, x));
  return static_cast<size_t>(std::popcount(static_cast<uint32_t>(taken)));
}

#else

inline constexpr size_t kGroup = 8;

/// Returns the indices with which each half of a register gets four words from 16 bytes of its own: lane i gets bytes
/// first(i) to first(i) + 3.
template <class First>
consteval auto byte_indices(First first) {
  std::array<uint8_t, 32> indices{};
  for (size_t i = 0; i < indices.size(); ++i)
    indices[i] = static_cast<uint8_t>(first(i / 4) + i % 4);
  return indices;
}

POLYKEM_INLINE Reg bytes_of(const uint8_t* low, const uint8_t* high, const std::array<uint8_t, 32>& indices) {
  const Reg both = _mm256_loadu2_m128i(reinterpret_cast<const __m128i*>(high), reinterpret_cast<const __m128i*>(low));
  return _mm256_shuffle_epi8(both, _mm256_loadu_si256(reinterpret_cast<const Reg*>(indices.data())));
}

template <unsigned kBits>
inline constexpr size_t kBytesRead = kBits / 2 + 16;

/// Returns eight coefficients of kBits <= 25 bits from kBits bytes. Reads kBytesRead bytes.
template <unsigned kBits>
POLYKEM_INLINE Reg unpacked(const uint8_t* in) {
  constexpr size_t kHigh = 4 * kBits / 8;
  static constexpr auto kIndices = byte_indices([](size_t lane) { return lane * kBits / 8 - (lane < 4 ? 0 : kHigh); });
  alignas(32) static constexpr auto kShifts = [] {
    std::array<int32_t, 8> shifts{};
    for (size_t i = 0; i < 8; ++i)
      shifts[i] = static_cast<int32_t>(i * kBits % 8);
    return shifts;
  }();
  const Reg words = bytes_of(in, in + kHigh, kIndices);
  return _mm256_and_si256(_mm256_srlv_epi32(words, V32::load(kShifts.data()).r), V32::set1((1 << kBits) - 1).r);
}

/// Writes the 23-bit integers of 24 bytes that are below q to `out`, which has space for 8, and returns their number.
/// Reads 28 bytes.
POLYKEM_INLINE size_t take_uniform_group(int32_t* out, const uint8_t* in) {
  static constexpr auto kIndices = byte_indices([](size_t lane) { return 3 * (lane % 4); });
  const Reg x = _mm256_and_si256(bytes_of(in, in + 12, kIndices), V32::set1(0x7fffff).r);
  const auto taken =
      static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(V32::set1(kQ).r, x))));
  if (taken == 0xff) {  // almost always
    _mm256_storeu_si256(reinterpret_cast<Reg*>(out), x);
    return kGroup;
  }
  alignas(32) int32_t candidates[kGroup];
  V32{x}.store(candidates);
  size_t filled = 0;
  for (const int32_t c : candidates) {
    out[filled] = c;
    filled += c < kQ;
  }
  return filled;
}

#endif

/// Splits four bytes into eight 4-bit integers, appends those below kLimit to `out` (space for eight) and returns how
/// many. It is public which ones are below kLimit.
template <unsigned kLimit>
POLYKEM_INLINE size_t take_small_group(uint8_t* out, const uint8_t* in) {
  constexpr uint64_t kEach = 0x0101010101010101;
  uint32_t bytes;
  std::memcpy(&bytes, in, sizeof bytes);
  const uint64_t halves = _pdep_u64(bytes, 0x0f * kEach);
  uint64_t rejected = (halves + (0x80 - kLimit) * kEach) & 0x80 * kEach;
  ct::declassify(&rejected, sizeof rejected);
  const uint64_t taken = _pext_u64(halves, ~((rejected >> 7) * 0xff));
  std::memcpy(out, &taken, sizeof taken);
  return 8 - static_cast<size_t>(std::popcount(rejected));
}

/// Unpacks 256 coefficients of kBits bits. [FIPS204, Alg 18]
template <unsigned kBits>
void unpack(int32_t* out, const uint8_t* in) {
  constexpr size_t kBytes = kGroup * kBits / 8, kGroups = kN / kGroup;
  constexpr size_t kCopied = divided_up(kBytesRead<kBits>, kBytes);  // groups that could read beyond the end
  uint8_t end[kCopied * kBytes + kBytesRead<kBits>] = {};
  std::memcpy(end, in + (kGroups - kCopied) * kBytes, kCopied * kBytes);
  for (size_t i = 0; i < kGroups - kCopied; ++i)
    V32{unpacked<kBits>(in + i * kBytes)}.store(out + i * kGroup);
  for (size_t i = 0; i < kCopied; ++i)
    V32{unpacked<kBits>(end + i * kBytes)}.store(out + (kGroups - kCopied + i) * kGroup);
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::mldsa::lanes
