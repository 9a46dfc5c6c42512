// SPDX-License-Identifier: Apache-2.0
// Every step of kem.hpp, in the specification's order, for any layout.
#pragma once

#include "schemes/saber/layout.hpp"

namespace polykem::saber {
inline namespace POLYKEM_ISA {

template <SaberParams P, class L>
struct Steps : fo::Transform<P, L, fo::Derivation::kSaber> {
  using Chunk = typename L::Chunk;
  using Fo = fo::Transform<P, L, fo::Derivation::kSaber>;
  using Fo::coins, Fo::each;
  static constexpr size_t kL = P.l;

  // ---- Saber.PKE.KeyGen

  /// Makes the seeds of A and s, and z. [SABER20, Saber.KEM.KeyGen]
  static void make_keygen_coins(Chunk& c) { Fo::make_coins(c, kKeygenCoinBytes); }

  /// Makes the seed of A that is published: a hash of the seed among the coins, so that it does not reveal the
  /// generator's output.
  static void hash_seed(Chunk& c) {
    auto& seeds = c.fo().seeds;
    const ConstByteRows random = coins(c, kKeygenCoinBytes);
    L::template shake128<kSymBytes>(rows_of(seeds), random, c.count);
    each(c, [&](size_t l) {
      ct::declassify(seeds[l], kSymBytes);
      std::memcpy(seeds[l] + kSymBytes, random.at(l) + kSymBytes, kSymBytes);
    });
  }

  /// Makes A of the new key from its seed. [SABER20, GenMatrix]
  static void gen_a_transposed(Chunk& c) { L::sample_matrix(c, rows_of(c.fo().seeds)); }

  /// Samples s or s'. [SABER20, GenSecret]
  static void gen_s(Chunk& c) {
    const ByteRows noise = c.noise();
    L::template shake128<P.noise_bytes()>(noise, rows_of(c.fo().seeds, kSymBytes), c.count);
    for (size_t i = 0; i < kL; ++i)
      L::sample_secret(c, c.s()[i], {noise.data + i * (kN * P.mu / 8), noise.stride});
  }

  /// Computes A^T s. [SABER20, MatrixVectorMul]
  static void mul_as(Chunk& c) { L::template multiply<kL>(c, c.u(), c.own_matrix(), c.s()); }

  /// Stores b, then the other parts of both keys. [SABER20, POLVECp2BS, POLVECq2BS]
  static void store_keys(Chunk& c) {
    store_rounded(c, c.pk_out());
    for (size_t i = 0; i < kL; ++i)
      L::template encode<kQBits>(c, c.sk_out(i * kPolyQBytes), c.s()[i]);
    each(c, [&](size_t l) {
      uint8_t *const pk = c.pk_out().at(l), *const sk = c.sk_out().at(l);
      std::memcpy(pk + P.vector_bytes(), c.fo().seeds[l], kSymBytes);
      std::memcpy(sk + P.pk_offset(), pk, P.public_key_bytes());
      std::memcpy(sk + P.z_offset(), coins(c, kKeygenCoinBytes).at(l) + 2 * kSymBytes, kSymBytes);
    });
  }

  // ---- Saber.PKE.Enc

  /// Makes A and loads b. [SABER20, GenMatrix, BS2POLVECp]
  static void gen_a(Chunk& c) { L::load_pk(c); }

  /// Computes A s' and v' = b^T s'. [SABER20, MatrixVectorMul, InnerProd]
  static void mul_abs(Chunk& c) { L::template multiply<kL + 1>(c, c.u(), c.matrix(), c.s()); }

  static void store_c(Chunk& c) { store_ct(c, c.ct_out()); }

  // ---- Saber.PKE.Dec

  /// Loads b' and c_m from c, and s and z from sk. [SABER20, BS2POLVECp, BS2POLVECq]
  static void load_c_sk(Chunk& c) {
    for (size_t i = 0; i < kL; ++i)
      L::template decode<kPBits>(c, c.u()[i], c.ct_in(i * kPolyPBytes));
    L::template decode<P.t_bits>(c, c.cm(), c.ct_in(P.vector_bytes()));
    L::load_sk(c);
  }

  /// Computes v = b'^T s. [SABER20, InnerProd]
  static void mul_bs(Chunk& c) { L::template multiply<1>(c, c.u() + kL, c.secret(), c.u()); }

  static void decode_m(Chunk& c) { L::decode_m(c); }

  /// Packs the second encryption and compares it with c. [SABER20, Verify]
  static void compare_c(Chunk& c) {
    store_ct(c, c.reencrypted_ct());
    Fo::compare(c, c.reencrypted_ct());
  }

 private:
  /// Rounds the vector in u() and stores it. [SABER20, 2.3]
  static void store_rounded(Chunk& c, ByteRows out) {
    for (size_t i = 0; i < kL; ++i) {
      L::round(c.u()[i]);
      L::template encode<kPBits>(c, {out.data + i * kPolyPBytes, out.stride}, c.u()[i]);
    }
  }

  /// Computes c = (b', c_m) from A s', v' and m, and stores it. [SABER20, Saber.PKE.Enc]
  static void store_ct(Chunk& c, ByteRows out) {
    store_rounded(c, out);
    L::round_v(c, c.u()[kL]);
    L::template encode<P.t_bits>(c, {out.data + P.vector_bytes(), out.stride}, c.u()[kL]);
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::saber
