// SPDX-License-Identifier: Apache-2.0
// The Fujisaki-Okamoto transform with implicit rejection, which ML-KEM, Kyber and Saber apply to their public-key
// encryption. It is written once for all layouts; each step computes a chunk of items. pk and sk are the standard's ek
// and dk.
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

/// The requirements of the transform on a layout L. The hashes' template argument is the length of a row of `in` in
/// bytes.
template <class L>
concept Layout = requires(typename L::Chunk& c, ByteRows out, ConstByteRows in, size_t count) {
  /// Hash `count` rows of `in` to rows of `out`: SHA3-256, SHA3-512, and 32 bytes of SHAKE256. [FIPS203, 4.1: H, G, J]
  L::template sha3_256<64>(out, in, count);
  L::template sha3_512<64>(out, in, count);
  L::template shake256<64>(out, in, count);
  /// The number of items, which is at most the number of rows in Secrets.
  { c.count } -> std::convertible_to<size_t>;
  /// Returns the chunk's Secrets.
  c.fo();
  /// Return H(pk) and z of the key of the item with this index.
  { c.pk_hash(count) } -> std::same_as<const uint8_t*>;
  { c.z(count) } -> std::same_as<const uint8_t*>;
  /// Returns the rows to which H(pk) is written for keys that are not expanded.
  { c.own_hashes() } -> std::same_as<ByteRows>;
};

/// The steps of the transform. P holds the parameters of the scheme.
template <auto P, class L, Derivation kDerivation>
struct Transform {
  using Chunk = typename L::Chunk;
  static constexpr bool kFips203 = kDerivation == Derivation::kFips203;

  template <class F>
  static void each(const Chunk& c, F&& f) {
    for (size_t l = 0; l < c.count; ++l)
      f(l);
  }

  /// Returns the coins of the items, `bytes` for each: the caller's or, if it passed none, those of make_coins().
  static ConstByteRows coins(Chunk& c, size_t bytes) {
    return {c.io.coins != nullptr ? c.io.coins : c.fo().coins[0], bytes};
  }
  /// Generates `bytes` of coins for each item unless the caller passed coins.
  static void make_coins(Chunk& c, size_t bytes) {
    if (c.io.coins == nullptr) c.io.drbg->fill({c.fo().coins[0], c.count * bytes});
  }

  /// Writes H(pk) of the new keys into their secret keys. [FIPS203, Alg 16, L3]
  static void hash_new_pk(Chunk& c) {
    L::template sha3_256<P.public_key_bytes()>(c.sk_out(P.hash_offset()), c.pk_out(), c.count);
  }

  /// Makes m. [FIPS203, Alg 20, L1] In the schemes before FIPS 203, m is a hash of the random bytes, so that it does
  /// not reveal the generator's output.
  static void make_encaps_coins(Chunk& c) {
    make_coins(c, kSymBytes);
    if constexpr (kFips203) {
      each(c, [&](size_t l) { std::memcpy(c.fo().hashed[l], coins(c, kSymBytes).at(l), kSymBytes); });
    } else {
      L::template sha3_256<kSymBytes>(rows_of(c.fo().hashed), coins(c, kSymBytes), c.count);
    }
  }

  /// Computes H(pk) of keys that are not expanded. [FIPS203, Alg 17, L1]
  static void hash_pk(Chunk& c) {
    if (!c.expanded()) L::template sha3_256<P.public_key_bytes()>(c.own_hashes(), c.pk_in(), c.count);
  }

  /// Computes K, r = G(m, H(pk)). [FIPS203, Alg 17, L1; Alg 18, L6]
  static void hash_m(Chunk& c) {
    each(c, [&](size_t l) { std::memcpy(c.fo().hashed[l] + kSymBytes, c.pk_hash(l), kSymBytes); });
    L::template sha3_512<2 * kSymBytes>(rows_of(c.fo().seeds), rows_of(c.fo().hashed), c.count);
  }

  /// Stores the shared secrets of an encapsulation, whether or not the keys are valid. [FIPS203, Alg 17, L3]
  static void store_ss(Chunk& c) {
    if constexpr (kFips203) {
      each(c, [&](size_t l) { std::memcpy(c.ss_out().at(l), c.fo().seeds[l], kSymBytes); });
    } else {
      each(c, [&](size_t l) { std::memcpy(c.fo().kdf[l], c.fo().seeds[l], kSymBytes); });
      L::template sha3_256<P.ciphertext_bytes()>(rows_of(c.fo().kdf, kSymBytes), c.ct_out(), c.count);
      derive(c);
    }
  }

  /// Hashes the received ciphertexts: J(z, c), the rejection secret of FIPS 203; otherwise SHA3-256(c), on which every
  /// shared secret depends. [FIPS203, Alg 18, L7]
  static void hash_c(Chunk& c) {
    if constexpr (kFips203) {
      const ByteRows joined = c.z_and_c();
      each(c, [&](size_t l) {
        std::memcpy(joined.at(l), c.z(l), kSymBytes);
        std::memcpy(joined.at(l) + kSymBytes, c.ct_in().at(l), P.ciphertext_bytes());
      });
      L::template shake256<kSymBytes + P.ciphertext_bytes()>(rows_of(c.fo().kdf), joined, c.count);
    } else {
      L::template sha3_256<P.ciphertext_bytes()>(rows_of(c.fo().kdf, kSymBytes), c.ct_in(), c.count);
    }
  }

  /// Rejects the items whose second encryption, `again`, differs from the received ciphertext. [FIPS203, Alg 18, L9]
  static void compare(Chunk& c, ConstByteRows again) {
    each(c, [&](size_t l) { c.fo().fail[l] = ct::mask_different(again.at(l), c.ct_in().at(l), P.ciphertext_bytes()); });
  }

  /// Stores each item's shared secret, or the rejection secret if its ciphertext is rejected. [FIPS203, Alg 18, L9-12]
  static void select(Chunk& c) {
    auto& t = c.fo();
    if constexpr (kFips203) {
      each(c, [&](size_t l) { ct::select_bytes(c.ss_out().at(l), t.seeds[l], t.kdf[l], kSymBytes, t.fail[l]); });
    } else {
      each(c, [&](size_t l) { ct::select_bytes(t.kdf[l], t.seeds[l], c.z(l), kSymBytes, t.fail[l]); });
      derive(c);
    }
  }

 private:
  /// Stores the shared secrets, derived from K or z and from SHA3-256(c).
  static void derive(Chunk& c) {
    if constexpr (kDerivation == Derivation::kKyber) {
      L::template shake256<2 * kSymBytes>(c.ss_out(), rows_of(c.fo().kdf), c.count);
    } else {
      L::template sha3_256<2 * kSymBytes>(c.ss_out(), rows_of(c.fo().kdf), c.count);
    }
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::fo
