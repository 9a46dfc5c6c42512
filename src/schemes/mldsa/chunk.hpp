// SPDX-License-Identifier: Apache-2.0
// The working memory of a chunk of items, which are computed together.
#pragma once

#include <algorithm>
#include <array>

#include "core/arena.hpp"
#include "core/scheme.hpp"
#include "schemes/mldsa/instruction_set.hpp"
#include "schemes/mldsa/types.hpp"

namespace polykem::mldsa {
inline namespace POLYKEM_ISA {

template <MldsaParams P>
struct KeygenItem {
  uint8_t xi[kSeedBytes];
  uint8_t seeds[2 * kSeedBytes + kDigestBytes];  ///< rho, rho', K
  Poly a[P.k * P.l], s1[P.l], s1_hat[P.l], s2[P.k], t[P.k];
};

template <MldsaParams P>
struct SignItem {
  PrivateKey<P> key;
  uint8_t rnd[kSeedBytes];
  uint8_t mask_seed[kDigestBytes];  ///< rho''
  uint8_t mu_w1[kDigestBytes + P.k * P.w1_bytes()];
  uint8_t challenge[P.challenge_bytes()];  ///< c~
  Poly y[P.l], z[P.l];                     ///< z: y^, then z
  Poly w[P.k], w1[P.k], hint[P.k];         ///< w, then its low part, then r0
  Poly c;                                  ///< c^
  uint16_t kappa;
  bool rejected;  ///< the attempt
};

template <MldsaParams P>
struct VerifyItem {
  PublicKey<P> key;
  uint8_t mu_w1[kDigestBytes + P.k * P.w1_bytes()];
  uint8_t challenge[P.challenge_bytes()];  ///< c~'
  Poly z[P.l], w[P.k], hint[P.k], c;
  bool well_formed;
};

/// A chunk's items and their working memory.
template <InstructionSet Isa, class ItemMemory>
struct ItemsChunk {
  using Item = ItemMemory;
  static constexpr size_t kItems = Isa::kItems;
  static size_t workspace_bytes(size_t) { return Arena::bytes<Item>(kItems); }

  ItemsChunk(const Batch& batch, std::byte* workspace)
      : io(batch), count(batch.count), items(Arena(workspace).take<Item>(kItems)) {}

  Batch io;
  size_t count;
  Item* items;

  /// A key that all items share is expanded once.
  size_t keys() const { return io.shared_key ? 1 : count; }
  auto& key(size_t item) const { return items[io.shared_key ? 0 : item].key; }
};

template <MldsaParams P, InstructionSet Isa>
using KeygenChunk = ItemsChunk<Isa, KeygenItem<P>>;
template <MldsaParams P, InstructionSet Isa>
using VerifyChunk = ItemsChunk<Isa, VerifyItem<P>>;

template <MldsaParams P, InstructionSet Isa>
struct SignChunk : ItemsChunk<Isa, SignItem<P>> {
  using SignChunk::ItemsChunk::items;
  using typename SignChunk::ItemsChunk::Item;

  SignChunk(const Batch& batch, std::byte* workspace)
      : SignChunk::ItemsChunk(batch, workspace), unsigned_count(batch.count) {
    for (size_t i = 0; i < batch.count; ++i) {
      unsigned_items[i] = i;
      items[i].kappa = 0;
      items[i].rejected = false;
    }
  }

  /// The items that have no signature yet; they make an attempt together.
  std::array<size_t, Isa::kItems> unsigned_items, attempts;
  size_t unsigned_count;

  /// The items whose attempt has not failed so far, packed to the front of `attempts`.
  size_t find_attempts() {
    size_t found = 0;
    for (size_t i = 0; i < unsigned_count; ++i)
      if (!items[unsigned_items[i]].rejected) attempts[found++] = unsigned_items[i];
    return found;
  }

  /// Keeps the items whose attempt failed; false if there are none. [FIPS204, Alg 7, L31]
  bool next_tile() {
    size_t kept = 0;
    for (size_t i = 0; i < unsigned_count; ++i) {
      Item& item = items[unsigned_items[i]];
      if (!item.rejected) continue;
      item.rejected = false;
      item.kappa = static_cast<uint16_t>(item.kappa + P.l);
      unsigned_items[kept++] = unsigned_items[i];
    }
    unsigned_count = kept;
    return kept > 0;
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::mldsa
