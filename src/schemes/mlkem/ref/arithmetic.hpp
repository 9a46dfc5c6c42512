// SPDX-License-Identifier: Apache-2.0
// The portable arithmetic: it computes one item at a time, and polynomials are always canonical.
#pragma once

#include "prim/keccak/row_hashes.hpp"
#include "schemes/mlkem/ref/pack.hpp"
#include "schemes/mlkem/ref/sample.hpp"
#include "schemes/mlkem/single_item_state.hpp"
#include "schemes/mlkem/steps.hpp"

namespace polykem::mlkem::ref {
inline namespace POLYKEM_ISA {

/// Working memory of one item.
template <Dims D>
struct Workspace {
  SecretKey<D.k> own;
  Polys<D> poly;
  fo::Secrets<1, kKeygenCoinBytes> fo;
  uint8_t joined[1][kSymBytes + D.ciphertext_bytes()];
  ByteRows z_and_c() { return rows_of(joined); }
};

template <MlkemParams P>
struct Arithmetic : PortableHashes {
  static constexpr Dims kDims = P;
  static constexpr size_t kK = P.k;
  using Poly = mlkem::Poly;
  using State = SingleItemState<P, Workspace<kDims>>;

  static void sample_matrix(State& state, ConstByteRows rho, bool transposed) {
    sample_a(state.work.own.pk, rho.data, transposed);
  }
  static void load_pk(State& state) {
    if (!state.expanded()) load_pk(state.work.own.pk, state.io.pk);
  }
  static void load_sk(State& state) {
    if (!state.expanded()) load_sk(state.work.own, state.io.sk);
  }

  template <unsigned kEta, size_t kOthers>
  static void sample_noise(State& state) {
    for (size_t n = 0; n < kK; ++n)
      sample_poly<P.eta1>(state.s()[n], state.fo().seeds[0] + kSymBytes, n);
    for (size_t n = 0; n < kOthers; ++n)
      sample_poly<kEta>(state.e()[n], state.fo().seeds[0] + kSymBytes, kK + n);
  }

  static void ntt(Poly& a) { polykem::ntt::forward(a.c); }
  static void inverse_ntt(Poly& a) { polykem::ntt::inverse(a.c); }
  static void canonical(Poly&) {}
  template <size_t kRows>
  static void multiply(Poly* out, const Poly* a, const Poly* b) {
    for (size_t i = 0; i < kRows; ++i)
      polykem::ntt::multiply(out[i].c, a[i * kK].c, b->c, kK);
  }
  static void add_to_product(Poly& a, const Poly& b) { poly_add(a, b); }
  static void add(Poly& a, const Poly& b) { poly_add(a, b); }
  static void add_message(State& state, Poly& v) {
    poly_decompress<1>(state.w(), state.fo().hashed[0]);
    poly_add(v, state.w());
  }
  static void store_message(State& state, Poly& v, const Poly& w) {
    poly_sub(v, v, w);
    poly_compress<1>(state.fo().hashed[0], v);
  }

  template <unsigned kBits>
  static void byte_encode(State&, ByteRows out, const Poly& a) {
    poly_byte_encode(out.data, a);
  }
  template <unsigned kBits>
  static void compress(State&, ByteRows out, const Poly& a) {
    poly_compress<kBits>(out.data, a);
  }
  template <unsigned kBits>
  static void decompress(State&, Poly& a, ConstByteRows in) {
    poly_decompress<kBits>(a, in.data);
  }

  // ---- For Keys

  struct KeySpace {};
  static void hash_sample_a(PublicKey<kK>& key, const uint8_t* pk, KeySpace&) {
    polykem::sha3_256(key.hash, {pk, P.public_key_bytes()});
    sample_a(key, pk + P.vector_bytes(), true);
  }
  static void load_pk(PublicKey<kK>& key, const uint8_t* pk) {
    uint32_t too_large = 0;
    for (size_t i = 0; i < kK; ++i)
      too_large |= poly_byte_decode(key.t()[i], pk + i * kPolyBytes);
    key.valid = P.kyber() || too_large == 0;
  }
  static void load_sk(SecretKey<kK>& key, const uint8_t* sk) {
    for (size_t i = 0; i < kK; ++i)
      poly_byte_decode(key.s[i], sk + i * kPolyBytes);
    std::memcpy(key.z, sk + P.z_offset(), kSymBytes);
    load_pk(key.pk, sk + P.pk_offset());
  }

 private:
  static void sample_a(PublicKey<kK>& key, const uint8_t* rho, bool transposed) {
    for (size_t i = 0; i < kK; ++i) {
      for (size_t j = 0; j < kK; ++j)
        sample_ntt(key.rows[i * kK + j], rho, transposed ? i : j, transposed ? j : i);
    }
  }

  /// Samples a polynomial by SamplePolyCBD from SHAKE256(seed, nonce). [FIPS203, 4.1, PRF; Alg 8]
  template <unsigned kEta>
  static void sample_poly(Poly& a, const uint8_t* seed, size_t nonce) {
    const auto last = static_cast<uint8_t>(nonce);
    uint8_t bytes[64 * kEta];
    Shake prf(Shake::Strength::kShake256);
    prf.absorb({seed, kSymBytes});
    prf.absorb({&last, 1});
    prf.squeeze(bytes);
    sample_poly_cbd<kEta>(a, bytes);
    zeroize(bytes, sizeof bytes);
  }
};
static_assert(mlkem::Arithmetic<Arithmetic<kMlkem768>>);

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem::ref
