// SPDX-License-Identifier: Apache-2.0
// Interleaved polynomials, one item per 16-bit lane, and their conversion to and from records.
#pragma once

#include "prim/records/records_lanes.hpp"
#include "schemes/saber/interleaved/product.hpp"

namespace polykem::saber::interleaved {
inline namespace POLYKEM_ISA {

/// A polynomial of every item; bits above those of its coefficients are arbitrary.
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
/// Packs a polynomial of every item into records, which have kBits bits per coefficient.
template <unsigned kBits>
POLYKEM_NOINLINE void pack(ByteRows out, const LanePoly& a, size_t count, Scratch& scratch) {
  records::pack_interleaved<kBits, kN>(out, a.data(), count, scratch.words);
}

/// Interleaves polynomials of single items: poly(l) is that of item l.
template <class Polys>
void gather(LanePoly& a, size_t count, Polys&& poly) {
  records::RowPointers pointers;
  for (size_t l = 0; l < kLanes; ++l)
    pointers.row[l] = reinterpret_cast<uint8_t*>(const_cast<uint16_t*>(poly(l < count ? l : count - 1).c));
  records::interleave_rows(a.data(), pointers, sizeof(uint16_t) * kN);
}

/// Samples a polynomial of every item's secret, as ref::sample_secret() does for one. [SABER20, GenSecret]
template <unsigned kMu>
POLYKEM_NOINLINE void sample_secret(LanePoly& s, ConstByteRows in, size_t count, Scratch& scratch) {
  constexpr unsigned kHalf = kMu / 2;
  unpack<kMu>(s, in, count, scratch);
  const V16 lowest = V16::set1(1 | 1u << kHalf), field = V16::set1((1u << kHalf) - 1);
  for (size_t i = 0; i < kN; ++i) {
    const V16 bits = s.get(i);
    V16 sums = (bits & lowest) + (bits.template shr<1>() & lowest) + (bits.template shr<2>() & lowest);
    if constexpr (kHalf > 3) sums = sums + (bits.template shr<3>() & lowest);
    if constexpr (kHalf > 4) sums = sums + (bits.template shr<4>() & lowest);
    s.set(i, (sums & field) - sums.template shr<kHalf>());
  }
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::saber::interleaved
