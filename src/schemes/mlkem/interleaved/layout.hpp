// SPDX-License-Identifier: Apache-2.0
// The layout of a block of items: polynomials with one item per 16-bit lane, hashes with one item per 64-bit lane. The
// ranges of its polynomials are those of NttLanes.
#pragma once

#include "prim/keccak/row_hashes.hpp"
#include "prim/ntt/ntt_lanes.hpp"
#include "schemes/mlkem/instruction_set.hpp"
#include "schemes/mlkem/interleaved/chunk.hpp"
#include "schemes/mlkem/interleaved/fetch.hpp"
#include "schemes/mlkem/interleaved/sample.hpp"
#include "schemes/mlkem/steps.hpp"

namespace polykem::mlkem::interleaved {
inline namespace POLYKEM_ISA {

template <MlkemParams P, InterleavedInstructionSet Isa>
struct Layout : LaneHashes<Isa> {
  static constexpr size_t kK = P.k;
  using Poly = LanePoly;
  using Chunk = interleaved::Chunk<P>;

  static void sample_matrix(Chunk& c, ConstByteRows rho, bool transposed) {
    auto& work = c.work;
    Seeds seeds[kLanes / kStates];
    for (size_t first = 0; first < c.count; first += kStates)
      seeds[first / kStates] = Seeds::load({rho.data + first * rho.stride, rho.stride}, c.count - first);
    for (size_t i = 0; i < kK; ++i) {
      for (size_t j = 0; j < kK; ++j) {
        const V64 tails = V64::set1(transposed ? xof_tail(i, j) : xof_tail(j, i));
        for (size_t first = 0; first < c.count; first += kStates) {
          fetch_output<P>(c.io, first, first + kStates, i * kK + j, kK * kK);
          sample_ntt_rows(work.accepted[first], kAcceptedWords, seeds[first / kStates], tails);
        }
        gather_paired(work.rows[i * kK + j], c.count, [&](size_t l) { return work.accepted[0] + l * kAcceptedWords; });
      }
    }
  }

  static void load_pk(Chunk& c) {
    if (c.one_key()) return;
    load_t(c);
    if (!c.expanded()) return;
    for (size_t i = 0; i < kK * kK; ++i)
      gather_paired(c.work.rows[i], c.count, [&](size_t l) { return c.expanded_public(l).rows[i].c; });
  }

  static void load_sk(Chunk& c) {
    if (c.one_key()) return;
    load_pk(c);
    for (size_t i = 0; i < kK; ++i) {
      if (c.expanded()) {
        gather_paired(c.s()[i], c.count, [&](size_t l) { return c.expanded_secret(l).s[i].c; });
      } else {
        unpack_paired(c.s()[i], c.sk_in(i * kPolyBytes), c.count, c.work.scratch);
      }
    }
  }

  template <unsigned kEta, size_t kOthers>
  static void sample_noise(Chunk& c) {
    auto& work = c.work;
    Seeds seeds[kLanes / kStates];
    for (size_t first = 0; first < c.count; first += kStates) {
      seeds[first / kStates] =
          Seeds::load({work.fo.seeds[first] + kSymBytes, sizeof work.fo.seeds[0]}, c.count - first);
    }
    Prf prf;
    for (size_t n = 0; n < kK; ++n)
      sample_secret<P.eta1>(c, c.s()[n], prf, seeds, n);
    for (size_t n = 0; n < kOthers; ++n)
      sample_secret<kEta>(c, c.e()[n], prf, seeds, kK + n);
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
  static void add_message(Chunk& c, LanePoly& v) {
    unpack<1>(c.w(), rows_of(c.fo().hashed), c.count, c.work.scratch);
    Isa::ntt().decompress(c.w().data(), 1);
    Isa::ntt().add(v.data(), c.w().data());
  }
  static void store_message(Chunk& c, const LanePoly& v, LanePoly& w) {
    for (size_t i = 0; i < kN; ++i)
      w.set(i, v.get(i) - w.get(i));
    canonical(w);
    compress<1>(c, rows_of(c.fo().hashed), w);
  }

  template <unsigned kBits>
  static void byte_encode(Chunk& c, ByteRows out, const LanePoly& a) {
    pack<kBits>(out, a, c.count, c.work.scratch);
  }
  template <unsigned kBits>
  static void compress(Chunk& c, ByteRows out, LanePoly& a) {
    Isa::ntt().compress(a.data(), kBits);
    pack<kBits>(out, a, c.count, c.work.scratch);
  }
  template <unsigned kBits>
  static void decompress(Chunk& c, LanePoly& a, ConstByteRows in) {
    unpack<kBits>(a, in, c.count, c.work.scratch);
    Isa::ntt().decompress(a.data(), kBits);
  }

 private:
  template <unsigned kEta>
  static void sample_secret(Chunk& c, LanePoly& a, Prf& prf, const Seeds* seeds, size_t nonce) {
    auto& work = c.work;
    for (size_t first = 0; first < c.count; first += kStates)
      prf_rows<kEta>(prf, work.prf[first], sizeof work.prf[0], seeds[first / kStates], V64::set1(prf_tail(nonce)));
    records::rows_to_block(work.scratch.words, {work.prf[0], sizeof work.prf[0]}, 64 * kEta, c.count);
    sample_poly_cbd<kEta>(a, work.scratch.words);
  }

  /// Loads t^ of every item and checks that all its coefficients are below q. [FIPS203, 7.2]
  static void load_t(Chunk& c) {
    auto& work = c.work;
    TooLarge wrong;
    for (size_t i = 0; i < kK; ++i) {
      LanePoly& poly = work.rows[kK * kK + i];
      if (c.expanded()) {
        gather_paired(poly, c.count, [&](size_t l) { return c.expanded_public(l).t()[i].c; });
      } else {
        unpack_paired(poly, c.pk_in(i * kPolyBytes), c.count, work.scratch);
        wrong.check(poly);
      }
    }
    if (c.expanded() || c.decapsulates()) return;
    wrong.each(c.count, [&](size_t l, bool none) { work.valid[l] = P.kyber() || none; });
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem::interleaved
