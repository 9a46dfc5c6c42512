// SPDX-License-Identifier: Apache-2.0
// The arithmetic of interleaved items: polynomials with one item per 16-bit lane, hashes with one item per 64-bit lane.
#pragma once

#include "prim/keccak/row_hashes.hpp"
#include "schemes/saber/instruction_set.hpp"
#include "schemes/saber/interleaved/state.hpp"
#include "schemes/saber/steps.hpp"

namespace polykem::saber::interleaved {
inline namespace POLYKEM_ISA {

template <SaberParams P, InstructionSet Isa>
struct Arithmetic : LaneHashes<Isa> {
  static constexpr size_t kL = P.l;
  using Poly = LanePoly;
  using State = interleaved::State<P>;

  /// Leaves the matrix as bytes, which multiply() unpacks.
  static void sample_matrix(State& state, ConstByteRows seeds) {
    LaneHashes<Isa>::template shake128<P.matrix_bytes()>(rows_of(state.work.matrix), seeds, state.count);
  }
  static void load_pk(State& state) {
    if (state.expanded()) return;
    for (size_t l = 0; l < state.count; ++l)
      ct::declassify(state.pk_in().at(l), P.public_key_bytes());
    sample_matrix(state, state.pk_in(P.vector_bytes()));
  }
  static void load_sk(State&) {}  ///< multiply() unpacks s
  static void sample_secret(State& state, LanePoly& s, ConstByteRows in) {
    interleaved::sample_secret<P.mu>(s, in, state.count, state.work.scratch);
  }

  template <size_t kRows>
  static void multiply(State& state, LanePoly* out, Factors factors, const LanePoly* b) {
    if (state.one_key() && factors != Factors::kOwnMatrix) {
      return multiply_shared<kRows>(
          state, b, out, factors == Factors::kSecret ? state.expanded_secret(0).s : state.expanded_public(0).rows);
    }
    auto& product = state.work.product;
    for (size_t j = 0; j < kL; ++j)
      product.set_column(j, b[j].data());
    for (size_t i = 0; i < kRows; ++i) {
      for (size_t j = 0; j < kL; ++j) {
        load_factor(state, factors, i, j);
        product.set_row(j, state.work.w.data());
      }
      product.multiply(out[i].data());
    }
  }

  static void round(LanePoly& a) {
    const V16 h1 = V16::set1(kH1);
    for (size_t i = 0; i < kN; ++i)
      a.set(i, (a.get(i) + h1).template shr<kQBits - kPBits>());
  }
  static void round_v(State& state, LanePoly& v) {
    auto& work = state.work;
    unpack<1>(work.w, rows_of(work.fo.hashed), state.count, work.scratch);
    const V16 h1 = V16::set1(kH1), mask = V16::set1(kPMask);
    for (size_t i = 0; i < kN; ++i) {
      const V16 x = v.get(i) + h1 - work.w.get(i).template shl<kPBits - 1>();
      v.set(i, (x & mask).template shr<kPBits - P.t_bits>());
    }
  }
  static void decode_m(State& state) {
    auto& work = state.work;
    const V16 h2 = V16::set1(P.h2());
    for (size_t i = 0; i < kN; ++i) {
      const V16 v = work.u[kL].get(i) + h2 - work.cm.get(i).template shl<kPBits - P.t_bits>();
      work.w.set(i, v.template shr<kPBits - 1>());
    }
    pack<1>(rows_of(work.fo.hashed), work.w, state.count, work.scratch);
  }

  template <unsigned kBits>
  static void encode(State& state, ByteRows out, const LanePoly& a) {
    pack<kBits>(out, a, state.count, state.work.scratch);
  }
  template <unsigned kBits>
  static void decode(State& state, LanePoly& a, ConstByteRows in) {
    unpack<kBits>(a, in, state.count, state.work.scratch);
  }

 private:
  /// Loads factor (i, j) of each item into w.
  static void load_factor(State& state, Factors factors, size_t i, size_t j) {
    auto& work = state.work;
    if (factors == Factors::kOwnMatrix) return load_entry(state, j, i);
    const bool secret = factors == Factors::kSecret;
    if (state.expanded()) {
      gather(work.w, state.count, [&](size_t l) -> const saber::Poly& {
        return secret ? state.expanded_secret(l).s[j] : state.expanded_public(l).rows[i * kL + j];
      });
    } else if (secret) {
      unpack<kQBits>(work.w, state.sk_in(j * kPolyQBytes), state.count, work.scratch);
    } else if (i == kL) {
      unpack<kPBits>(work.w, state.pk_in(j * kPolyPBytes), state.count, work.scratch);
    } else {
      load_entry(state, i, j);
    }
  }
  /// Loads entry (i, j) of A of each item, whose bytes sample_matrix() left, into w.
  static void load_entry(State& state, size_t i, size_t j) {
    auto& work = state.work;
    unpack<kQBits>(work.w, rows_of(work.matrix, (i * kL + j) * kPolyQBytes), state.count, work.scratch);
  }

  /// Multiplies by factors a[i l + j] that are the same for all items.
  template <size_t kRows>
  static void multiply_shared(State& state, const LanePoly* s, LanePoly* u, const saber::Poly* a) {
    auto& work = state.work;
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
