// SPDX-License-Identifier: Apache-2.0
// The arithmetic of one item with vector instructions. A register has neighbouring coefficients of a polynomial, or
// Keccak states of the item's matrix, noise and hashes. Polynomials are always canonical.
#pragma once

#include "prim/ntt/lanes/single_products.hpp"
#include "schemes/mlkem/instruction_set.hpp"
#include "schemes/mlkem/single/poly.hpp"
#include "schemes/mlkem/single/workspace.hpp"
#include "schemes/mlkem/steps.hpp"

#ifdef POLYKEM_ISA_AVX512
#include "prim/ntt/avx512/single.hpp"
#endif

namespace polykem::mlkem::single {
inline namespace POLYKEM_ISA {

template <MlkemParams P, InstructionSet Isa>
struct Arithmetic : polykem::keccak::SingleHashes {
  static constexpr Dims kDims = P;
  static constexpr size_t kK = P.k;
  using Poly = mlkem::Poly;
  using State = SingleItemState<P, Workspace<kDims>>;

  static void sample_matrix(State& state, ConstByteRows rho, bool transposed) {
    MatrixSampler<kK>(state.work.own.pk.rows, rho.data, transposed, state.work.hash.squeezed).sample(state.work.states);
  }
  static void load_pk(State& state) {
    if (!state.expanded()) load_pk(state.work.own.pk, state.io.pk);
  }
  static void load_sk(State& state) {
    if (!state.expanded()) load_sk(state.work.own, state.io.sk);
  }

  template <unsigned kEta, size_t kOthers>
  static void sample_noise(State& state) {
    auto& work = state.work;
    constexpr size_t kLong = P.eta1 == 2 ? 0 : kEta == 2 ? kK : kK + kOthers;
    prf_rows<kK + kOthers, kLong>(work.poly.prf[0], sizeof work.poly.prf[0], work.fo.seeds[0] + kSymBytes, work.states);
    sample_from_rows<kEta, kOthers>(state);
  }
  /// Samples s and e, or y, e1 and e2, from the PRF's output.
  template <unsigned kEta, size_t kOthers>
  static void sample_from_rows(State& state) {
    for (size_t n = 0; n < kK; ++n)
      sample<P.eta1>(state.s()[n], state.work.poly.prf[n]);
    for (size_t n = 0; n < kOthers; ++n)
      sample<kEta>(state.e()[n], state.work.poly.prf[kK + n]);
  }

  static void ntt(Poly& a) {
#ifdef POLYKEM_ISA_AVX512
    polykem::ntt::forward_single(a.c);
#else
    Isa::ntt_single().forward(a.c);
#endif
  }
  static void inverse_ntt(Poly& a) {
#ifdef POLYKEM_ISA_AVX512
    polykem::ntt::inverse_single(a.c);
#else
    Isa::ntt_single().inverse(a.c);
#endif
  }
  static void canonical(Poly&) {}
  template <size_t kRows>
  static void multiply(Poly* out, const Poly* a, const Poly* b) {
    polykem::ntt::multiply_single_rows<kK, kRows>(out->c, a->c, b->c);
  }
  static void add_to_product(Poly& a, const Poly& b) {
    add(a, b);
  }
  static void add(Poly& a, const Poly& b) {
    polykem::ntt::map_single(
        a.c, [&](size_t i, V16 x)
                 __attribute__((always_inline)) { return polykem::ntt::reduced_once(x + V16::load(b.c + i)); });
  }
  static void add_message(State& state, Poly& v) {
    polykem::ntt::map_single(
        v.c, [&](size_t i, V16 x) __attribute__((always_inline)) {
          return polykem::ntt::reduced_once(x + polykem::ntt::message_single(state.fo().hashed[0], i));
        });
  }
  static void store_message(State& state, const Poly& v, const Poly& w) {
    for (size_t i = 0; i < kN; i += V16::kLanes) {
      const V16 difference = V16::load(v.c + i) - V16::load(w.c + i);
      polykem::ntt::store_bits_single(state.fo().hashed[0], i,
                                      polykem::ntt::compress<1>(polykem::ntt::to_unsigned(difference)));
    }
  }

  template <unsigned kBits>
  static void byte_encode(State&, ByteRows out, const Poly& a) {
    store<kBits>(out.data, a);
  }
  template <unsigned kBits>
  static void compress(State&, ByteRows out, const Poly& a) {
    for (size_t i = 0; i < kN; i += V16::kLanes)
      polykem::ntt::pack_single<kBits>(out.data, i, polykem::ntt::compress<kBits>(V16::load(a.c + i)));
  }
  template <unsigned kBits>
  static void decompress(State&, Poly& a, ConstByteRows in) {
    load_compressed<kBits>(a, in.data);
  }

  // ---- For Keys

  struct KeySpace {
    States states;
    HashSpace<kDims> hash;
  };
  static void hash_sample_a(PublicKey<kK>& key, const uint8_t* pk, KeySpace& space) {
    hash_sample_a(key, pk, space.hash, space.states);
  }
  /// This is not inlined, so that its callers share the code that is unrolled for one hash.
  static POLYKEM_NOINLINE void hash_sample_a(PublicKey<kK>& key, const uint8_t* pk, HashSpace<kDims>& hash,
                                             States& states) {
    hash.pk.set(pk, 0, pk, polykem::keccak::kSha3Suffix);
    MatrixSampler<kK> sampler(key.rows, pk + P.vector_bytes(), true, hash.squeezed);
    sampler.template sample_overlapped<decltype(hash.pk)::kBlocks, 1>(states, {hash.pk.bytes});
    store_digest(key.hash, states, 0);
  }
  static void load_pk(PublicKey<kK>& key, const uint8_t* pk) {
    load_t<P>(key, pk);
  }
  static void load_sk(SecretKey<kK>& key, const uint8_t* sk) {
    single::load_sk<P>(key, sk);
  }

 private:
  template <unsigned kEta>
  static POLYKEM_INLINE void sample(Poly& a, const uint8_t* row) {
    for (size_t i = 0; i < kN; i += V16::kLanes)
      polykem::ntt::cbd_single<kEta>(row, i).store(a.c + i);
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem::single
