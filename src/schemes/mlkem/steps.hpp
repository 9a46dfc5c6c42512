// SPDX-License-Identifier: Apache-2.0
// Every step of kem.hpp, in the standard's order, for any arithmetic. One that fuses or reorders steps has those steps
// in a steps.hpp of its own.
#pragma once

#include "schemes/mlkem/arithmetic.hpp"
#include "schemes/mlkem/keys.hpp"

namespace polykem::mlkem {
inline namespace POLYKEM_ISA {

template <MlkemParams P>
inline constexpr fo::Derivation kDerivation = P.kyber() ? fo::Derivation::kKyber : fo::Derivation::kFips203;

/// The steps that only hash or only read and write keys. Arith is a KeyArithmetic.
template <MlkemParams P, class Arith>
struct KeySteps : fo::Transform<P, Arith, kDerivation<P>> {
  using State = typename Arith::State;
  using Fo = fo::Transform<P, Arith, kDerivation<P>>;
  using Fo::coins, Fo::make_coins, Fo::each;
  static constexpr size_t kK = P.k;

  /// Makes d and z. [FIPS203, Alg 19, L1-2]
  static void make_keygen_coins(State& state) { make_coins(state, kKeygenCoinBytes); }

  /// Computes rho, sigma = G(d, k), or G(d) in round 3. [FIPS203, Alg 13, L1]
  static void hash_d(State& state) {
    auto& t = state.fo();
    each(state, [&](size_t l) {
      std::memcpy(t.hashed[l], coins(state, kKeygenCoinBytes).at(l), kSymBytes);
      t.hashed[l][kSymBytes] = kK;
    });
    Arith::template sha3_512<kSymBytes + (P.kyber() ? 0 : 1)>(rows_of(t.seeds), rows_of(t.hashed), state.count);
    each(state, [&](size_t l) { ct::declassify(t.seeds[l], kSymBytes); });  // rho is a part of pk
  }

  /// Samples A^ from rho. [FIPS203, Alg 13, L3-7]
  static void sample_a(State& state) { Arith::sample_matrix(state, rows_of(state.fo().seeds), false); }

  /// Stores rho in pk, and copies of pk and z in sk; t^ and s^ have been stored. [FIPS203, Alg 13, L19; Alg 16, L3]
  static void store_rho_pk_z(State& state, size_t l) {
    uint8_t *const pk = state.pk_out().at(l), *const sk = state.sk_out().at(l);
    std::memcpy(pk + P.vector_bytes(), state.fo().seeds[l], kSymBytes);
    std::memcpy(sk + P.pk_offset(), pk, P.public_key_bytes());
    std::memcpy(sk + P.z_offset(), coins(state, kKeygenCoinBytes).at(l) + kSymBytes, kSymBytes);
  }

  /// Loads t^ and checks it. [FIPS203, Alg 14, L2-3; 7.2]
  static void load_pk(State& state) { Arith::load_pk(state); }

  /// Samples the transpose of A^ from rho of pk, unless keys are expanded. [FIPS203, Alg 14, L4-8]
  static void sample_a_transposed(State& state) {
    if (!state.expanded()) Arith::sample_matrix(state, state.pk_in(P.vector_bytes()), true);
  }

  /// Stores the shared secrets; the outputs of items whose public key is malformed become zero. [FIPS203, Alg 17, L3]
  static void store_ss(State& state) {
    Fo::store_ss(state);
    refuse_invalid(state, Status::kPublicKey);
  }

  /// For ML-KEM, compares the hash of pk with the one stored in sk. Both are public. [FIPS203, 7.3]
  static void check_sk(State& state) {
    if (state.expanded()) return;
    each(state, [&](size_t l) { ct::declassify(state.pk_in().at(l), P.public_key_bytes() + kSymBytes); });
    if constexpr (!P.kyber()) Fo::hash_pk(state);
    check_hashes(state);
  }
  static void check_hashes(State& state) {
    each(state, [&](size_t l) {
      state.set_valid(l, check_hash<P>(state.own_hashes().at(l), state.sk_in(P.hash_offset()).at(l)));
    });
  }

  /// Stores the shared or the rejection secrets, or zeros for items whose secret key is malformed.
  /// [FIPS203, Alg 18, L9-12]
  static void select(State& state) {
    Fo::select(state);
    refuse_invalid(state, Status::kSecretKey);
  }

 private:
  /// Zeroes the outputs of each item whose key is malformed, and sets its status. Whether a key is malformed is public.
  static void refuse_invalid(State& state, Status status) {
    if constexpr (P.kyber()) return;
    each(state, [&](size_t l) {
      if (state.valid(l)) return;
      state.io.item_status[l] = status;
      if (!state.decapsulates()) std::memset(state.ct_out().at(l), 0, P.ciphertext_bytes());
      std::memset(state.ss_out().at(l), 0, kSymBytes);
    });
  }
};

/// The steps of K-PKE [FIPS203, 5], besides those of KeySteps. Arith is an Arithmetic.
template <MlkemParams P, class Arith>
struct Steps : KeySteps<P, Arith> {
  using State = typename Arith::State;
  static constexpr size_t kK = P.k;
  static constexpr size_t kUBytes = kN * P.du / 8;  ///< bytes of a polynomial of u in the ciphertext

  // ---- K-PKE.KeyGen

  /// Samples s and e. [FIPS203, Alg 13, L8-15]
  static void sample_se(State& state) { Arith::template sample_noise<P.eta1, kK>(state); }

  /// Transforms s and e. [FIPS203, Alg 13, L16-17]
  static void ntt_se(State& state) {
    for (size_t i = 0; i < kK; ++i) {
      Arith::ntt(state.s()[i]);
      Arith::ntt(state.e()[i]);
    }
  }

  /// Computes t^ = A^ s^ + e^. [FIPS203, Alg 13, L18]
  static void mul_as(State& state) {
    Arith::template multiply<kK>(state.u(), state.own_matrix(), state.s());
    for (size_t i = 0; i < kK; ++i)
      Arith::add_to_product(state.u()[i], state.e()[i]);
  }

  /// Stores both keys, except for H(pk). [FIPS203, Alg 13, L19-20]
  static void store_keys(State& state) {
    for (size_t i = 0; i < kK; ++i) {
      Arith::canonical(state.s()[i]);
      Arith::template byte_encode<12>(state, state.sk_out(i * kPolyBytes), state.s()[i]);
      Arith::template byte_encode<12>(state, state.pk_out(i * kPolyBytes), state.u()[i]);
    }
    Steps::each(state, [&](size_t l) { Steps::store_rho_pk_z(state, l); });
  }

  // ---- K-PKE.Encrypt

  /// Samples y, e1 and e2. [FIPS203, Alg 14, L9-17]
  static void sample_noise(State& state) { Arith::template sample_noise<P.kEta2, kK + 1>(state); }

  /// Transforms y. [FIPS203, Alg 14, L18]
  static void ntt_y(State& state) {
    for (size_t i = 0; i < kK; ++i)
      Arith::ntt(state.s()[i]);
  }

  /// Computes A^T y^ and t^T y^ at once, since t^ follows A^T in memory. [FIPS203, Alg 14, L19, L21]
  static void mul_ay(State& state) { Arith::template multiply<kK + 1>(state.u(), state.matrix(), state.s()); }

  /// Transforms A^T y^ and t^T y^ back. [FIPS203, Alg 14, L19, L21]
  static void inverse_uv(State& state) {
    for (size_t i = 0; i <= kK; ++i)
      Arith::inverse_ntt(state.u()[i]);
  }

  /// Adds e1, e2 and the message, which gives u and v. [FIPS203, Alg 14, L19-21]
  static void add_noise(State& state) {
    for (size_t i = 0; i <= kK; ++i)
      Arith::add(state.u()[i], state.e()[i]);
    Arith::add_message(state, state.u()[kK]);
  }

  /// Compresses and encodes u and v. [FIPS203, Alg 14, L22-23]
  static void store_c(State& state) { store_uv(state, state.ct_out()); }

  // ---- K-PKE.Decrypt

  /// Loads u and v from c, and s^, t^ and z from sk. [FIPS203, Alg 15, L1-5]
  static void load_c_sk(State& state) {
    const ConstByteRows ct = state.ct_in();
    for (size_t i = 0; i < kK; ++i)
      Arith::template decompress<P.du>(state, state.u()[i], {ct.data + i * kUBytes, ct.stride});
    Arith::template decompress<P.dv>(state, state.u()[kK], {ct.data + P.u_bytes(), ct.stride});
    Arith::load_sk(state);
  }

  /// Transforms u. [FIPS203, Alg 15, L6]
  static void ntt_u(State& state) {
    for (size_t i = 0; i < kK; ++i)
      Arith::ntt(state.u()[i]);
  }
  /// Computes s^T u^. [FIPS203, Alg 15, L6]
  static void mul_su(State& state) { Arith::template multiply<1>(&state.w(), state.secret(), state.u()); }
  /// Transforms s^T u^ back. [FIPS203, Alg 15, L6]
  static void inverse_su(State& state) { Arith::inverse_ntt(state.w()); }

  /// Computes m from v - s^T u. [FIPS203, Alg 15, L6-7]
  static void decode_m(State& state) { Arith::store_message(state, state.u()[kK], state.w()); }

  /// Encodes the second encryption and compares it with c. [FIPS203, Alg 18, L8-9]
  static void compare_c(State& state) {
    store_uv(state, state.reencrypted_ct());
    Steps::compare(state, state.reencrypted_ct());
  }

 private:
  static void store_uv(State& state, ByteRows out) {
    for (size_t i = 0; i < kK; ++i)
      Arith::template compress<P.du>(state, {out.data + i * kUBytes, out.stride}, state.u()[i]);
    Arith::template compress<P.dv>(state, {out.data + P.u_bytes(), out.stride}, state.u()[kK]);
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem
