// SPDX-License-Identifier: Apache-2.0
// Interleaved items, one per lane, with their records and keys.
#pragma once

#include "core/arena.hpp"
#include "schemes/fo_transform.hpp"
#include "schemes/mlkem/interleaved/poly.hpp"
#include "schemes/mlkem/interleaved/sample.hpp"
#include "schemes/records.hpp"

namespace polykem::mlkem::interleaved {
inline namespace POLYKEM_ISA {

/// The working memory of a state.
template <Dims D>
struct alignas(64) Workspace {
  LanePoly rows[(D.k + 1) * D.k];  ///< A or A^T, then t^ of a public key; paired
  LanePoly s[D.k];                 ///< s^ or y; paired if it was unpacked from a key
  LanePoly e[D.k + 1];             ///< e in keygen, otherwise e1, e2
  LanePoly u[D.k + 1];             ///< t in keygen, otherwise u, v
  LanePoly w;                      ///< s^T u, or the message as a polynomial
  Scratch scratch;
  uint16_t accepted[kLanes][kAcceptedWords];
  uint8_t prf[kLanes][D.prf_stride()];
  uint8_t pk_hash[kLanes][kSymBytes];
  uint8_t joined[kLanes][kSymBytes + D.ciphertext_bytes()];  ///< z, c
  uint8_t reencrypted_ct[kLanes][D.ciphertext_bytes()];
  fo::Secrets<kLanes, kKeygenCoinBytes> fo;
  bool valid[kLanes];  ///< whether each item's key is valid, if keys are not expanded
};

/// The polynomials to multiply by: those of one key for all items or, if of_one_key is nullptr, paired polynomials of
/// the items' own keys.
struct Factors {
  const LanePoly* of_items;
  const Poly* of_one_key;
};

template <MlkemParams P>
struct State : Records<P, PublicKey<P.k>, SecretKey<P.k>> {
  static constexpr Dims kDims = P;
  using Public = PublicKey<P.k>;
  using Secret = SecretKey<P.k>;
  static constexpr size_t kItemsPerVector = kLanes, kItems = kLanes;
  static size_t workspace_bytes(size_t) { return Arena::bytes<Workspace<kDims>>(1); }

  State(const Batch& batch, std::byte* workspace)
      : Records<P, Public, Secret>(batch), count(batch.count), work(*Arena(workspace).take<Workspace<kDims>>(1)) {}

  const size_t count;
  Workspace<kDims>& work;

  /// True if all items use one key, which is expanded.
  bool one_key() const { return this->io.shared_key && this->expanded(); }

  auto& fo() { return work.fo; }
  const uint8_t* pk_hash(size_t l) const { return this->expanded() ? this->expanded_public(l).hash : work.pk_hash[l]; }
  const uint8_t* z(size_t l) const {
    return this->expanded() ? this->expanded_secret(l).z : this->sk_in().at(l) + P.z_offset();
  }
  ByteRows own_hashes() { return rows_of(work.pk_hash); }
  ByteRows z_and_c() { return rows_of(work.joined); }
  bool valid(size_t l) const {
    if (!this->expanded()) return work.valid[l];
    return this->decapsulates() ? this->expanded_secret(l).valid : this->expanded_public(l).valid;
  }
  void set_valid(size_t l, bool valid) { work.valid[l] = valid; }

  LanePoly* s() { return work.s; }
  LanePoly* e() { return work.e; }
  LanePoly* u() { return work.u; }
  LanePoly& w() { return work.w; }
  ByteRows reencrypted_ct() { return rows_of(work.reencrypted_ct); }
  Factors own_matrix() const { return {work.rows, nullptr}; }
  Factors matrix() const { return {work.rows, one_key() ? this->expanded_public(0).rows : nullptr}; }
  Factors secret() const { return {work.s, one_key() ? this->expanded_secret(0).s : nullptr}; }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem::interleaved
