// SPDX-License-Identifier: Apache-2.0
// The arithmetic of eight items: hashes with an item in each Keccak state, products item by item with neighbouring
// coefficients in a register. Each item has a row with the inputs and outputs of its hashes.
#pragma once

#include "schemes/mlkem/instruction_set.hpp"
#include "schemes/mlkem/interleaved/fetch.hpp"
#include "schemes/mlkem/single/poly.hpp"
#include "schemes/mlkem/steps.hpp"
#include "schemes/mlkem/x8/matrix_sampler.hpp"
#include "schemes/mlkem/x8/state.hpp"

namespace polykem::mlkem::x8 {
inline namespace POLYKEM_ISA {

using interleaved::xof_tail, interleaved::Seeds;
using simd::V16, simd::V64;

template <MlkemParams P, InstructionSet Isa>
struct Arithmetic : LaneHashes<Isa> {
  static constexpr size_t kK = P.k;
  using State = x8::State<P>;

  static void sample_matrix(State& state, ConstByteRows rho, bool transposed) {
    MatrixSampler sampler(Seeds::load(rho, state.count));
    for (size_t entry = 0; entry < kK * kK; ++entry) {
      const size_t i = entry / kK, j = entry % kK;
      interleaved::fetch_output<P>(state.io, 0, kItems, entry, kK * kK);
      interleaved::fetch_next_input<P>(state.io, entry, kK * kK);
      sampler.begin(V64::set1(transposed ? xof_tail(i, j) : xof_tail(j, i)));
      if (entry > 0) accept(state, sampler);
      sampler.finish();
      if (entry > 0) store_accepted(state, entry - 1);
    }
    sampler.end();
    accept(state, sampler);
    store_accepted(state, kK * kK - 1);
  }

  static void load_pk(State& state) {
    if (state.expanded()) return;
    for (size_t l = 0; l < state.count; ++l)
      single::load_t<P>(state.work.own[l].pk, state.pk_in().at(l));
  }
  static void load_sk(State& state) {
    if (state.expanded()) return;
    for (size_t l = 0; l < state.count; ++l)
      single::load_sk<P>(state.work.own[l], state.sk_in().at(l));
  }

 private:
  static void accept(State& state, const MatrixSampler& sampler) {
    for (size_t l = 0; l < kItems; ++l)
      sampler.accept(state.work.accepted[l], l);
  }

  /// Copies accepted polynomials to the keys. accept() does not write there itself, because the keys are not in the
  /// nearest cache, and its stores across the ends of cache lines would take longer there.
  static void store_accepted(State& state, size_t entry) {
    auto& work = state.work;
    for (size_t l = 0; l < kItems; ++l) {
      for (size_t n = 0; n < kN; n += V16::kLanes)
        V16::load(work.accepted[l] + n).store(work.own[l].pk.rows[entry].c + n);
    }
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem::x8
