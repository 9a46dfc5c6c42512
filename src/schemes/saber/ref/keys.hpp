// SPDX-License-Identifier: Apache-2.0
// Expands key records into keys that are ready for use, the form in which a key set keeps them. Every record is a valid
// key, since Saber does not check its inputs.
#pragma once

#include <array>
#include <cstring>

#include "core/round.hpp"
#include "ct/ct.hpp"
#include "schemes/saber/ref/prims.hpp"
#include "schemes/saber/stages.hpp"

namespace polykem::saber::ref {
inline namespace POLYKEM_ISA {

/// Expands keys. gen_a(), load_pk() and load_sk() each fill some members of a key; `space` is memory for the bytes of a
/// matrix.
template <SaberParams P, class Prims>
struct Keys {
  static constexpr size_t kL = P.l;
  using Public = PublicKey<kL>;
  using Secret = SecretKey<kL>;
  static constexpr std::array kMatrixStage = kStages.numbers("gen_matrix");

  /// Makes a[i l + j] = entry (i, j) of A, or (j, i) if transposed. [SABER20, GenMatrix]
  static void gen_a(Poly* a, const uint8_t* seed, bool transposed, uint8_t* space) {
    Prims::template shake128<P.matrix_bytes()>({space, 0}, {seed, 0}, 1);
    for (size_t i = 0; i < kL; ++i) {
      for (size_t j = 0; j < kL; ++j)
        Prims::template unpack<kQBits>(a[transposed ? j * kL + i : i * kL + j], space + (i * kL + j) * kPolyQBytes);
    }
  }

  /// Loads b and makes A.
  static void load_pk(Public& key, const uint8_t* pk, uint8_t* space) {
    ct::declassify(pk, P.public_key_bytes());
    for (size_t i = 0; i < kL; ++i)
      Prims::template unpack<kPBits>(key.b()[i], pk + i * kPolyPBytes);
    gen_a(key.rows, pk + P.vector_bytes(), false, space);
  }

  /// Loads everything but A and b.
  static void load_sk(Secret& key, const uint8_t* sk) {
    for (size_t i = 0; i < kL; ++i)
      Prims::template unpack<kQBits>(key.s[i], sk + i * kPolyQBytes);
    std::memcpy(key.pk.hash, sk + P.hash_offset(), kSymBytes);
    std::memcpy(key.z, sk + P.z_offset(), kSymBytes);
  }

  static void expand_public(std::byte* out, const uint8_t* records, size_t count, std::byte* workspace) {
    auto* keys = reinterpret_cast<Public*>(out);
    for (size_t i = 0; i < count; ++i) {
      const uint8_t* pk = records + i * P.public_key_bytes();
      Prims::template sha3_256<P.public_key_bytes()>({keys[i].hash, 0}, {pk, 0}, 1);
      load_pk(keys[i], pk, reinterpret_cast<uint8_t*>(workspace));
    }
  }

  static void expand_secret(std::byte* out, const uint8_t* records, size_t count, std::byte* workspace) {
    auto* keys = reinterpret_cast<Secret*>(out);
    for (size_t i = 0; i < count; ++i) {
      const uint8_t* sk = records + i * P.secret_key_bytes();
      load_sk(keys[i], sk);
      load_pk(keys[i].pk, sk + P.pk_offset(), reinterpret_cast<uint8_t*>(workspace));
    }
  }

  static size_t workspace_bytes(size_t) { return rounded_up(P.matrix_bytes(), 64); }
  static constexpr ExpandedKeyFormat kExpandedPublicKey{sizeof(Public), workspace_bytes, expand_public};
  static constexpr ExpandedKeyFormat kExpandedSecretKey{sizeof(Secret), workspace_bytes, expand_secret};
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::saber::ref
