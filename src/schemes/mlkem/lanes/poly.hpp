// SPDX-License-Identifier: Apache-2.0
// Polynomials of a block of items, one item per 16-bit lane, and their conversion to and from records.
#pragma once

#include "prim/records/records_lanes.hpp"
#include "schemes/mlkem/types.hpp"

namespace polykem::mlkem::lanes {
inline namespace POLYKEM_ISA {

using simd::V16;
inline constexpr size_t kLanes = V16::kLanes;

/// A polynomial of every item; the ranges of its words are those of NttLanes.
struct alignas(64) LanePoly {
  uint16_t c[kN][kLanes];

  POLYKEM_INLINE V16 get(size_t i) const { return V16::load(c[i]); }
  POLYKEM_INLINE void set(size_t i, V16 value) { value.store(c[i]); }
  uint16_t* data() { return c[0]; }
  const uint16_t* data() const { return c[0]; }
};

/// Memory for a polynomial of every item as words of records.
struct alignas(64) Scratch {
  uint16_t words[kN * kLanes];
};

/// kBits bits per coefficient, as in records.
template <unsigned kBits>
POLYKEM_NOINLINE void unpack(LanePoly& a, ConstByteRows in, size_t count, Scratch& scratch) {
  records::unpack_block<kBits, kN>(a.data(), in, count, scratch.words);
}

template <unsigned kBits>
POLYKEM_NOINLINE void pack(ByteRows out, const LanePoly& a, size_t count, Scratch& scratch) {
  records::pack_block<kBits, kN>(out, a.data(), count, scratch.words);
}

/// Coefficients as 16-bit words, a row of kN at rows(l).
template <class Rows>
POLYKEM_INLINE void gather(LanePoly& a, size_t count, Rows&& rows) {
  records::RowPointers pointers;
  for (size_t l = 0; l < kLanes; ++l)
    pointers.row[l] = reinterpret_cast<uint8_t*>(const_cast<uint16_t*>(rows(l < count ? l : count - 1)));
  records::rows_to_block(a.data(), pointers, sizeof(uint16_t) * kN);
}

/// Lanes with their highest bit set where a coefficient below 2^12 is not below q.
inline V16 too_large(const LanePoly& a) {
  const V16 largest = V16::set1(kQ - 1);
  V16 found = V16::zero();
  for (size_t i = 0; i < kN; ++i)
    found = found | (largest - a.get(i));
  return found;
}

/// Differences of neighbouring sums of kEta bits: words of 64 kEta bytes to coefficients in [-kEta, kEta]. [FIPS203,
/// Alg 8]
template <unsigned kEta>
POLYKEM_NOINLINE void sample_cbd(LanePoly& a, const uint16_t* words) {
  const V16 three = V16::set1(3), seven = V16::set1(7);
  if constexpr (kEta == 2) {
    const V16 every_other = V16::set1(0x5555);
    for (size_t i = 0; i < kN / 4; ++i) {
      const V16 bits = V16::load(words + i * kLanes);
      const V16 sums = (bits & every_other) + (bits.shr<1>() & every_other);
      a.set(4 * i, (sums & three) - (sums.shr<2>() & three));
      a.set(4 * i + 1, (sums.shr<4>() & three) - (sums.shr<6>() & three));
      a.set(4 * i + 2, (sums.shr<8>() & three) - (sums.shr<10>() & three));
      a.set(4 * i + 3, (sums.shr<12>() & three) - sums.shr<14>());
    }
  } else {
    const V16 every_third = V16::set1(0x9);
    for (size_t i = 0; i < kN; i += records::kGroup) {
      const uint16_t* group = words + i / records::kGroup * (2 * kEta) * kLanes;
      records::unpack_group<2 * kEta>(a.c[i], group, std::make_index_sequence<records::kGroup>());
    }
    for (size_t i = 0; i < kN; ++i) {
      const V16 bits = a.get(i);
      const V16 sums = (bits & every_third) + (bits.shr<1>() & every_third) + (bits.shr<2>() & every_third);
      a.set(i, (sums & seven) - sums.shr<3>());
    }
  }
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem::lanes
