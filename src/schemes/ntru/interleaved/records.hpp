// SPDX-License-Identifier: Apache-2.0
// Converts NTRU's records and random bytes to interleaved items, and these to records.
#pragma once

#include "prim/keccak/keccak_lanes.hpp"
#include "prim/records/records_lanes.hpp"
#include "schemes/ntru/interleaved/poly.hpp"
#include "schemes/ntru/sort/sort_lanes.hpp"

namespace polykem::ntru::interleaved {
inline namespace POLYKEM_ISA {

/// Memory for one polynomial of every item, as rows or as words of records, whichever is larger, and for a sort.
template <NtruParams P>
struct alignas(64) Scratch {
  uint16_t words[kLanes * (P.n + kLanes)];
  alignas(64) std::byte sort[sort_workspace_bytes(P.n, kLanes)];
};

template <NtruParams P>
void load_Sq(LanePoly<P, Rq>& a, ConstByteRows in, size_t count, Scratch<P>& scratch) {
  records::unpack_interleaved<P.logq, P.n - 1>(a.data(), in, count, scratch.words);
  a.set(P.n - 1, V16::zero());
}

template <NtruParams P>
void load_Rq_sum_zero(LanePoly<P, Rq>& a, ConstByteRows in, size_t count, Scratch<P>& scratch) {
  load_Sq(a, in, count, scratch);
  poly_sum_zero(a);
}

/// Writes the first n - 1 coefficients mod q of every item.
template <NtruParams P>
void store_Sq(ByteRows out, const LanePoly<P, Rq>& a, size_t count, Scratch<P>& scratch) {
  records::pack_interleaved<P.logq, P.n - 1>(out, a.data(), count, scratch.words);
}

/// Reads five trits from each byte. Every byte is accepted: only its five lowest base-3 digits count.
template <NtruParams P>
void load_S3(LanePoly<P, S3>& a, ConstByteRows in, size_t count, Scratch<P>& scratch) {
  records::interleave_rows(scratch.words, in, P.trits_bytes(), count);
  const V16 third = V16::set1(21846), three = V16::set1(3);
  for (size_t byte = 0; byte < P.trits_bytes(); ++byte) {
    const V16 pair = V16::load(scratch.words + byte / 2 * kLanes);
    V16 rest = byte % 2 == 0 ? pair & V16::set1(0xff) : pair.template shr<8>();
    for (size_t i = 5 * byte; i < 5 * byte + 5 && i < P.n - 1; ++i) {
      const V16 quotient = mulhi_u(rest, third);
      a.set(i, rest - quotient * three);
      rest = quotient;
    }
  }
  a.set(P.n - 1, V16::zero());
}

template <NtruParams P>
void store_S3(ByteRows out, const LanePoly<P, S3>& a, size_t count, Scratch<P>& scratch) {
  const auto packed = [&](size_t byte) {
    V16 value = V16::zero();
    for (size_t j = 5; j-- > 0;) {
      const size_t i = 5 * byte + j;
      if (i < P.n - 1) value = value + value + value + a.get(i);
    }
    return value;
  };
  for (size_t byte = 0; byte < P.trits_bytes(); byte += 2) {
    V16 pair = packed(byte);
    if (byte + 1 < P.trits_bytes()) pair = pair | packed(byte + 1).template shl<8>();
    pair.store(scratch.words + byte / 2 * kLanes);
  }
  records::deinterleave_rows(out, scratch.words, P.trits_bytes(), count);
}

/// Reduces n - 1 bytes per row mod 3, one for each coefficient but the last, which becomes 0. [NTRU20, Ternary]
template <NtruParams P>
void sample_iid(LanePoly<P, S3>& a, ConstByteRows in, size_t count, Scratch<P>& scratch) {
  static_assert((P.n - 1) % 2 == 0);
  records::interleave_rows(scratch.words, in, P.n - 1, count);
  for (size_t i = 0; i < P.n - 1; i += 2) {
    const V16 pair = V16::load(scratch.words + i / 2 * kLanes);
    a.set(i, mod3(pair & V16::set1(0xff)));
    a.set(i + 1, mod3(pair.template shr<8>()));
  }
  a.set(P.n - 1, V16::zero());
}

/// Samples exactly weight/2 ones and as many twos for every item. [NTRU20, Fixed_Type]
template <NtruParams P>
void sample_fixed_type(LanePoly<P, S3>& a, ConstByteRows in, size_t count, Scratch<P>& scratch) {
#ifdef POLYKEM_ISA_NEON
  constexpr const SortFunctions& kSort = kSortNeon;
#else
  constexpr const SortFunctions& kSort = kLanes == 32 ? kSortAvx512 : kSortAvx2;
#endif
  kSort.sample_fixed_type(a.data(), in, count, P.n, P.weight(), scratch.sort);
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::ntru::interleaved
