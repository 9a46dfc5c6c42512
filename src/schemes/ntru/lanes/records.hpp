// SPDX-License-Identifier: Apache-2.0
// NTRU's records and random bytes to and from blocks of items.
#pragma once

#include "prim/records/records_lanes.hpp"
#include "prim/sort/lanes/sort_columns.hpp"
#include "schemes/ntru/lanes/poly.hpp"

namespace polykem::ntru::lanes {
inline namespace POLYKEM_ISA {

using simd::V32;

/// Room for one polynomial of every item in rows or words of records, whichever is larger; and for the keys of a sort.
template <NtruParams P>
struct alignas(64) Scratch {
  uint16_t words[kLanes * (P.n + kLanes)];
  int32_t keys[2][(P.n - 1) * V32::kLanes];
};

template <NtruParams P>
void load_Sq(LanePoly<P, Rq>& a, ConstByteRows in, size_t count, Scratch<P>& scratch) {
  records::unpack_block<P.logq, P.n - 1>(a.data(), in, count, scratch.words);
  a.set(P.n - 1, V16::zero());
}

template <NtruParams P>
void load_Rq_sum_zero(LanePoly<P, Rq>& a, ConstByteRows in, size_t count, Scratch<P>& scratch) {
  load_Sq(a, in, count, scratch);
  poly_sum_zero(a);
}

/// The first n - 1 coefficients mod q.
template <NtruParams P>
void store_Sq(ByteRows out, const LanePoly<P, Rq>& a, size_t count, Scratch<P>& scratch) {
  records::pack_block<P.logq, P.n - 1>(out, a.data(), count, scratch.words);
}

/// Five trits a byte; every byte is accepted, digits are taken mod 3.
template <NtruParams P>
void load_S3(LanePoly<P, S3>& a, ConstByteRows in, size_t count, Scratch<P>& scratch) {
  records::rows_to_block(scratch.words, in, P.trits_bytes(), count);
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
  records::block_to_rows(out, scratch.words, P.trits_bytes(), count);
}

/// Bytes mod 3, n - 1 a row. [NTRU20, Ternary]
template <NtruParams P>
void sample_iid(LanePoly<P, S3>& a, ConstByteRows in, size_t count, Scratch<P>& scratch) {
  static_assert((P.n - 1) % 2 == 0);
  records::rows_to_block(scratch.words, in, P.n - 1, count);
  for (size_t i = 0; i < P.n - 1; i += 2) {
    const V16 pair = V16::load(scratch.words + i / 2 * kLanes);
    a.set(i, mod3(pair & V16::set1(0xff)));
    a.set(i + 1, mod3(pair.template shr<8>()));
  }
  a.set(P.n - 1, V16::zero());
}

/// keys[i][l] = word i of 30 bits of row l, times 4, for the V32::kLanes items from `first` on.
template <NtruParams P>
void load_keys(int32_t* keys, ConstByteRows in, size_t first, size_t count) {
  constexpr size_t kWords = P.n - 1, kTile = V32::kLanes;
  static_assert(kWords % 4 == 0);
  for (size_t at = 0; at < kWords; at += kTile) {
    alignas(64) int32_t tile[kTile][kTile] = {};
    const size_t words = kWords - at < kTile ? kWords - at : kTile;
    for (size_t l = 0; l < kTile && first + l < count; ++l) {
      for (size_t j = 0; j < words; j += 2) {  // 60 bits: at most 4 bits into a byte, hence within 8 bytes
        const size_t bit = 30 * (at + j);
        const uint64_t word = records::load64(in.data + (first + l) * in.stride + bit / 8) >> (bit % 8);
        const uint64_t pair = _pdep_u64(word, 0xfffffffcfffffffcu);
        std::memcpy(&tile[l][j], &pair, sizeof pair);
      }
    }
    V32::Reg r[kTile];
    for (size_t l = 0; l < kTile; ++l) r[l] = V32::load(tile[l]).r;
    simd::transpose32(r);
    for (size_t j = 0; j < words; ++j) V32{r[j]}.store(keys + (at + j) * kTile);
  }
}

/// Exactly weight/2 ones and as many twos. [NTRU20, Fixed_Type]
template <NtruParams P>
void sample_fixed_type(LanePoly<P, S3>& a, ConstByteRows in, size_t count, Scratch<P>& scratch) {
  constexpr size_t kHalf = V32::kLanes;
  for (size_t half = 0; half < 2; ++half) {
    int32_t* keys = scratch.keys[half];
    load_keys<P>(keys, in, half * kHalf, count);
    for (size_t i = 0; i < P.weight(); ++i) {
      int32_t* row = keys + i * kHalf;
      (V32::load(row) | V32::set1(i < P.weight() / 2 ? 1 : 2)).store(row);
    }
    sorting::sort_columns<P.n - 1>(keys);
  }
  for (size_t i = 0; i < P.n - 1; ++i) {
    const V16 keys = low_halves(V32::load(scratch.keys[0] + i * kHalf), V32::load(scratch.keys[1] + i * kHalf));
    a.set(i, keys & V16::set1(3));
  }
  a.set(P.n - 1, V16::zero());
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::ntru::lanes
