// SPDX-License-Identifier: Apache-2.0
// Eight items, as many as there are Keccak states in a register, with their records and keys.
#pragma once

#include <cstddef>

#include "core/arena.hpp"
#include "schemes/fo_transform.hpp"
#include "schemes/mlkem/types.hpp"
#include "schemes/mlkem/x8/matrix_sampler.hpp"
#include "schemes/records.hpp"

namespace polykem::mlkem::x8 {
inline namespace POLYKEM_ISA {

using interleaved::kStates;
inline constexpr size_t kItems = kStates;

/// The working memory of eight items. In each array, an item's polynomials follow each other, then the next
/// item's.
template <Dims D>
struct alignas(64) Workspace {
  SecretKey<D.k> own[kItems];  ///< the items' keys, if they are not expanded
  Poly s[kItems][D.k];         ///< s^ or y^
  Poly e[kItems][D.k];         ///< 2^-16 e^, within kNoiseTransformBound; or u of a received ciphertext, then u^
  Poly u[kItems][D.k];         ///< 2^-16 u^, then u without noise
  Poly v[kItems];              ///< v of a received ciphertext; or 2^-16 v^, then v without noise
  Poly w[kItems];              ///< 2^-16 s^T u^, then s^T u
  /// A polynomial of A, with space for the words that are written past it.
  alignas(64) uint16_t accepted[kItems][MatrixSampler::kWrittenWords];
  alignas(64) uint8_t prf_s[kItems][D.k][64 * D.eta1];        ///< the PRF's output for s or y
  alignas(64) uint8_t prf_e[kItems][D.k + 1][64 * D.eta1];    ///< the PRF's output for e, or for e1 and e2
  uint8_t joined[kItems][kSymBytes + D.ciphertext_bytes()];   ///< z, c
  alignas(64) uint16_t different[kItems][simd::V16::kLanes];  ///< not all 0 if the ciphertexts differ
  fo::Secrets<kItems, kKeygenCoinBytes> fo;
};

template <MlkemParams P>
struct State : Records<P, PublicKey<P.k>, SecretKey<P.k>> {
  static constexpr Dims kDims = P;
  using Public = PublicKey<P.k>;
  using Secret = SecretKey<P.k>;

  static constexpr size_t kItemsPerVector = x8::kItems, kItems = x8::kItems;
  static size_t workspace_bytes(size_t) { return Arena::bytes<Workspace<kDims>>(1); }

  /// `batch` has at most kItems items, and their coins have been made.
  State(const Batch& batch, std::byte* workspace)
      : Records<P, Public, Secret>(batch), count(batch.count), work(*Arena(workspace).take<Workspace<kDims>>(1)) {}

  const size_t count;
  Workspace<kDims>& work;

  const Secret& secret_key(size_t l) const { return this->expanded() ? this->expanded_secret(l) : work.own[l]; }
  const Public& public_key(size_t l) const { return this->expanded() ? this->expanded_public(l) : work.own[l].pk; }

  auto& fo() { return work.fo; }
  const uint8_t* pk_hash(size_t l) const { return public_key(l).hash; }
  const uint8_t* z(size_t l) const { return secret_key(l).z; }
  /// Points into the whole array: arithmetic on a pointer to one member must not leave that object (C++ [expr.add]).
  ByteRows own_hashes() { return {reinterpret_cast<uint8_t*>(work.own) + offsetof(Secret, pk.hash), sizeof(Secret)}; }
  ByteRows z_and_c() { return rows_of(work.joined); }
  bool valid(size_t l) const { return this->decapsulates() ? secret_key(l).valid : public_key(l).valid; }
  void set_valid(size_t l, bool valid) { work.own[l].valid = valid; }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem::x8
