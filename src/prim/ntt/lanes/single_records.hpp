// SPDX-License-Identifier: Apache-2.0
// Packs and unpacks one polynomial, with V16::kLanes neighbouring coefficients in a register. No address depends on
// data.
#pragma once

#include <cstring>

#include "prim/ntt/lanes/products.hpp"
#ifdef POLYKEM_ISA_NEON
#include "prim/ntt/neon/single_records.hpp"
#endif

namespace polykem::ntt {
inline namespace POLYKEM_ISA {

#ifndef POLYKEM_ISA_NEON

/// The bytes that a shuffle takes, or how far shifts move.
template <size_t kCount, class T>
struct alignas(64) ShuffleTable {
  T at[kCount] = {};
};

#ifdef POLYKEM_ISA_AVX512

/// The eight bytes from the first one of each group of four coefficients on.
template <unsigned kBits>
inline constexpr auto kGroupBytes = [] {
  ShuffleTable<64, uint8_t> table;
  for (unsigned i = 0; i < 64; ++i)
    table.at[i] = static_cast<uint8_t>(i / 8 * 4 * kBits / 8 + i % 8);
  return table;
}();

/// The bits at which the lower and the upper byte of each coefficient begin in the eight bytes of its group.
template <unsigned kBits>
inline constexpr auto kGroupShifts = [] {
  ShuffleTable<64, uint8_t> table;
  for (unsigned i = 0; i < 64; ++i)
    table.at[i] = static_cast<uint8_t>(i / 8 * 4 * kBits % 8 + i % 8 / 2 * kBits + i % 2 * 8);
  return table;
}();

/// The mask of the bytes that the packed coefficients of one register take.
template <unsigned kBits>
inline constexpr __mmask64 kRegisterBytes = (__mmask64{1} << (4 * kBits)) - 1;

/// Returns words whose lowest kBits bits are coefficients i to i + V16::kLanes - 1 of a row of kPackedBytes<kBits>
/// bytes; i is a multiple of V16::kLanes. The other bits are arbitrary.
template <unsigned kBits>
POLYKEM_INLINE V16 unpack_fields(const uint8_t* row, size_t i) {
  const __m512i shifts = _mm512_load_si512(kGroupShifts<kBits>.at);
  if constexpr (kBits == 4) {  // broadcasts take no unit that computes; a mask would
    const __m128i* const at = reinterpret_cast<const __m128i*>(row + i / 2);
    const __m512i bytes = _mm512_broadcast_i32x4(_mm_loadu_si128(at));
    return {_mm512_multishift_epi64_epi8(shifts, _mm512_shuffle_epi8(bytes, _mm512_load_si512(kGroupBytes<4>.at)))};
  }
  const __m512i bytes = _mm512_maskz_loadu_epi8(kRegisterBytes<kBits>, row + i / 8 * kBits);
  const __m512i groups = _mm512_permutexvar_epi8(_mm512_load_si512(kGroupBytes<kBits>.at), bytes);
  return {_mm512_multishift_epi64_epi8(shifts, groups)};
}
/// Returns the coefficients of unpack_fields() alone.
template <unsigned kBits>
POLYKEM_INLINE V16 unpack_single(const uint8_t* row, size_t i) {
  return unpack_fields<kBits>(row, i) & V16::set1((1u << kBits) - 1);
}

/// The number of packed coefficients that fill whole bytes.
template <unsigned kBits>
inline constexpr unsigned kTogether = kBits % 4 == 0   ? 2
                                      : kBits % 2 == 0 ? 4
                                                       : 8;

/// The places that the bytes of a row come from: coefficients in twos are 32 bits apart, others are in fours and 64
/// bits apart. For odd kBits a group of four ends mid-byte; every second group is shifted by 4 bits.
template <unsigned kBits>
inline constexpr auto kUsedBytes = [] {
  ShuffleTable<64, uint8_t> table;
  constexpr unsigned kUsed = kTogether<kBits> * kBits / 8;
  for (unsigned i = 0; i < 4 * kBits; ++i) {
    const unsigned at = i % kUsed, of_second = kTogether<kBits> == 8 && at > kUsed / 2 ? 8 - kUsed / 2 : 0;
    table.at[i] = static_cast<uint8_t>(i / kUsed * kTogether<kBits> * 2 + at + of_second);
  }
  return table;
}();

/// The mask of the bytes in the middle of eight coefficients, and the places that their upper halves come from.
template <unsigned kBits>
inline constexpr auto kMiddleBytes = [] {
  struct {
    ShuffleTable<64, uint8_t> from;
    uint64_t mask = 0;
  } result;
  for (unsigned i = kBits / 2; i < 4 * kBits; i += kBits) {
    result.from.at[i] = static_cast<uint8_t>(i / kBits * 16 + 8);
    result.mask |= uint64_t{1} << i;
  }
  return result;
}();

/// The bits at which the bytes of each four begin; if kTogether is 8, the second four is half a byte late.
template <unsigned kBits>
inline constexpr auto kPackShifts = [] {
  ShuffleTable<64, uint8_t> table;
  for (unsigned i = 0; i < 64; ++i) {
    const unsigned late = kTogether<kBits> == 8 && i / 8 % 2 == 1 ? 4 : 0;
    table.at[i] = static_cast<uint8_t>((32 - 2 * kBits - late + 8 * (i % 8)) % 64);
  }
  return table;
}();

/// Returns coefficients below 2^kBits, packed as in a row, in the bytes of kRegisterBytes; the others are arbitrary.
template <unsigned kBits>
POLYKEM_INLINE __m512i packed_single(V16 x) {
  const __m512i used = _mm512_load_si512(kUsedBytes<kBits>.at);
  const __m512i pairs = _mm512_madd_epi16(x.r, _mm512_set1_epi32(1 | 1 << (kBits + 16)));
  if constexpr (kTogether<kBits> == 2) return _mm512_permutexvar_epi8(used, pairs);
  const __m512i fours = _mm512_sllv_epi32(pairs, _mm512_set1_epi64(32 - 2 * kBits));
  const __m512i bytes = _mm512_multishift_epi64_epi8(_mm512_load_si512(kPackShifts<kBits>.at), fours);
  const __m512i joined = _mm512_permutexvar_epi8(used, bytes);
  if constexpr (kTogether<kBits> == 4) return joined;
  const auto& middle = kMiddleBytes<kBits>;
  return _mm512_or_si512(joined, _mm512_maskz_permutexvar_epi8(middle.mask, _mm512_load_si512(middle.from.at), bytes));
}

/// Stores coefficients i to i + V16::kLanes - 1, below 2^kBits, in a row of kPackedBytes<kBits> bytes.
template <unsigned kBits>
POLYKEM_INLINE void pack_single(uint8_t* row, size_t i, V16 x) {
  _mm512_mask_storeu_epi8(row + i / 8 * kBits, kRegisterBytes<kBits>, packed_single<kBits>(x));
}

/// Returns ones where the bytes at `row` differ from those that pack_single() would store.
template <unsigned kBits>
POLYKEM_INLINE V16 differs_from_packed(const uint8_t* row, size_t i, V16 x) {
  const __m512i there = _mm512_maskz_loadu_epi8(kRegisterBytes<kBits>, row + i / 8 * kBits);
  return {_mm512_maskz_mov_epi8(kRegisterBytes<kBits>, _mm512_xor_si512(packed_single<kBits>(x), there))};
}

/// Returns coefficients i to i + V16::kLanes - 1: 1665 where the message has a 1, else 0. `message` has 32 bytes.
/// [FIPS203, Alg 14, L20]
POLYKEM_INLINE V16 message_single(const uint8_t* message, size_t i) {
  uint32_t bits;
  std::memcpy(&bits, message + i / 8, sizeof bits);
  return {_mm512_maskz_set1_epi16(bits, (kQ + 1) / 2)};
}

/// Stores the lowest bits of coefficients i to i + V16::kLanes - 1.
POLYKEM_INLINE void store_bits_single(uint8_t* message, size_t i, V16 x) {
  const uint32_t bits = _mm512_test_epi16_mask(x.r, _mm512_set1_epi16(1));
  std::memcpy(message + i / 8, &bits, sizeof bits);
}

#else

/// The shuffle of a register with the same 16 bytes in both halves: for each of eight coefficients, the four bytes that
/// hold it.
template <unsigned kBits>
inline constexpr auto kCoefficientBytes = [] {
  ShuffleTable<32, uint8_t> table;
  for (unsigned i = 0; i < 32; ++i)
    table.at[i] = static_cast<uint8_t>(i / 4 * kBits / 8 + i % 4);
  return table;
}();
template <unsigned kBits>
inline constexpr auto kCoefficientShifts = [] {
  ShuffleTable<8, uint32_t> table;
  for (unsigned i = 0; i < 8; ++i)
    table.at[i] = i * kBits % 8;
  return table;
}();

template <size_t kCount, class T>
POLYKEM_INLINE __m256i load_table(const ShuffleTable<kCount, T>& table) {
  return _mm256_load_si256(reinterpret_cast<const __m256i*>(table.at));
}

/// Returns coefficients i to i + 7 in 32-bit lanes.
template <unsigned kBits>
POLYKEM_INLINE __m256i unpack_eight(const uint8_t* row, size_t i) {
  const uint8_t* at = row + i / 8 * kBits;
  __m128i bytes;
  if (sixteen_bytes_inside<kBits>(i)) {
    bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
  } else {
    alignas(16) uint8_t last[16] = {};
    std::memcpy(last, at, kBits);
    bytes = _mm_load_si128(reinterpret_cast<const __m128i*>(last));
  }
  const __m256i four = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(bytes), load_table(kCoefficientBytes<kBits>));
  return _mm256_and_si256(_mm256_srlv_epi32(four, load_table(kCoefficientShifts<kBits>)),
                          _mm256_set1_epi32((1 << kBits) - 1));
}

/// Returns coefficients i to i + V16::kLanes - 1 of a row of kPackedBytes<kBits> bytes; i is a multiple of V16::kLanes.
template <unsigned kBits>
POLYKEM_INLINE V16 unpack_single(const uint8_t* row, size_t i) {
  const __m256i words = _mm256_packus_epi32(unpack_eight<kBits>(row, i), unpack_eight<kBits>(row, i + 8));
  return {_mm256_permute4x64_epi64(words, 0xd8)};
}

/// The shuffle of each 128 bits, which hold eight packed coefficients, that gathers the bytes that are used.
template <unsigned kBits>
inline constexpr auto kUsedBytes = [] {
  ShuffleTable<32, uint8_t> table;
  for (unsigned i = 0; i < 32; ++i) {
    const unsigned at = i % 16;
    table.at[i] = static_cast<uint8_t>(at >= kBits ? 0x80 : kBits % 2 == 1 || at < kBits / 2 ? at : at - kBits / 2 + 8);
  }
  return table;
}();

template <unsigned kBits>
POLYKEM_INLINE void store_eight(uint8_t* row, size_t i, __m128i bytes) {
  uint8_t* at = row + i / 8 * kBits;
  if (sixteen_bytes_inside<kBits>(i)) return _mm_storeu_si128(reinterpret_cast<__m128i*>(at), bytes);
  alignas(16) uint8_t last[16];
  _mm_store_si128(reinterpret_cast<__m128i*>(last), bytes);
  std::memcpy(at, last, kBits);
}

/// Stores coefficients i to i + V16::kLanes - 1, below 2^kBits, in a row of kPackedBytes<kBits> bytes. Call it for
/// ascending i: it overwrites bytes of later ones.
template <unsigned kBits>
POLYKEM_INLINE void pack_single(uint8_t* row, size_t i, V16 x) {
  const __m256i pairs = _mm256_madd_epi16(x.r, _mm256_set1_epi32(1 | 1 << (kBits + 16)));
  const __m256i to_top = _mm256_set1_epi64x(32 - 2 * kBits);
  __m256i fours = _mm256_srli_epi64(_mm256_sllv_epi32(pairs, to_top), 32 - 2 * kBits);
  if constexpr (kBits % 2 == 1) {
    const __m256i upper = _mm256_slli_epi64(_mm256_bsrli_epi128(fours, 8), 4 * kBits);
    const __m256i rest = _mm256_srlv_epi64(fours, _mm256_setr_epi64x(0, 64 - 4 * kBits, 0, 64 - 4 * kBits));
    fours = _mm256_or_si256(upper, rest);
  }
  const __m256i bytes = _mm256_shuffle_epi8(fours, load_table(kUsedBytes<kBits>));
  store_eight<kBits>(row, i, _mm256_castsi256_si128(bytes));
  store_eight<kBits>(row, i + 8, _mm256_extracti128_si256(bytes, 1));
}

/// Returns coefficients i to i + V16::kLanes - 1: 1665 where the message has a 1, else 0. `message` has 32 bytes.
/// [FIPS203, Alg 14, L20]
POLYKEM_INLINE V16 message_single(const uint8_t* message, size_t i) {
  uint16_t bits;
  std::memcpy(&bits, message + i / 8, sizeof bits);
  const __m256i bit = _mm256_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384,
                                        static_cast<short>(0x8000));
  const __m256i chosen = _mm256_and_si256(_mm256_set1_epi16(static_cast<short>(bits)), bit);
  return V16{_mm256_cmpeq_epi16(chosen, bit)} & V16::set1((kQ + 1) / 2);
}

