// SPDX-License-Identifier: Apache-2.0
// Interleaved polynomials, one item per 16-bit lane, and their conversion to and from records.
#pragma once

#include "prim/ntt/lanes/pairs.hpp"
#include "prim/records/records_lanes.hpp"
#include "schemes/mlkem/types.hpp"

namespace polykem::mlkem::interleaved {
inline namespace POLYKEM_ISA {

using simd::V16;
inline constexpr size_t kLanes = V16::kLanes;

/// A polynomial of every item; the ranges of its words are those of NttFunctions.
struct alignas(64) LanePoly {
  uint16_t c[kN][kLanes];

  POLYKEM_INLINE V16 get(size_t i) const { return V16::load(c[i]); }
  POLYKEM_INLINE void set(size_t i, V16 value) { value.store(c[i]); }
  uint16_t* data() { return c[0]; }
  const uint16_t* data() const { return c[0]; }
};

/// Memory for one polynomial of every item, as words of the items' records.
struct alignas(64) Scratch {
  uint16_t words[kN * kLanes];
};

/// Unpacks a polynomial of every item from records, which have kBits bits per coefficient.
template <unsigned kBits>
POLYKEM_NOINLINE void unpack(LanePoly& a, ConstByteRows in, size_t count, Scratch& scratch) {
  records::unpack_interleaved<kBits, kN>(a.data(), in, count, scratch.words);
}

/// Unpacks a polynomial of every item, with 12 bits per coefficient, to the paired form (see NttFunctions).
POLYKEM_NOINLINE inline void unpack_paired(LanePoly& a, ConstByteRows in, size_t count, Scratch& scratch) {
  records::unpack_pairs<12, kN>(
      a.data(), in, count, scratch.words, [](uint16_t * to, V16 even, V16 odd) __attribute__((always_inline)) {
        const ntt::Pairs pairs = ntt::Pairs::of(even, odd);
        pairs.low.store(to);
        pairs.high.store(to + kLanes);
      });
}

/// Packs a polynomial of every item into records, which have kBits bits per coefficient.
template <unsigned kBits>
POLYKEM_NOINLINE void pack(ByteRows out, const LanePoly& a, size_t count, Scratch& scratch) {
  records::pack_interleaved<kBits, kN>(out, a.data(), count, scratch.words);
}

/// Interleaves polynomials of single items in the paired form: the polynomial of item l is kN 16-bit words at rows(l).
template <class Rows>
POLYKEM_INLINE void gather_paired(LanePoly& a, size_t count, Rows&& rows) {
  records::RowPointers pointers;
  for (size_t l = 0; l < kLanes; ++l)
    pointers.row[l] = reinterpret_cast<uint8_t*>(const_cast<uint16_t*>(rows(l < count ? l : count - 1)));
  records::interleave_rows<true>(a.data(), pointers, sizeof(uint16_t) * kN);
}

/// Finds the items in paired polynomials that have a coefficient in [q, 2^12).
struct TooLarge {
  /// For rows 2 i and for rows 2 i + 1: the highest bit of a word is set if such a coefficient was found.
  V16 found[2] = {V16::zero(), V16::zero()};

  void check(const LanePoly& a) {
    const V16 largest = V16::set1(kQ - 1);
    V16 even = found[0], odd = found[1];
    for (size_t i = 0; i < kN; i += 2) {
      even = even | (largest - a.get(i));
      odd = odd | (largest - a.get(i + 1));
    }
    found[0] = even;
    found[1] = odd;
  }
  /// Calls f(l, none) for l < count, where none is true if no such coefficient was found in item l.
  template <class F>
  void each(size_t count, F&& f) const {
    alignas(64) uint16_t words[2][kLanes];
    found[0].store(words[0]);
    found[1].store(words[1]);
    for (size_t l = 0; l < count; ++l) {
      if constexpr (ntt::kPairsInterleaved) {
        const uint16_t* pair = words[l % 8 / 4] + l / 8 * 8 + l % 4 * 2;
        f(l, (pair[0] | pair[1]) >> 15 == 0);
      } else {
        f(l, (words[0][l] | words[1][l]) >> 15 == 0);
      }
    }
  }
};

/// Samples a polynomial of every item, with coefficients in [-kEta, kEta], from words of 64 kEta bytes: differences of
/// neighbouring sums of kEta bits. [FIPS203, Alg 8]
template <unsigned kEta>
POLYKEM_NOINLINE void sample_poly_cbd(LanePoly& a, const uint16_t* words) {
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
}  // namespace polykem::mlkem::interleaved
