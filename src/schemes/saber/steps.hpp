// SPDX-License-Identifier: Apache-2.0
// Every step of kem.hpp, in the specification's order, for any arithmetic.
#pragma once

#include "schemes/saber/arithmetic.hpp"

namespace polykem::saber {
inline namespace POLYKEM_ISA {

template <SaberParams P, class Arith>
struct Steps : fo::Transform<P, Arith, fo::Derivation::kSaber> {
  using State = typename Arith::State;
  using Fo = fo::Transform<P, Arith, fo::Derivation::kSaber>;
  using Fo::coins, Fo::each;
  static constexpr size_t kL = P.l;

  // ---- Saber.PKE.KeyGen

  /// Makes the seeds of A and s, and z. [SABER20, Saber.KEM.KeyGen]
  static void make_keygen_coins(State& state) { Fo::make_coins(state, kKeygenCoinBytes); }

  /// Makes the seed of A that is published: a hash of the seed among the coins, so that it does not reveal the
  /// generator's output.
  static void hash_seed(State& state) {
    auto& seeds = state.fo().seeds;
    const ConstByteRows random = coins(state, kKeygenCoinBytes);
    Arith::template shake128<kSymBytes>(rows_of(seeds), random, state.count);
    each(state, [&](size_t l) {
      ct::declassify(seeds[l], kSymBytes);
      std::memcpy(seeds[l] + kSymBytes, random.at(l) + kSymBytes, kSymBytes);
    });
  }

  /// Makes A of the new key from its seed. [SABER20, GenMatrix]
  static void gen_a_transposed(State& state) { Arith::sample_matrix(state, rows_of(state.fo().seeds)); }

  /// Samples s or s'. [SABER20, GenSecret]
  static void gen_s(State& state) {
    const ByteRows noise = state.noise();
    Arith::template shake128<P.noise_bytes()>(noise, rows_of(state.fo().seeds, kSymBytes), state.count);
    for (size_t i = 0; i < kL; ++i)
      Arith::sample_secret(state, state.s()[i], {noise.data + i * (kN * P.mu / 8), noise.stride});
  }

  /// Computes A^T s. [SABER20, MatrixVectorMul]
  static void mul_as(State& state) { Arith::template multiply<kL>(state, state.u(), state.own_matrix(), state.s()); }

  /// Stores b, then the other parts of both keys. [SABER20, POLVECp2BS, POLVECq2BS]
  static void store_keys(State& state) {
    store_rounded(state, state.pk_out());
    for (size_t i = 0; i < kL; ++i)
      Arith::template encode<kQBits>(state, state.sk_out(i * kPolyQBytes), state.s()[i]);
    each(state, [&](size_t l) {
      uint8_t *const pk = state.pk_out().at(l), *const sk = state.sk_out().at(l);
      std::memcpy(pk + P.vector_bytes(), state.fo().seeds[l], kSymBytes);
      std::memcpy(sk + P.pk_offset(), pk, P.public_key_bytes());
      std::memcpy(sk + P.z_offset(), coins(state, kKeygenCoinBytes).at(l) + 2 * kSymBytes, kSymBytes);
    });
  }

  // ---- Saber.PKE.Enc

  /// Makes A and loads b. [SABER20, GenMatrix, BS2POLVECp]
  static void gen_a(State& state) { Arith::load_pk(state); }

  /// Computes A s' and v' = b^T s'. [SABER20, MatrixVectorMul, InnerProd]
  static void mul_abs(State& state) { Arith::template multiply<kL + 1>(state, state.u(), state.matrix(), state.s()); }

  static void store_c(State& state) { store_ct(state, state.ct_out()); }

  // ---- Saber.PKE.Dec

  /// Loads b' and c_m from c, and s and z from sk. [SABER20, BS2POLVECp, BS2POLVECq]
  static void load_c_sk(State& state) {
    for (size_t i = 0; i < kL; ++i)
      Arith::template decode<kPBits>(state, state.u()[i], state.ct_in(i * kPolyPBytes));
    Arith::template decode<P.t_bits>(state, state.cm(), state.ct_in(P.vector_bytes()));
    Arith::load_sk(state);
  }

  /// Computes v = b'^T s. [SABER20, InnerProd]
  static void mul_bs(State& state) { Arith::template multiply<1>(state, state.u() + kL, state.secret(), state.u()); }

  static void decode_m(State& state) { Arith::decode_m(state); }

  /// Packs the second encryption and compares it with c. [SABER20, Verify]
  static void compare_c(State& state) {
    store_ct(state, state.reencrypted_ct());
    Fo::compare(state, state.reencrypted_ct());
  }

 private:
  /// Rounds the vector in u() and stores it. [SABER20, 2.3]
  static void store_rounded(State& state, ByteRows out) {
    for (size_t i = 0; i < kL; ++i) {
      Arith::round(state.u()[i]);
      Arith::template encode<kPBits>(state, {out.data + i * kPolyPBytes, out.stride}, state.u()[i]);
    }
  }

  /// Computes c = (b', c_m) from A s', v' and m, and stores it. [SABER20, Saber.PKE.Enc]
  static void store_ct(State& state, ByteRows out) {
    store_rounded(state, out);
    Arith::round_v(state, state.u()[kL]);
    Arith::template encode<P.t_bits>(state, {out.data + P.vector_bytes(), out.stride}, state.u()[kL]);
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::saber
