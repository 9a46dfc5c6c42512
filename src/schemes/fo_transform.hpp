// SPDX-License-Identifier: Apache-2.0
// The Fujisaki-Okamoto transform with implicit rejection, which ML-KEM, Kyber and Saber apply to their public-key
// encryption. It is written once for any arithmetic; a step computes all items of a state. pk and sk are the standard's
// ek and dk.
#pragma once

#include <concepts>
#include <cstring>

#include "core/isa.hpp"
#include "core/scheme.hpp"
#include "ct/ct.hpp"
#include "prim/drbg/drbg.hpp"
#include "prim/simd/rows.hpp"

namespace polykem::fo {

inline constexpr size_t kSymBytes = 32;  ///< seeds, messages, hashes and shared secrets

/// The derivation of the shared secret from K, z and c.
enum class Derivation {
  kFips203,  ///< K, or SHAKE256(z, c) if c is rejected [FIPS203, Alg 17, Alg 18]
  kKyber,    ///< SHAKE256(K, SHA3-256(c)), with z in place of K if c is rejected [KYBER21, Alg 8, Alg 9]
  kSaber,    ///< SHA3-256(K, SHA3-256(c)), with z in place of K if c is rejected [SABER20, Saber.KEM]
};

inline namespace POLYKEM_ISA {

/// The working memory of the transform for kItems items.
template <size_t kItems, size_t kCoinBytes>
struct Secrets {
  uint8_t coins[kItems][kCoinBytes];
  uint8_t hashed[kItems][2 * kSymBytes];  ///< m, H(pk); in the keygen of ML-KEM and Kyber d, k
  uint8_t seeds[kItems][2 * kSymBytes];   ///< K, r; in keygen the public seed, the secret seed
  uint8_t kdf[kItems][2 * kSymBytes];     ///< for FIPS 203 the rejection secret; otherwise K or z, then SHA3-256(c)
  uint32_t fail[kItems];                  ///< all ones if the ciphertext is rejected
};

/// The requirements of the transform on the type that computes hashes. The template argument of a hash is the length of
/// a row of `in` in bytes.
template <class Hashes>
concept Hashing = requires(typename Hashes::State& state, ByteRows out, ConstByteRows in, size_t count) {
  /// Hash `count` rows of `in` to rows of `out`: SHA3-256, SHA3-512, and 32 bytes of SHAKE256. [FIPS203, 4.1: H, G, J]
  Hashes::template sha3_256<64>(out, in, count);
  Hashes::template sha3_512<64>(out, in, count);
  Hashes::template shake256<64>(out, in, count);
  /// The number of items, which is at most the number of rows in Secrets.
  { state.count } -> std::convertible_to<size_t>;
  /// Returns the state's Secrets.
  state.fo();
  /// Return H(pk) and z of the key of the item with this index.
  { state.pk_hash(count) } -> std::same_as<const uint8_t*>;
  { state.z(count) } -> std::same_as<const uint8_t*>;
  /// Returns the rows to which H(pk) is written for keys that are not expanded.
  { state.own_hashes() } -> std::same_as<ByteRows>;
};

/// The steps of the transform. P holds the parameters of the scheme.
template <auto P, class Hashes, Derivation kDerivation>
struct Transform {
  using State = typename Hashes::State;
  static constexpr bool kFips203 = kDerivation == Derivation::kFips203;

  template <class F>
  static void each(const State& state, F&& f) {
    for (size_t l = 0; l < state.count; ++l)
      f(l);
  }

  /// Returns the coins of the items, `bytes` for each: the caller's or, if it passed none, those of make_coins().
  static ConstByteRows coins(State& state, size_t bytes) {
    return {state.io.coins != nullptr ? state.io.coins : state.fo().coins[0], bytes};
  }
  /// Generates `bytes` of coins for each item unless the caller passed coins.
  static void make_coins(State& state, size_t bytes) {
    if (state.io.coins == nullptr) state.io.drbg->fill({state.fo().coins[0], state.count * bytes});
  }

  /// Writes H(pk) of the new keys into their secret keys. [FIPS203, Alg 16, L3]
  static void hash_new_pk(State& state) {
    Hashes::template sha3_256<P.public_key_bytes()>(state.sk_out(P.hash_offset()), state.pk_out(), state.count);
  }

  /// Makes m. [FIPS203, Alg 20, L1] In the schemes before FIPS 203, m is a hash of the random bytes, so that it does
  /// not reveal the generator's output.
  static void make_encaps_coins(State& state) {
    make_coins(state, kSymBytes);
    if constexpr (kFips203) {
      each(state, [&](size_t l) { std::memcpy(state.fo().hashed[l], coins(state, kSymBytes).at(l), kSymBytes); });
    } else {
      Hashes::template sha3_256<kSymBytes>(rows_of(state.fo().hashed), coins(state, kSymBytes), state.count);
    }
  }

  /// Computes H(pk) of keys that are not expanded. [FIPS203, Alg 17, L1]
  static void hash_pk(State& state) {
    if (!state.expanded())
      Hashes::template sha3_256<P.public_key_bytes()>(state.own_hashes(), state.pk_in(), state.count);
  }

  /// Computes K, r = G(m, H(pk)). [FIPS203, Alg 17, L1; Alg 18, L6]
  static void hash_m(State& state) {
    each(state, [&](size_t l) { std::memcpy(state.fo().hashed[l] + kSymBytes, state.pk_hash(l), kSymBytes); });
    Hashes::template sha3_512<2 * kSymBytes>(rows_of(state.fo().seeds), rows_of(state.fo().hashed), state.count);
  }

  /// Stores the shared secrets of an encapsulation, whether or not the keys are valid. [FIPS203, Alg 17, L3]
  static void store_ss(State& state) {
    if constexpr (kFips203) {
      each(state, [&](size_t l) { std::memcpy(state.ss_out().at(l), state.fo().seeds[l], kSymBytes); });
    } else {
      each(state, [&](size_t l) { std::memcpy(state.fo().kdf[l], state.fo().seeds[l], kSymBytes); });
      Hashes::template sha3_256<P.ciphertext_bytes()>(rows_of(state.fo().kdf, kSymBytes), state.ct_out(), state.count);
      derive(state);
    }
  }

  /// Hashes the received ciphertexts: J(z, c), the rejection secret of FIPS 203; otherwise SHA3-256(c), on which every
  /// shared secret depends. [FIPS203, Alg 18, L7]
  static void hash_c(State& state) {
    if constexpr (kFips203) {
      const ByteRows joined = state.z_and_c();
      each(state, [&](size_t l) {
        std::memcpy(joined.at(l), state.z(l), kSymBytes);
        std::memcpy(joined.at(l) + kSymBytes, state.ct_in().at(l), P.ciphertext_bytes());
      });
      Hashes::template shake256<kSymBytes + P.ciphertext_bytes()>(rows_of(state.fo().kdf), joined, state.count);
    } else {
      Hashes::template sha3_256<P.ciphertext_bytes()>(rows_of(state.fo().kdf, kSymBytes), state.ct_in(), state.count);
    }
  }

  /// Rejects the items whose second encryption, `again`, differs from the received ciphertext. [FIPS203, Alg 18, L9]
  static void compare(State& state, ConstByteRows again) {
    each(state, [&](size_t l) {
      state.fo().fail[l] = ct::mask_different(again.at(l), state.ct_in().at(l), P.ciphertext_bytes());
    });
  }

  /// Stores each item's shared secret, or the rejection secret if its ciphertext is rejected. [FIPS203, Alg 18, L9-12]
  static void select(State& state) {
    auto& t = state.fo();
    if constexpr (kFips203) {
      each(state,
           [&](size_t l) { ct::select_bytes(state.ss_out().at(l), t.seeds[l], t.kdf[l], kSymBytes, t.fail[l]); });
    } else {
      each(state, [&](size_t l) { ct::select_bytes(t.kdf[l], t.seeds[l], state.z(l), kSymBytes, t.fail[l]); });
      derive(state);
    }
  }

 private:
  /// Stores the shared secrets, derived from K or z and from SHA3-256(c).
  static void derive(State& state) {
    if constexpr (kDerivation == Derivation::kKyber) {
      Hashes::template shake256<2 * kSymBytes>(state.ss_out(), rows_of(state.fo().kdf), state.count);
    } else {
      Hashes::template sha3_256<2 * kSymBytes>(state.ss_out(), rows_of(state.fo().kdf), state.count);
    }
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::fo
