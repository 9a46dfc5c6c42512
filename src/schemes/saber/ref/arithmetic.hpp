// SPDX-License-Identifier: Apache-2.0
// The arithmetic of one item. The portable backend is this with PortablePrims; the vector backends use it with their
// own primitives for small batches.
#pragma once

#include "schemes/item_state.hpp"
#include "schemes/saber/ref/keys.hpp"
#include "schemes/saber/steps.hpp"

namespace polykem::saber::ref {
inline namespace POLYKEM_ISA {

/// Working memory of one item.
template <SaberParams P, class Prims>
struct Workspace {
  SecretKey<P.l> own;
  struct {
    Poly s[P.l];      ///< s or s'
    Poly u[P.l + 1];  ///< A^T s in keygen, otherwise A s', v' or b', v
  } poly;
  Poly cm;
  typename Prims::template Space<P.l> space;
  alignas(64) uint8_t stream[P.matrix_bytes()];  ///< bytes of the matrix
  uint8_t noise[1][P.noise_bytes()];
  uint8_t reencrypted_ct[1][P.ciphertext_bytes()];
  fo::Secrets<1, kKeygenCoinBytes> fo;
};

template <SaberParams P, class Prims>
struct Arithmetic : Prims {
  static constexpr size_t kL = P.l;
  using Poly = saber::Poly;
  using Keys = ref::Keys<P, Prims>;

  struct State : ItemState<P, PublicKey<P.l>, SecretKey<P.l>, Workspace<P, Prims>> {
    using State::ItemState::ItemState;
    Poly& cm() { return this->work.cm; }
    ByteRows noise() { return rows_of(this->work.noise); }
    ByteRows reencrypted_ct() { return rows_of(this->work.reencrypted_ct); }
  };

  static void sample_matrix(State& state, ConstByteRows seed) {
    Keys::gen_a(state.work.own.pk.rows, seed.data, true, state.work.stream);
  }
  static void load_pk(State& state) {
    if (!state.expanded()) Keys::load_pk(state.work.own.pk, state.pk_in().data, state.work.stream);
  }
  static void load_sk(State& state) {
    if (!state.expanded()) Keys::load_sk(state.work.own, state.io.sk);
  }
  static void sample_secret(State&, Poly& s, ConstByteRows in) { ref::sample_secret<P.mu>(s, in.data); }

  template <size_t kRows>
  static void multiply(State& state, Poly* out, const Poly* a, const Poly* b) {
    Prims::template multiply<kRows, kL>(out, a, b, state.work.space);
  }
  static void round(Poly& a) {
    for (uint16_t& x : a.c)
      x = static_cast<uint16_t>(static_cast<uint16_t>(x + kH1) >> (kQBits - kPBits));
  }
  static void round_v(State& state, Poly& v) {
    const uint8_t* const m = state.fo().hashed[0];
    for (size_t i = 0; i < kN; ++i) {
      const uint32_t bit = m[i / 8] >> (i % 8) & 1u;
      v.c[i] = static_cast<uint16_t>(((v.c[i] + kH1 - (bit << (kPBits - 1))) & kPMask) >> (kPBits - P.t_bits));
    }
  }
  static void decode_m(State& state) {
    const Poly& v = state.u()[kL];
    Poly& cm = state.cm();
    for (size_t i = 0; i < kN; ++i)
      cm.c[i] = static_cast<uint16_t>(static_cast<uint16_t>(v.c[i] + P.h2() - (cm.c[i] << (kPBits - P.t_bits))) >>
                                      (kPBits - 1));
    ref::pack<1>(state.fo().hashed[0], cm.c);
  }

  /// Prims packs and unpacks 10 and 13 bits; for fewer bits the portable functions are used.
  template <unsigned kBits>
  static void encode(State&, ByteRows out, const Poly& a) {
    if constexpr (kBits >= kPBits) {
      Prims::template pack<kBits>(out.data, a);
    } else {
      ref::pack<kBits>(out.data, a.c);
    }
  }
  template <unsigned kBits>
  static void decode(State&, Poly& a, ConstByteRows in) {
    if constexpr (kBits >= kPBits) {
      Prims::template unpack<kBits>(a, in.data);
    } else {
      ref::unpack<kBits>(a.c, in.data);
    }
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::saber::ref
