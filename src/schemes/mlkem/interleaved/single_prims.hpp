// SPDX-License-Identifier: Apache-2.0
// The primitives of one item with vector instructions, in the form that ref::Ops takes. The hash states of the entries
// of its matrix, and those of its noise, are computed side by side.
#pragma once

#include "schemes/mlkem/interleaved/sample.hpp"
#include "schemes/mlkem/ref/prims.hpp"

namespace polykem::mlkem::interleaved {
inline namespace POLYKEM_ISA {

template <class Isa>
struct SinglePrims {
  static Aes256Ctr keystream() { return Isa::keystream(); }

  static void ntt(Poly& a) { Isa::ntt_one().forward(a.c); }
  static void inverse_ntt(Poly& a) { Isa::ntt_one().inverse(a.c); }

  template <size_t kK>
  static void multiply(Poly& c, const Poly* a, const Poly* b) {
    Isa::ntt_one().multiply(c.c, a->c, b->c, kK);
  }

  template <size_t kK>
  static void gen_a(Poly* a, const uint8_t* rho, bool transposed) {
    const Seeds seeds = Seeds::load({rho, 0}, 1);
    alignas(64) uint16_t rows[kStates][kAcceptedWords];
    for (size_t first = 0; first < kK * kK; first += kStates) {
      alignas(64) uint64_t tails[kStates];
      for (size_t l = 0; l < kStates; ++l) {
        const size_t entry = std::min(first + l, kK * kK - 1), i = entry / kK, j = entry % kK;
        tails[l] = transposed ? xof_tail(i, j) : xof_tail(j, i);
      }
      sample_ntt_rows(rows[0], kAcceptedWords, seeds, V64::load(tails));
      for (size_t l = 0; l < kStates && first + l < kK * kK; ++l)
        std::memcpy(a[first + l].c, rows[l], sizeof a->c);
    }
  }

  template <unsigned kEta>
  static void prf(uint8_t* out, size_t stride, const uint8_t* seed, size_t nonce, size_t count) {
    Seeds seeds = Seeds::load({seed, 0}, 1);
    uint8_t rows[kStates][64 * kEta];
    Prf prf;
    for (size_t first = 0; first < count; first += kStates) {
      alignas(64) uint64_t tails[kStates];
      for (size_t l = 0; l < kStates; ++l)
        tails[l] = prf_tail(nonce + first + l);
      prf_rows<kEta>(prf, rows[0], sizeof rows[0], seeds, V64::load(tails));
      for (size_t l = 0; l < kStates && first + l < count; ++l)
        std::memcpy(out + (first + l) * stride, rows[l], 64 * kEta);
    }
    secure_zero(rows, sizeof rows);
    secure_zero(&seeds, sizeof seeds);
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem::interleaved
