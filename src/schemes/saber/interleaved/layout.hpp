// SPDX-License-Identifier: Apache-2.0
// The layout of a block of items: polynomials with one item per 16-bit lane, hashes with one item per 64-bit lane.
#pragma once

#include "prim/keccak/row_hashes.hpp"
#include "schemes/saber/interleaved/chunk.hpp"
#include "schemes/saber/steps.hpp"

namespace polykem::saber::interleaved {
inline namespace POLYKEM_ISA {

/// Isa names the primitives of an instruction set: kName, keccak().
template <SaberParams P, class Isa>
struct Layout : LaneHashes<Isa> {
  static constexpr size_t kL = P.l;
  using Poly = LanePoly;
  using Chunk = interleaved::Chunk<P>;

  /// Leaves the matrix as bytes, which multiply() unpacks.
  static void sample_matrix(Chunk& c, ConstByteRows seeds) {
    LaneHashes<Isa>::template shake128<P.matrix_bytes()>(rows_of(c.work.matrix), seeds, c.count);
  }
  static void load_pk(Chunk& c) {
    if (c.expanded()) return;
    for (size_t l = 0; l < c.count; ++l)
      ct::declassify(c.pk_in().at(l), P.public_key_bytes());
    sample_matrix(c, c.pk_in(P.vector_bytes()));
  }
  static void load_sk(Chunk&) {}  ///< multiply() unpacks s
  static void sample_secret(Chunk& c, LanePoly& s, ConstByteRows in) {
    interleaved::sample_secret<P.mu>(s, in, c.count, c.work.scratch);
  }

  template <size_t kRows>
  static void multiply(Chunk& c, LanePoly* out, Factors factors, const LanePoly* b) {
    if (c.one_key() && factors != Factors::kOwnMatrix) {
      return multiply_shared<kRows>(c, b, out,
                                    factors == Factors::kSecret ? c.expanded_secret(0).s : c.expanded_public(0).rows);
    }
    auto& product = c.work.product;
    for (size_t j = 0; j < kL; ++j)
      product.set_column(j, b[j].data());
    for (size_t i = 0; i < kRows; ++i) {
      for (size_t j = 0; j < kL; ++j) {
        load_factor(c, factors, i, j);
        product.set_row(j, c.work.w.data());
      }
      product.multiply(out[i].data());
    }
  }

  static void round(LanePoly& a) {
    const V16 h1 = V16::set1(kH1);
    for (size_t i = 0; i < kN; ++i)
      a.set(i, (a.get(i) + h1).template shr<kQBits - kPBits>());
  }
  static void round_v(Chunk& c, LanePoly& v) {
    auto& work = c.work;
    unpack<1>(work.w, rows_of(work.fo.hashed), c.count, work.scratch);
    const V16 h1 = V16::set1(kH1), mask = V16::set1(kPMask);
    for (size_t i = 0; i < kN; ++i) {
      const V16 x = v.get(i) + h1 - work.w.get(i).template shl<kPBits - 1>();
      v.set(i, (x & mask).template shr<kPBits - P.t_bits>());
    }
  }
  static void decode_m(Chunk& c) {
    auto& work = c.work;
    const V16 h2 = V16::set1(P.h2());
    for (size_t i = 0; i < kN; ++i) {
      const V16 v = work.u[kL].get(i) + h2 - work.cm.get(i).template shl<kPBits - P.t_bits>();
      work.w.set(i, v.template shr<kPBits - 1>());
    }
    pack<1>(rows_of(work.fo.hashed), work.w, c.count, work.scratch);
  }

  template <unsigned kBits>
  static void encode(Chunk& c, ByteRows out, const LanePoly& a) {
    pack<kBits>(out, a, c.count, c.work.scratch);
  }
  template <unsigned kBits>
  static void decode(Chunk& c, LanePoly& a, ConstByteRows in) {
    unpack<kBits>(a, in, c.count, c.work.scratch);
  }

 private:
  /// Loads factor (i, j) of each item into w.
  static void load_factor(Chunk& c, Factors factors, size_t i, size_t j) {
    auto& work = c.work;
    if (factors == Factors::kOwnMatrix) return load_entry(c, j, i);
    const bool secret = factors == Factors::kSecret;
    if (c.expanded()) {
      gather(work.w, c.count, [&](size_t l) -> const saber::Poly& {
        return secret ? c.expanded_secret(l).s[j] : c.expanded_public(l).rows[i * kL + j];
      });
    } else if (secret) {
      unpack<kQBits>(work.w, c.sk_in(j * kPolyQBytes), c.count, work.scratch);
    } else if (i == kL) {
      unpack<kPBits>(work.w, c.pk_in(j * kPolyPBytes), c.count, work.scratch);
    } else {
      load_entry(c, i, j);
    }
  }
  /// Loads entry (i, j) of A of each item, whose bytes sample_matrix() left, into w.
  static void load_entry(Chunk& c, size_t i, size_t j) {
    auto& work = c.work;
    unpack<kQBits>(work.w, rows_of(work.matrix, (i * kL + j) * kPolyQBytes), c.count, work.scratch);
  }

  /// Multiplies by factors a[i l + j] that are the same for all items.
  template <size_t kRows>
  static void multiply_shared(Chunk& c, const LanePoly* s, LanePoly* u, const saber::Poly* a) {
    auto& work = c.work;
    for (size_t j = 0; j < kL; ++j)
      work.product.set_column(j, s[j].data());
    for (size_t i = 0; i < kRows; ++i) {
      for (size_t j = 0; j < kL; ++j)
        split_words(work.words + j * kSplitRows, a[i * kL + j].c);
      work.product.multiply_shared(u[i].data(), work.words);
    }
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::saber::interleaved
