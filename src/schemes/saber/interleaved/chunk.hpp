// SPDX-License-Identifier: Apache-2.0
// A block of items, one per lane, with their records and keys. `Isa` names the primitives of an instruction set:
// kName, keystream(), keccak().
#pragma once

#include "core/arena.hpp"
#include "core/scheme.hpp"
#include "prim/drbg/drbg.hpp"
#include "prim/keccak/keccak_lanes.hpp"
#include "schemes/saber/interleaved/poly.hpp"
#include "schemes/saber/interleaved/single_prims.hpp"
#include "schemes/saber/ref/keys.hpp"

namespace polykem::saber::interleaved {
inline namespace POLYKEM_ISA {

/// Rows of bytes that begin where a cache line does.
constexpr size_t whole_lines(size_t bytes) {
  return (bytes + 63) / 64 * 64;
}

/// Working memory of one block.
template <SaberParams P>
struct alignas(64) Block {
  alignas(64) uint8_t matrix[kLanes][whole_lines(P.matrix_bytes())];
  alignas(64) uint8_t noise[kLanes][whole_lines(P.noise_bytes())];
  BlockProducts<P.l> product;
  alignas(64) uint16_t words[P.l * kSplitRows];  ///< a row of the key's matrix, split, if all items share one
  LanePoly s[P.l];                               ///< s or s'
  LanePoly u[P.l + 1];                           ///< A s', v'; or b', v
  LanePoly w, cm;
  SecretKey<P.l> shared;  ///< the key, if all items share one that no key set has expanded
  Scratch scratch;
  uint8_t coins[kLanes][kKeygenCoinBytes];
  uint8_t hashed[kLanes][2 * kSymBytes];  ///< m, H(pk)
  uint8_t seeds[kLanes][2 * kSymBytes];   ///< K, r; or seed_A, seed_s
  uint8_t pk_hash[kLanes][kSymBytes];
  uint8_t kdf[kLanes][2 * kSymBytes];  ///< K or z, SHA3-256(c)
  uint8_t ct[kLanes][P.ciphertext_bytes()];
  uint32_t fail[kLanes];  ///< all ones if the ciphertext is rejected
};

template <SaberParams P, class Isa>
struct Chunk {
  static constexpr size_t kL = P.l;
  static constexpr size_t kGranule = kLanes;
  static constexpr size_t kItems = kLanes;
  using Public = PublicKey<kL>;
  using Secret = SecretKey<kL>;
  static size_t workspace_bytes(size_t) { return Arena::bytes<Block<P>>(1); }

  Chunk(const Batch& batch, std::byte* workspace)
      : io(batch), count(batch.count), t(Arena(workspace).take<Block<P>>(1)) {
    coins = {io.coins != nullptr ? io.coins : t->coins[0], 0};
  }

  const Batch& io;
  const size_t count;
  Block<P>* t;
  ConstByteRows coins;

  bool decapsulates() const { return io.sk != nullptr; }
  bool expanded() const { return io.expanded.data != nullptr; }
  /// True if each item has its own key as a record.
  bool keys_are_records() const { return !io.shared_key && !expanded(); }

  const Secret& expanded_secret(size_t l) const { return *reinterpret_cast<const Secret*>(io.expanded.key(l)); }
  const Public& expanded_public(size_t l) const {
    return decapsulates() ? expanded_secret(l).pk : *reinterpret_cast<const Public*>(io.expanded.key(l));
  }
  /// The one key of all items.
  const Secret& shared_secret_key() const { return expanded() ? expanded_secret(0) : t->shared; }
  const Public& shared_public_key() const { return expanded() ? expanded_public(0) : t->shared.pk; }
  /// Calls f(key, record) if all items share one key and it is not expanded yet.
  template <class F>
  void if_shared_record(F&& f) {
    if (io.shared_key && !expanded()) f(t->shared, decapsulates() ? io.sk : io.pk);
  }

  const uint8_t* pk_hash(size_t l) const {
    if (io.shared_key) return shared_public_key().hash;
    if (expanded()) return expanded_public(l).hash;
    return decapsulates() ? io.sk + l * P.secret_key_bytes() + P.hash_offset() : t->pk_hash[l];
  }
  const uint8_t* z(size_t l) const { return io.sk + (io.shared_key ? 0 : l * P.secret_key_bytes()) + P.z_offset(); }

  /// The place of pk in the records of the items' keys.
  ConstByteRows pk(size_t offset) const {
    if (decapsulates()) return {io.sk + P.pk_offset() + offset, P.secret_key_bytes()};
    return {io.pk + offset, P.public_key_bytes()};
  }
  ConstByteRows sk(size_t offset) const { return {io.sk + offset, P.secret_key_bytes()}; }
  ConstByteRows ct(size_t offset) const { return {io.ct + offset, P.ciphertext_bytes()}; }
  ByteRows pk_out(size_t offset) const { return {io.pk_out + offset, P.public_key_bytes()}; }
  ByteRows sk_out(size_t offset) const { return {io.sk_out + offset, P.secret_key_bytes()}; }
  ByteRows ss_out() const { return {io.ss_out, kSymBytes}; }

  template <class F>
  void each(F&& f) {
    for (size_t l = 0; l < count; ++l)
      f(l);
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::saber::interleaved
