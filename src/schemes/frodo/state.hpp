// SPDX-License-Identifier: Apache-2.0
// The items that are being computed: their records and their working memory.
#pragma once

#include <algorithm>

#include "core/arena.hpp"
#include "core/round.hpp"
#include "core/scheme.hpp"
#include "schemes/frodo/gen_a.hpp"
#include "schemes/records.hpp"

namespace polykem::frodo {

/// The short strings of one item.
struct Item {
  uint8_t coins[112];       ///< s, seedSE, z or mu, salt
  uint8_t seed_input[128];  ///< pkh, mu, salt
  uint8_t seed[104];        ///< 0x5f or 0x96, seedSE; then, in encaps and decaps, k
  uint8_t ct_tail_k[200];   ///< the end of ss's hash input: the part of c1, c2, salt that fills no block, then k
  uint16_t m[kSquare];      ///< C, then M = C - B' S
  uint32_t fail;            ///< all ones if the ciphertext is rejected
};
static_assert(sizeof(Item::coins) >= kSets[4].keygen_coin_bytes());
static_assert(sizeof(Item::seed_input) >= kMaxSecretBytes + kSets[4].encaps_coin_bytes());
static_assert(sizeof(Item::ct_tail_k) >= kShake128Rate - 1 + kMaxSecretBytes);
static_assert(sizeof(Item::seed) >= 1 + kSets[4].seed_se_bytes() + kMaxSecretBytes);

/// Items of one set on one instruction set. gen_a writes some rows of A, the product uses them, and next_tile() moves
/// on to the next rows, or to the next key after the last rows.
struct State {
  /// Returns the bytes that a state needs for up to `items` items with one key, or up to `keys` items with their own.
  static size_t workspace_bytes(const Set& set, const Kernels& kernels, size_t items, size_t keys);
  /// packs_a: the items have one key, and all of A is kept. Allowed only if may_pack() holds for the batch.
  State(const Set& set, const Kernels& kernels, const Batch& batch, std::byte* workspace, bool packs_a);
  /// Returns true if `items` items with one key are enough to make up for keeping all of A, which the worker has to
  /// zeroize.
  static bool may_pack(const Set& set, const Kernels& kernels, size_t items) {
    constexpr size_t kMinToPack = 16;
    return kernels.tiles != nullptr && set.gen_a == GenA::kShake && items >= kMinToPack;
  }
  bool next_tile();

  const Set& set;
  const Kernels& kernels;
  const Batch& io;
  Item* items;
  size_t tile_item = 0, tile_row = 0;
  bool packs_a;  ///< all of A is kept, at packed_a()
  bool key_is_prepared =
      false;  ///< earlier items had the same key: items[0] still has pkh, packed_a() all of A if that is kept

  size_t n() const { return set.n(); }
  size_t tile_rows() const { return std::min(n() - tile_row, kernels.tile_rows); }
  /// Returns the working memory of tile_products.hpp or row_products.hpp.
  std::byte* product_space() const { return product_space_; }
  /// Returns all of A, for matrix tiles, if SHAKE makes it.
  std::byte* packed_a() const { return packed_a_; }
  Matrix16 tile() const { return {tile_, tile_stride(set)}; }

  /// Returns S transposed or S': kBar rows of n.
  Matrix16 s(size_t i) const { return {noise_ + i * noise_stride(set), n()}; }
  /// Returns E, then B, of keygen: n rows of kBar.
  Matrix16 e(size_t i) const { return {s(i).data + kBar * n(), kBar}; }
  /// Returns E', then B' = S' A + E', of encaps and decaps, and before them the unpacked B' of a ciphertext: kBar rows
  /// of n.
  Matrix16 e1(size_t i) const { return {s(i).data + kBar * n(), n()}; }
  /// Returns E'', then V, then C: kBar rows of kBar.
  Matrix16 e2(size_t i) const { return {s(i).data + 2 * kBar * n(), kBar}; }
  /// Returns S transposed of key i in keygen, else B transposed of key i: kBar rows of n, each at the start of a cache
  /// line.
  Matrix16 b(size_t i) const { return {b_ + i * kBar * tile_stride(set), tile_stride(set)}; }
  /// Returns k of encaps, k' or s of decaps.
  uint8_t* k(size_t i) const { return items[i].ct_tail_k + set.ciphertext_tail_bytes(); }
  /// Returns the memory for c1 and c2 of an item's second encryption in decaps.
  uint8_t* own_ct() const { return own_ct_; }
  size_t noise_stride() const { return noise_stride(set); }

  bool decapsulates() const { return io.sk != nullptr; }
  const uint8_t* sk(size_t i) const { return key_at(io, io.sk, i, set.secret_key_bytes()); }
  const uint8_t* pk(size_t i) const {
    if (decapsulates()) return sk(i) + set.pk_offset();
    return key_at(io, io.pk, i, set.public_key_bytes());
  }
  const uint8_t* ct(size_t i) const { return io.ct + i * set.ciphertext_bytes(); }
  uint8_t* pk_out(size_t i) const { return io.pk_out + i * set.public_key_bytes(); }
  uint8_t* sk_out(size_t i) const { return io.sk_out + i * set.secret_key_bytes(); }
  uint8_t* ct_out(size_t i) const { return io.ct_out + i * set.ciphertext_bytes(); }
  /// Returns the number of distinct keys: one per item, or one.
  size_t keys() const { return io.shared_key ? 1 : io.count; }

 private:
  static size_t product_space_bytes(const Set& set, const Kernels& kernels, size_t items);
  static constexpr size_t in_lines(size_t words) { return rounded_up(words, 32); }
  static constexpr size_t tile_stride(const Set& set) { return in_lines(set.n()); }
  static constexpr size_t noise_stride(const Set& set) { return in_lines(set.encaps_samples()); }

  uint16_t *tile_, *noise_, *b_;
  uint8_t* own_ct_;
  std::byte *packed_a_ = nullptr, *product_space_;
};

}  // namespace polykem::frodo
