// SPDX-License-Identifier: Apache-2.0
// The arithmetic of interleaved items: polynomials with one item per 16-bit lane, hashes with one item per 64-bit lane.
// The ranges of its polynomials are those of NttFunctions.
#pragma once

#include "prim/keccak/row_hashes.hpp"
#include "prim/ntt/ntt_lanes.hpp"
#include "schemes/mlkem/instruction_set.hpp"
#include "schemes/mlkem/interleaved/fetch.hpp"
#include "schemes/mlkem/interleaved/sample.hpp"
#include "schemes/mlkem/interleaved/state.hpp"
#include "schemes/mlkem/steps.hpp"

namespace polykem::mlkem::interleaved {
inline namespace POLYKEM_ISA {

template <MlkemParams P, InterleavedInstructionSet Isa>
struct Arithmetic : LaneHashes<Isa> {
  static constexpr size_t kK = P.k;
  using Poly = LanePoly;
  using State = interleaved::State<P>;

  static void sample_matrix(State& state, ConstByteRows rho, bool transposed) {
    auto& work = state.work;
    Seeds seeds[kLanes / kStates];
    for (size_t first = 0; first < state.count; first += kStates)
      seeds[first / kStates] = Seeds::load({rho.data + first * rho.stride, rho.stride}, state.count - first);
    for (size_t i = 0; i < kK; ++i) {
      for (size_t j = 0; j < kK; ++j) {
        const V64 tails = V64::set1(transposed ? xof_tail(i, j) : xof_tail(j, i));
        for (size_t first = 0; first < state.count; first += kStates) {
          fetch_output<P>(state.io, first, first + kStates, i * kK + j, kK * kK);
          sample_ntt_rows(work.accepted[first], kAcceptedWords, seeds[first / kStates], tails);
        }
        gather_paired(work.rows[i * kK + j], state.count,
                      [&](size_t l) { return work.accepted[0] + l * kAcceptedWords; });
      }
    }
  }

  static void load_pk(State& state) {
    if (state.one_key()) return;
    load_t(state);
    if (!state.expanded()) return;
    for (size_t i = 0; i < kK * kK; ++i)
      gather_paired(state.work.rows[i], state.count, [&](size_t l) { return state.expanded_public(l).rows[i].c; });
  }

  static void load_sk(State& state) {
    if (state.one_key()) return;
    load_pk(state);
    for (size_t i = 0; i < kK; ++i) {
      if (state.expanded()) {
        gather_paired(state.s()[i], state.count, [&](size_t l) { return state.expanded_secret(l).s[i].c; });
      } else {
        unpack_paired(state.s()[i], state.sk_in(i * kPolyBytes), state.count, state.work.scratch);
      }
    }
  }

  template <unsigned kEta, size_t kOthers>
  static void sample_noise(State& state) {
    auto& work = state.work;
    Seeds seeds[kLanes / kStates];
    for (size_t first = 0; first < state.count; first += kStates) {
      seeds[first / kStates] =
          Seeds::load({work.fo.seeds[first] + kSymBytes, sizeof work.fo.seeds[0]}, state.count - first);
    }
    Prf prf;
    for (size_t n = 0; n < kK; ++n)
      sample_secret<P.eta1>(state, state.s()[n], prf, seeds, n);
    for (size_t n = 0; n < kOthers; ++n)
      sample_secret<kEta>(state, state.e()[n], prf, seeds, kK + n);
    zeroize(seeds, sizeof seeds);
  }

  static void ntt(LanePoly& a) { Isa::ntt().forward(a.data()); }
  static void inverse_ntt(LanePoly& a) { Isa::ntt().inverse(a.data()); }
  static void canonical(LanePoly& a) { Isa::ntt().canonical(a.data()); }
  template <size_t kRows>
  static void multiply(LanePoly* out, const Factors& a, const LanePoly* b) {
    if (a.of_one_key != nullptr) {
      Isa::ntt().multiply_shared(out->data(), a.of_one_key->c, b->data(), kRows, kK);
    } else {
      Isa::ntt().multiply(out->data(), a.of_items->data(), b->data(), kRows, kK);
    }
  }
  static void add_to_product(LanePoly& a, const LanePoly& b) { Isa::ntt().add_product(a.data(), b.data()); }
  static void add(LanePoly& a, const LanePoly& b) { Isa::ntt().add(a.data(), b.data()); }
  static void add_message(State& state, LanePoly& v) {
    unpack<1>(state.w(), rows_of(state.fo().hashed), state.count, state.work.scratch);
    Isa::ntt().decompress(state.w().data(), 1);
    Isa::ntt().add(v.data(), state.w().data());
  }
  static void store_message(State& state, const LanePoly& v, LanePoly& w) {
    for (size_t i = 0; i < kN; ++i)
      w.set(i, v.get(i) - w.get(i));
    canonical(w);
    compress<1>(state, rows_of(state.fo().hashed), w);
  }

  template <unsigned kBits>
  static void byte_encode(State& state, ByteRows out, const LanePoly& a) {
    pack<kBits>(out, a, state.count, state.work.scratch);
  }
  template <unsigned kBits>
  static void compress(State& state, ByteRows out, LanePoly& a) {
    Isa::ntt().compress(a.data(), kBits);
    pack<kBits>(out, a, state.count, state.work.scratch);
  }
  template <unsigned kBits>
  static void decompress(State& state, LanePoly& a, ConstByteRows in) {
    unpack<kBits>(a, in, state.count, state.work.scratch);
    Isa::ntt().decompress(a.data(), kBits);
  }

 private:
  template <unsigned kEta>
  static void sample_secret(State& state, LanePoly& a, Prf& prf, const Seeds* seeds, size_t nonce) {
    auto& work = state.work;
    for (size_t first = 0; first < state.count; first += kStates)
      prf_rows<kEta>(prf, work.prf[first], sizeof work.prf[0], seeds[first / kStates], V64::set1(prf_tail(nonce)));
    records::interleave_rows(work.scratch.words, {work.prf[0], sizeof work.prf[0]}, 64 * kEta, state.count);
    sample_poly_cbd<kEta>(a, work.scratch.words);
  }

  /// Loads t^ of every item and checks that all its coefficients are below q. [FIPS203, 7.2]
  static void load_t(State& state) {
    auto& work = state.work;
    TooLarge wrong;
    for (size_t i = 0; i < kK; ++i) {
      LanePoly& poly = work.rows[kK * kK + i];
      if (state.expanded()) {
        gather_paired(poly, state.count, [&](size_t l) { return state.expanded_public(l).t()[i].c; });
      } else {
        unpack_paired(poly, state.pk_in(i * kPolyBytes), state.count, work.scratch);
        wrong.check(poly);
      }
    }
    if (state.expanded() || state.decapsulates()) return;
    wrong.each(state.count, [&](size_t l, bool none) { work.valid[l] = P.kyber() || none; });
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem::interleaved