/// Stores the lowest bits of coefficients i to i + V16::kLanes - 1.
POLYKEM_INLINE void store_bits_single(uint8_t* message, size_t i, V16 x) {
  const __m256i bytes = _mm256_packs_epi16(x.template shl<15>().r, _mm256_setzero_si256());
  const auto bits = static_cast<uint32_t>(_mm256_movemask_epi8(bytes));
  const auto both = static_cast<uint16_t>((bits & 0xff) | (bits >> 8 & 0xff00));
  std::memcpy(message + i / 8, &both, sizeof both);
}

#endif
#endif

/// Returns differences of neighbouring sums of kEta bits of a row of 64 kEta bytes, canonical. [FIPS203, Alg 8]
template <unsigned kEta>
POLYKEM_INLINE V16 cbd_single(const uint8_t* row, size_t i) {
  const V16 bits = unpack_single<2 * kEta>(row, i);
  const V16 every = V16::set1(kEta == 2 ? 0x5 : 0x9), field = V16::set1((1u << kEta) - 1);
  V16 sums = (bits & every) + (bits.template shr<1>() & every);
  if constexpr (kEta == 3) sums = sums + (bits.template shr<2>() & every);
  return to_unsigned((sums & field) - sums.template shr<kEta>());
}

/// Returns round(q y / 2^kBits). [FIPS203, 4.2.1, Decompress]
template <unsigned kBits>
POLYKEM_INLINE V16 decompress(V16 y) {
  return mulhrs(y.template shl<15 - kBits>(), V16::set1(kQ));
}

/// Returns x mod q for x below 2 q.
POLYKEM_INLINE V16 reduced_once(V16 x) {
  return min_u(x, x - V16::set1(kQ));
}

/// Calls f(i, x) for each register x, which has a polynomial's coefficients from i on, and stores what it returns.
template <class F>
POLYKEM_INLINE void map_single(uint16_t* a, F&& f) {
  for (size_t i = 0; i < kN; i += V16::kLanes)
    f(i, V16::load(a + i)).store(a + i);
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::ntt
