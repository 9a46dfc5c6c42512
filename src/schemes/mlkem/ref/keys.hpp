// SPDX-License-Identifier: Apache-2.0
// Expands key records into keys that are ready for use, the form in which a key set keeps them.
#pragma once

#include <cstring>

#include "schemes/mlkem/ref/prims.hpp"

namespace polykem::mlkem::ref {
inline namespace POLYKEM_ISA {

/// Parts of expanding a key; each fills its own members.
template <MlkemParams P, class Prims>
struct Keys {
  static constexpr size_t kK = P.k;
  using Public = PublicKey<kK>;
  using Secret = SecretKey<kK>;

  static void hash_ek(Public& key, const uint8_t* ek) { sha3_256(key.hash, {ek, P.public_key_bytes()}); }

  /// Loads t^; for ML-KEM also checks that its coefficients are below q. [FIPS203, 7.2]
  static void load_ek(Public& key, const uint8_t* ek) {
    ct::declassify(ek, P.public_key_bytes());
    uint32_t too_large = 0;
    for (size_t i = 0; i < kK; ++i)
      too_large |= poly_frombytes(key.t()[i], ek + i * kPolyBytes);
    key.valid = P.kyber() || too_large == 0;
  }

  static void gen_a(Public& key, const uint8_t* ek) {
    Prims::template gen_a<kK>(key.rows, ek + P.vector_bytes(), true);
  }

  /// Compares the hash of ek with the stored one (ML-KEM), and keeps the latter. Both are public. [FIPS203, 7.3]
  static void check_dk(Secret& key, const uint8_t* dk) {
    const uint8_t* stored = dk + P.hash_offset();
    ct::declassify(dk + P.ek_offset(), P.public_key_bytes() + kSymBytes);
    key.valid = 1;
    if constexpr (!P.kyber()) {
      hash_ek(key.pk, dk + P.ek_offset());
      key.valid = std::memcmp(key.pk.hash, stored, kSymBytes) == 0;
    }
    std::memcpy(key.pk.hash, stored, kSymBytes);
  }

  static void load_dk(Secret& key, const uint8_t* dk) {
    for (size_t i = 0; i < kK; ++i)
      poly_frombytes(key.s[i], dk + i * kPolyBytes);
    std::memcpy(key.z, dk + P.z_offset(), kSymBytes);
    load_ek(key.pk, dk + P.ek_offset());
  }

  static void expand_public(std::byte* out, const uint8_t* records, size_t count, std::byte*) {
    auto* keys = reinterpret_cast<Public*>(out);
    for (size_t i = 0; i < count; ++i) {
      const uint8_t* ek = records + i * P.public_key_bytes();
      hash_ek(keys[i], ek);
      load_ek(keys[i], ek);
      gen_a(keys[i], ek);
    }
  }

  static void expand_secret(std::byte* out, const uint8_t* records, size_t count, std::byte*) {
    auto* keys = reinterpret_cast<Secret*>(out);
    for (size_t i = 0; i < count; ++i) {
      const uint8_t* dk = records + i * P.secret_key_bytes();
      check_dk(keys[i], dk);
      load_dk(keys[i], dk);
      gen_a(keys[i].pk, dk + P.ek_offset());
    }
  }

  static size_t no_workspace(size_t) { return 0; }
  static constexpr KeyForm kPublicForm{sizeof(Public), no_workspace, expand_public};
  static constexpr KeyForm kSecretForm{sizeof(Secret), no_workspace, expand_secret};
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem::ref
