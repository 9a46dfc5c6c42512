// SPDX-License-Identifier: Apache-2.0
// Expands key records into keys that are ready for use, the form in which a key set keeps them.
#pragma once

#include <array>
#include <cstring>

#include "core/arena.hpp"
#include "core/scheme.hpp"
#include "ct/ct.hpp"
#include "schemes/mlkem/stages.hpp"
#include "schemes/mlkem/types.hpp"

namespace polykem::mlkem {
inline namespace POLYKEM_ISA {

/// Returns true if `hash`, the computed hash of pk, equals the stored one, and always for round 3. The stored hash
/// replaces it and is used from then on. Both are public. [FIPS203, 7.3]
template <MlkemParams P>
bool check_hash(uint8_t* hash, const uint8_t* stored) {
  const bool same = P.kyber() || std::memcmp(hash, stored, kSymBytes) == 0;
  std::memcpy(hash, stored, kSymBytes);
  return same;
}

/// Expands keys with the functions of Arith, the arithmetic of one item. Arith::KeySpace is memory that holds nothing
/// secret;
/// - hash_sample_a(key, pk, space) computes H(pk) and A^T;
/// - load_pk(key, pk) loads t^ and, for ML-KEM, checks that its coefficients are below q; [FIPS203, 7.2]
/// - load_sk(key, sk) loads s^, z and t^, and checks t^ as load_pk() does.
template <MlkemParams P, class Arith>
struct Keys {
  using Public = PublicKey<P.k>;
  using Secret = SecretKey<P.k>;
  using Space = typename Arith::KeySpace;
  static constexpr std::array kMatrixStage = kStages.numbers("sample_ntt");

  static void expand_public(std::byte* out, const uint8_t* records, size_t count, std::byte* workspace) {
    auto& space = *Arena(workspace).take<Space>(1);
    auto* keys = reinterpret_cast<Public*>(out);
    for (size_t i = 0; i < count; ++i) {
      const uint8_t* pk = records + i * P.public_key_bytes();
      ct::declassify(pk, P.public_key_bytes());
      Arith::hash_sample_a(keys[i], pk, space);
      Arith::load_pk(keys[i], pk);
    }
  }

  static void expand_secret(std::byte* out, const uint8_t* records, size_t count, std::byte* workspace) {
    auto& space = *Arena(workspace).take<Space>(1);
    auto* keys = reinterpret_cast<Secret*>(out);
    for (size_t i = 0; i < count; ++i) {
      const uint8_t *const sk = records + i * P.secret_key_bytes(), *const pk = sk + P.pk_offset();
      ct::declassify(pk, P.public_key_bytes() + kSymBytes);
      Arith::hash_sample_a(keys[i].pk, pk, space);
      Arith::load_sk(keys[i], sk);
      keys[i].valid = check_hash<P>(keys[i].pk.hash, sk + P.hash_offset());
    }
  }

  static size_t workspace_bytes(size_t) { return Arena::bytes<Space>(1); }
  static constexpr ExpandedKeyFormat kExpandedPublicKey{sizeof(Public), workspace_bytes, expand_public};
  static constexpr ExpandedKeyFormat kExpandedSecretKey{sizeof(Secret), workspace_bytes, expand_secret};
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem
