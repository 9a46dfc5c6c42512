// SPDX-License-Identifier: Apache-2.0
// The state of one item, for the kinds of arithmetic that compute one item after the other.
#pragma once

#include "core/arena.hpp"
#include "schemes/fo_transform.hpp"
#include "schemes/records.hpp"

namespace polykem {
inline namespace POLYKEM_ISA {

/// P, Public and Secret are the template parameters of Records. Workspace is the working memory and has the members
/// `own`, the item's key if it is not expanded; `fo`, a fo::Secrets; and `poly`, with the polynomials and space for the
/// ciphertext of the second encryption.
template <auto P, class Public, class Secret, class Workspace>
struct ItemState : Records<P, Public, Secret> {
  static constexpr size_t kItemsPerVector = 1, kItems = 1, count = 1;
  static size_t workspace_bytes(size_t) { return Arena::bytes<Workspace>(1); }

  ItemState(const Batch& batch, std::byte* workspace)
      : ItemState::Records(batch), work(*Arena(workspace).take<Workspace>(1)) {}

  Workspace& work;

  const Secret& secret_key() const { return this->expanded() ? this->expanded_secret(0) : work.own; }
  const Public& public_key() const { return this->expanded() ? this->expanded_public(0) : work.own.pk; }

  auto& fo() { return work.fo; }
  const uint8_t* pk_hash(size_t) const { return public_key().hash; }
  const uint8_t* z(size_t) const { return secret_key().z; }
  ByteRows own_hashes() { return {work.own.pk.hash, fo::kSymBytes}; }

  auto* s() { return work.poly.s; }
  auto* u() { return work.poly.u; }
  ByteRows reencrypted_ct() { return rows_of(work.poly.reencrypted_ct); }
  auto* own_matrix() const { return work.own.pk.rows; }
  auto* matrix() const { return public_key().rows; }
  auto* secret() const { return secret_key().s; }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem
