// SPDX-License-Identifier: Apache-2.0
// A block of items, one per lane, with their records and keys. Isa: an InstructionSet.
#pragma once

#include <algorithm>

#include "core/arena.hpp"
#include "core/scheme.hpp"
#include "prim/drbg/drbg.hpp"
#include "prim/keccak/keccak_lanes.hpp"
#include "schemes/mlkem/interleaved/fetch.hpp"
#include "schemes/mlkem/interleaved/poly.hpp"
#include "schemes/mlkem/interleaved/single_prims.hpp"
#include "schemes/mlkem/ref/keys.hpp"

namespace polykem::mlkem::interleaved {
inline namespace POLYKEM_ISA {

/// Working memory of one block.
template <Dims D>
struct alignas(64) Block {
  LanePoly rows[(D.k + 1) * D.k];  ///< A or A^T; then t^ of a public key; paired
  LanePoly s[D.k];                 ///< s^ or y; paired where it is unpacked from a key
  LanePoly e[D.k + 1];             ///< e; or e1, e2
  LanePoly u[D.k + 1];             ///< t; or u, v
  LanePoly w;                      ///< s^T u, message
  SecretKey<D.k> shared;           ///< the key, if all items share one that no key set has expanded
  Scratch scratch;
  uint16_t accepted[kLanes][kAcceptedWords];
  uint8_t prf[kLanes][D.prf_stride()];
  uint8_t coins[kLanes][kKeygenCoinBytes];
  uint8_t hashed[kLanes][2 * kSymBytes];  ///< m, H(ek); or d, k
  uint8_t seeds[kLanes][2 * kSymBytes];   ///< rho, sigma; or K, r
  uint8_t ek_hash[kLanes][kSymBytes];
  uint8_t other[kLanes][kSymBytes];                          ///< ML-KEM: rejection secret; round 3: SHA3-256(c)
  uint8_t kdf[kLanes][2 * kSymBytes];                        ///< round 3: K, SHA3-256(c)
  uint8_t reject[kLanes][kSymBytes + D.ciphertext_bytes()];  ///< z, c
  uint8_t ct[kLanes][D.ciphertext_bytes()];
  uint32_t fail[kLanes];  ///< all ones if the ciphertext is rejected
  bool valid[kLanes];     ///< of each key, if keys are neither shared nor expanded
};

template <MlkemParams P, class Isa>
struct Chunk {
  static constexpr Dims D = P;
  static constexpr size_t kK = P.k;
  static constexpr size_t kGranule = kLanes;
  static constexpr size_t kItems = kLanes;
  using Public = PublicKey<kK>;
  using Secret = SecretKey<kK>;
  static size_t workspace_bytes(size_t) { return Arena::bytes<Block<D>>(1); }

  Chunk(const Batch& batch, std::byte* workspace)
      : io(batch), count(batch.count), t(Arena(workspace).take<Block<D>>(1)) {
    coins = {io.coins != nullptr ? io.coins : t->coins[0], 0};
  }

  const Batch& io;
  const size_t count;
  Block<D>* t;
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

  const uint8_t* ek_hash(size_t l) const {
    if (io.shared_key) return shared_public_key().hash;
    if (expanded()) return expanded_public(l).hash;
    return decapsulates() ? io.sk + l * P.secret_key_bytes() + P.hash_offset() : t->ek_hash[l];
  }
  bool valid(size_t l) const {
    if (keys_are_records()) return t->valid[l];
    if (decapsulates()) return (io.shared_key ? shared_secret_key() : expanded_secret(l)).valid;
    return (io.shared_key ? shared_public_key() : expanded_public(l)).valid;
  }
  const uint8_t* z(size_t l) const { return io.sk + (io.shared_key ? 0 : l * P.secret_key_bytes()) + P.z_offset(); }

  /// The place of ek in the records of the items' keys.
  ConstByteRows ek(size_t offset) const {
    if (decapsulates()) return {io.sk + P.ek_offset() + offset, P.secret_key_bytes()};
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
}  // namespace polykem::mlkem::interleaved
