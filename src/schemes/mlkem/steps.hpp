// SPDX-License-Identifier: Apache-2.0
// Every step of kem.hpp, in the standard's order, for any layout. A layout that fuses or reorders steps has those steps
// in an ops.hpp of its own.
#pragma once

#include "schemes/mlkem/keys.hpp"
#include "schemes/mlkem/layout.hpp"

namespace polykem::mlkem {
inline namespace POLYKEM_ISA {

template <MlkemParams P>
inline constexpr fo::Derivation kDerivation = P.kyber() ? fo::Derivation::kKyber : fo::Derivation::kFips203;

/// The steps that only hash, and those that deal with keys. L is a KeyLayout.
template <MlkemParams P, class L>
struct KeySteps : fo::Transform<P, L, kDerivation<P>> {
  using Chunk = typename L::Chunk;
  using Fo = fo::Transform<P, L, kDerivation<P>>;
  using Fo::coins, Fo::make_coins, Fo::each;
  static constexpr size_t kK = P.k;

  /// Makes d and z. [FIPS203, Alg 19, L1-2]
  static void make_keygen_coins(Chunk& c) { make_coins(c, kKeygenCoinBytes); }

  /// Computes rho, sigma = G(d, k), or G(d) in round 3. [FIPS203, Alg 13, L1]
  static void hash_d(Chunk& c) {
    auto& t = c.fo();
    each(c, [&](size_t l) {
      std::memcpy(t.hashed[l], coins(c, kKeygenCoinBytes).at(l), kSymBytes);
      t.hashed[l][kSymBytes] = kK;
    });
    L::template sha3_512<kSymBytes + (P.kyber() ? 0 : 1)>(rows_of(t.seeds), rows_of(t.hashed), c.count);
    each(c, [&](size_t l) { ct::declassify(t.seeds[l], kSymBytes); });  // rho is a part of pk
  }

  /// Samples A^ from rho. [FIPS203, Alg 13, L3-7]
  static void sample_a(Chunk& c) { L::sample_matrix(c, rows_of(c.fo().seeds), false); }

  /// Stores rho in pk, and copies of pk and z in sk; t^ and s^ have been stored. [FIPS203, Alg 13, L19; Alg 16, L3]
  static void store_rho_pk_z(Chunk& c, size_t l) {
    uint8_t *const pk = c.pk_out().at(l), *const sk = c.sk_out().at(l);
    std::memcpy(pk + P.vector_bytes(), c.fo().seeds[l], kSymBytes);
    std::memcpy(sk + P.pk_offset(), pk, P.public_key_bytes());
    std::memcpy(sk + P.z_offset(), coins(c, kKeygenCoinBytes).at(l) + kSymBytes, kSymBytes);
  }

  /// Loads t^ and checks it. [FIPS203, Alg 14, L2-3; 7.2]
  static void load_pk(Chunk& c) { L::load_pk(c); }

  /// Samples the transpose of A^ from rho of pk, unless keys are expanded. [FIPS203, Alg 14, L4-8]
  static void sample_a_transposed(Chunk& c) {
    if (!c.expanded()) L::sample_matrix(c, c.pk_in(P.vector_bytes()), true);
  }

  /// Stores the shared secrets; the outputs of items whose public key is malformed become zero. [FIPS203, Alg 17, L3]
  static void store_ss(Chunk& c) {
    Fo::store_ss(c);
    refuse_invalid(c, Status::kPublicKey);
  }

  /// For ML-KEM, compares the hash of pk with the one stored in sk. Both are public. [FIPS203, 7.3]
  static void check_sk(Chunk& c) {
    if (c.expanded()) return;
    each(c, [&](size_t l) { ct::declassify(c.pk_in().at(l), P.public_key_bytes() + kSymBytes); });
    if constexpr (!P.kyber()) Fo::hash_pk(c);
    check_hashes(c);
  }
  static void check_hashes(Chunk& c) {
    each(c, [&](size_t l) { c.set_valid(l, check_hash<P>(c.own_hashes().at(l), c.sk_in(P.hash_offset()).at(l))); });
  }

  /// Stores the shared or the rejection secrets, or zeros for items whose secret key is malformed.
  /// [FIPS203, Alg 18, L9-12]
  static void select(Chunk& c) {
    Fo::select(c);
    refuse_invalid(c, Status::kSecretKey);
  }

 private:
  /// Zeroes the outputs of each item whose key is malformed, and sets its status. Whether a key is malformed is public.
  static void refuse_invalid(Chunk& c, Status status) {
    if constexpr (P.kyber()) return;
    each(c, [&](size_t l) {
      if (c.valid(l)) return;
      c.io.item_status[l] = status;
      if (!c.decapsulates()) std::memset(c.ct_out().at(l), 0, P.ciphertext_bytes());
      std::memset(c.ss_out().at(l), 0, kSymBytes);
    });
  }
};

/// The steps of K-PKE [FIPS203, 5], besides those of KeySteps. L is a Layout.
template <MlkemParams P, class L>
struct Steps : KeySteps<P, L> {
  using Chunk = typename L::Chunk;
  static constexpr size_t kK = P.k;
  static constexpr size_t kUBytes = kN * P.du / 8;  ///< bytes of a polynomial of u in the ciphertext

  // ---- K-PKE.KeyGen

  /// Samples s and e. [FIPS203, Alg 13, L8-15]
  static void sample_se(Chunk& c) { L::template sample_noise<P.eta1, kK>(c); }

  /// Transforms s and e. [FIPS203, Alg 13, L16-17]
  static void ntt_se(Chunk& c) {
    for (size_t i = 0; i < kK; ++i) {
      L::ntt(c.s()[i]);
      L::ntt(c.e()[i]);
    }
  }

  /// Computes t^ = A^ s^ + e^. [FIPS203, Alg 13, L18]
  static void mul_as(Chunk& c) {
    L::template multiply<kK>(c.u(), c.own_matrix(), c.s());
    for (size_t i = 0; i < kK; ++i)
      L::add_to_product(c.u()[i], c.e()[i]);
  }

  /// Stores both keys, except for H(pk). [FIPS203, Alg 13, L19-20]
  static void store_keys(Chunk& c) {
    for (size_t i = 0; i < kK; ++i) {
      L::canonical(c.s()[i]);
      L::template byte_encode<12>(c, c.sk_out(i * kPolyBytes), c.s()[i]);
      L::template byte_encode<12>(c, c.pk_out(i * kPolyBytes), c.u()[i]);
    }
    Steps::each(c, [&](size_t l) { Steps::store_rho_pk_z(c, l); });
  }

  // ---- K-PKE.Encrypt

  /// Samples y, e1 and e2. [FIPS203, Alg 14, L9-17]
  static void sample_noise(Chunk& c) { L::template sample_noise<P.kEta2, kK + 1>(c); }

  /// Transforms y. [FIPS203, Alg 14, L18]
  static void ntt_y(Chunk& c) {
    for (size_t i = 0; i < kK; ++i)
      L::ntt(c.s()[i]);
  }

  /// Computes A^T y^ and t^T y^ at once, since t^ follows A^T in memory. [FIPS203, Alg 14, L19, L21]
  static void mul_ay(Chunk& c) { L::template multiply<kK + 1>(c.u(), c.matrix(), c.s()); }

  /// Transforms A^T y^ and t^T y^ back. [FIPS203, Alg 14, L19, L21]
  static void inverse_uv(Chunk& c) {
    for (size_t i = 0; i <= kK; ++i)
      L::inverse_ntt(c.u()[i]);
  }

  /// Adds e1, e2 and the message, which gives u and v. [FIPS203, Alg 14, L19-21]
  static void add_noise(Chunk& c) {
    for (size_t i = 0; i <= kK; ++i)
      L::add(c.u()[i], c.e()[i]);
    L::add_message(c, c.u()[kK]);
  }

  /// Compresses and encodes u and v. [FIPS203, Alg 14, L22-23]
  static void store_c(Chunk& c) { store_uv(c, c.ct_out()); }

  // ---- K-PKE.Decrypt

  /// Loads u and v from c, and s^, t^ and z from sk. [FIPS203, Alg 15, L1-5]
  static void load_c_sk(Chunk& c) {
    const ConstByteRows ct = c.ct_in();
    for (size_t i = 0; i < kK; ++i)
      L::template decompress<P.du>(c, c.u()[i], {ct.data + i * kUBytes, ct.stride});
    L::template decompress<P.dv>(c, c.u()[kK], {ct.data + P.u_bytes(), ct.stride});
    L::load_sk(c);
  }

  /// Transforms u. [FIPS203, Alg 15, L6]
  static void ntt_u(Chunk& c) {
    for (size_t i = 0; i < kK; ++i)
      L::ntt(c.u()[i]);
  }
  /// Computes s^T u^. [FIPS203, Alg 15, L6]
  static void mul_su(Chunk& c) { L::template multiply<1>(&c.w(), c.secret(), c.u()); }
  /// Transforms s^T u^ back. [FIPS203, Alg 15, L6]
  static void inverse_su(Chunk& c) { L::inverse_ntt(c.w()); }

  /// Computes m from v - s^T u. [FIPS203, Alg 15, L6-7]
  static void decode_m(Chunk& c) { L::store_message(c, c.u()[kK], c.w()); }

  /// Encodes the second encryption and compares it with c. [FIPS203, Alg 18, L8-9]
  static void compare_c(Chunk& c) {
    store_uv(c, c.reencrypted_ct());
    Steps::compare(c, c.reencrypted_ct());
  }

 private:
  static void store_uv(Chunk& c, ByteRows out) {
    for (size_t i = 0; i < kK; ++i)
      L::template compress<P.du>(c, {out.data + i * kUBytes, out.stride}, c.u()[i]);
    L::template compress<P.dv>(c, {out.data + P.u_bytes(), out.stride}, c.u()[kK]);
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem
