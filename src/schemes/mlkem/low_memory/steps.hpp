// SPDX-License-Identifier: Apache-2.0
// ML-KEM in little memory: it computes one item, one row of A at a time, and e and the ciphertext one polynomial at a
// time. A step therefore covers several stages. `Prims` are the primitives of portable_prims.hpp or of
// cortex_m4/prims_m4.hpp.
#pragma once

#include <cstring>

#include "core/arena.hpp"
#include "core/operations.hpp"
#include "ct/ct.hpp"
#include "prim/keccak/keccak.hpp"
#include "schemes/mlkem/stages.hpp"
#include "schemes/mlkem/types.hpp"

namespace polykem::mlkem::low_memory {
inline namespace POLYKEM_ISA {

/// The working memory of one item.
template <Dims D, class Prims>
struct Workspace {
  Poly vector[D.k];  ///< the transform of s, y or u
  Poly row[D.k];     ///< a row of A, or another vector to multiply by; then row[0] is the product and row[1] is free
  uint16_t room[Prims::kSampleRoom + 2];
  typename Prims::Factors factors[D.k];
  uint8_t inputs[2 * kSymBytes];  ///< d, z; or m, H(pk)
  uint8_t seeds[2 * kSymBytes];   ///< rho, sigma; or K, r
  uint8_t rejected[kSymBytes];
  uint32_t differences;  ///< 0 if the ciphertexts are equal; in encaps, if pk is well-formed

  uint8_t* m() { return inputs; }
  uint8_t* hash() { return inputs + kSymBytes; }
};

/// One item with its records.
template <MlkemParams P, class Prims>
struct State {
  static constexpr Dims kDims = P;
  static constexpr size_t workspace_bytes() { return Arena::bytes<Workspace<kDims, Prims>>(1); }

  State(const Batch& batch, std::byte* workspace)
      : io(batch), work(*Arena(workspace).take<Workspace<kDims, Prims>>(1)) {}

  const Batch& io;
  Workspace<kDims, Prims>& work;
};

template <MlkemParams P, class Prims>
struct Steps {
  static_assert(!P.kyber());
  static constexpr Dims kDims = P;
  static constexpr size_t kK = P.k;
  using State = low_memory::State<P, Prims>;
  using Workspace = low_memory::Workspace<kDims, Prims>;

  /// Returns the PRF's bytes for one polynomial, which it writes to the end of row[1]. The polynomial may be sampled
  /// into row[1] itself, since each byte is read before it is overwritten. This is not inlined, so that its sponge is
  /// not on the stack while a row of A is sampled.
  template <unsigned kEta>
  [[gnu::noinline]] static const uint8_t* prf(Workspace& w, const uint8_t* seed, size_t nonce) {
    uint8_t* out = reinterpret_cast<uint8_t*>(w.row[1].c + kN) - 64 * kEta;
    const auto last = static_cast<uint8_t>(nonce);
    Shake shake(Shake::Strength::kShake256);
    shake.absorb({seed, kSymBytes});
    shake.absorb({&last, 1});
    shake.squeeze({out, 64 * kEta});
    return out;
  }

  /// Samples kK polynomials and stores their transforms in `vector`.
  static void sample_vector(Workspace& w, const uint8_t* seed) {
    for (size_t i = 0; i < kK; ++i) {
      Prims::template sample_poly_cbd<P.eta1>(w.vector[i], prf<P.eta1>(w, seed, i));
      transform(w, i);
    }
  }
  static void transform(Workspace& w, size_t i) {
    Prims::ntt(w.vector[i]);
    Prims::prepare(w.factors[i], w.vector[i]);
  }

  /// Computes row[0] = row i of A, or of its transpose, times `vector`.
  static void multiply_row(Workspace& w, const uint8_t* rho, size_t i, bool transposed) {
    for (size_t j = 0; j < kK; ++j)
      Prims::sample_ntt(w.row[j], rho, transposed ? i : j, transposed ? j : i);
    multiply(w);
  }
  static void multiply(Workspace& w) { Prims::template multiply<kK>(w.row, w.vector, w.factors); }

  // ---- keygen

  static void hash_d(State& state) {
    const uint8_t k = kK;
    sha3_512(state.work.seeds, {state.work.inputs, kSymBytes}, {&k, 1});
  }

  static void make_keys(State& state) {
    Workspace& w = state.work;
    const uint8_t* sigma = w.seeds + kSymBytes;
    sample_vector(w, sigma);
    for (size_t i = 0; i < kK; ++i)
      Prims::byte_encode(state.io.sk_out + i * kPolyBytes, w.vector[i]);
    for (size_t i = 0; i < kK; ++i) {
      multiply_row(w, w.seeds, i, false);
      Prims::template sample_poly_cbd<P.eta1>(w.row[1], prf<P.eta1>(w, sigma, kK + i));
      Prims::ntt(w.row[1]);
      Prims::add(w.row[0], w.row[1]);
      Prims::byte_encode(state.io.pk_out + i * kPolyBytes, w.row[0]);
    }
    std::memcpy(state.io.pk_out + P.vector_bytes(), w.seeds, kSymBytes);
    std::memcpy(state.io.sk_out + P.pk_offset(), state.io.pk_out, P.public_key_bytes());
    std::memcpy(state.io.sk_out + P.z_offset(), w.inputs + kSymBytes, kSymBytes);
  }

  static void hash_new_pk(State& state) {
    sha3_256(state.io.sk_out + P.hash_offset(), {state.io.pk_out, P.public_key_bytes()});
  }

  // ---- encaps

  static void hash_pk(State& state) { sha3_256(state.work.hash(), {state.io.pk, P.public_key_bytes()}); }

  static void hash_m(State& state) {
    sha3_512(state.work.seeds, {state.work.m(), kSymBytes}, {state.work.hash(), kSymBytes});
  }

  /// Encrypts m under pk with the randomness r. Calls use(bits, polynomial, offset) for each polynomial of the
  /// ciphertext, which is to be compressed to `bits` bits per coefficient and begins at byte `offset`. Returns 0 if all
  /// coefficients of t^ are below q. [FIPS203, Alg 14]
  template <class Use>
  static uint32_t encrypt(Workspace& w, const uint8_t* pk, Use&& use) {
    const uint8_t* r = w.seeds + kSymBytes;
    sample_vector(w, r);
    for (size_t i = 0; i < kK; ++i) {
      multiply_row(w, pk + P.vector_bytes(), i, true);
      finish(w, r, kK + i);
      use(std::integral_constant<unsigned, P.du>(), w.row[0], i * kN * P.du / 8);
    }
    uint32_t too_large = 0;
    for (size_t i = 0; i < kK; ++i)
      too_large |= Prims::byte_decode(w.row[i], pk + i * kPolyBytes);
    multiply(w);
    finish(w, r, 2 * kK);
    Prims::add_message(w.row[0], w.m(), w.row[1]);
    use(std::integral_constant<unsigned, P.dv>(), w.row[0], P.u_bytes());
    return too_large;
  }
  /// Transforms row[0] back and adds the noise of that nonce.
  static void finish(Workspace& w, const uint8_t* r, size_t nonce) {
    Prims::inverse_ntt(w.row[0]);
    Prims::add_cbd2(w.row[0], prf<P.kEta2>(w, r, nonce), w.row[1]);
  }

  static void encrypt_m(State& state) {
    Workspace& w = state.work;
    w.differences = encrypt(w, state.io.pk, [&](auto bits, const Poly& a, size_t at) {
      Prims::template compress<bits>(state.io.ct_out + at, a);
    });
  }

  static void store_ss(State& state) {
    std::memcpy(state.io.ss_out, state.work.seeds, kSymBytes);
    if (state.work.differences != 0) state.io.item_status[0] = Status::kPublicKey;
  }

  // ---- decaps

  /// Compares the hash of pk with the stored one. The hash is public, and so is whether it is right. [FIPS203, 7.3]
  static void check_sk(State& state) {
    const uint8_t* stored = state.io.sk + P.hash_offset();
    sha3_256(state.work.hash(), {state.io.sk + P.pk_offset(), P.public_key_bytes()});
    if (std::memcmp(state.work.hash(), stored, kSymBytes) != 0) state.io.item_status[0] = Status::kSecretKey;
  }

  static void decrypt(State& state) {
    Workspace& w = state.work;
    for (size_t i = 0; i < kK; ++i) {
      Prims::template decompress<P.du>(w.vector[i], state.io.ct + i * kN * P.du / 8);
      transform(w, i);
      Prims::byte_decode(w.row[i], state.io.sk + i * kPolyBytes);
    }
    multiply(w);
    Prims::inverse_ntt(w.row[0]);
    Prims::template decompress<P.dv>(w.row[1], state.io.ct + P.u_bytes());
    Prims::subtract(w.row[1], w.row[0]);
    Prims::template compress<1>(w.m(), w.row[1]);
  }

  static void hash_reject(State& state) {
    Shake reject(Shake::Strength::kShake256);
    reject.absorb({state.io.sk + P.z_offset(), kSymBytes});
    reject.absorb({state.io.ct, P.ciphertext_bytes()});
    reject.squeeze(state.work.rejected);
  }

  /// Returns 0 if a and b are equal. `bytes` is a multiple of 4.
  static uint32_t difference(const uint8_t* a, const uint8_t* b, size_t bytes) {
    uint32_t result = 0;
    for (size_t i = 0; i < bytes; i += 4) {
      uint32_t x, y;
      std::memcpy(&x, a + i, sizeof x);
      std::memcpy(&y, b + i, sizeof y);
      result |= x ^ y;
    }
    return result;
  }

  static void encrypt_and_compare(State& state) {
    Workspace& w = state.work;
    uint32_t differences = 0;
    encrypt(w, state.io.sk + P.pk_offset(), [&](auto bits, const Poly& a, size_t at) {
      auto* again = reinterpret_cast<uint8_t*>(w.row[1].c);
      Prims::template compress<bits>(again, a);
      differences |= difference(again, state.io.ct + at, kN * bits / 8);
    });
    w.differences = differences;
  }

  static void select(State& state) {
    Workspace& w = state.work;
    ct::select_bytes(state.io.ss_out, w.seeds, w.rejected, kSymBytes, ct::mask_nonzero(w.differences));
  }
};

/// The plans of the three operations. Steps is the class low_memory::Steps with two more functions, which make coins.
template <class Steps>
struct Kem {
  using State = typename Steps::State;

  static constexpr auto keygen = plan_of<kKeygenStages, State>({
      {"randombytes", Steps::make_keygen_coins},
      {"sha3_512.G", Steps::hash_d},
      {{"make_keys", "sample_ntt", "byte_encode"}, Steps::make_keys},
      {"sha3_256.H", Steps::hash_new_pk},
  });

  static constexpr auto encaps = plan_of<kEncapsStages, State>({
      {"randombytes", Steps::make_encaps_coins},
      {"sha3_256.H", Steps::hash_pk},
      {"sha3_512.G", Steps::hash_m},
      {{"encrypt", "byte_decode", "compress_byte_encode"}, Steps::encrypt_m},
      {"shared_secret", Steps::store_ss},
  });

  static constexpr auto decaps = plan_of<kDecapsStages, State>({
      {"sha3_256.H", Steps::check_sk},
      {{"decrypt", "byte_decode", "compress.m"}, Steps::decrypt},
      {"sha3_512.G", Steps::hash_m},
      {"shake256.J", Steps::hash_reject},
      {{"encrypt_compare", "sample_ntt", "compress_compare"}, Steps::encrypt_and_compare},
      {"cmov", Steps::select},
  });
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem::low_memory
