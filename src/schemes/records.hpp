// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/isa.hpp"
#include "core/scheme.hpp"
#include "prim/simd/rows.hpp"

namespace polykem {
inline namespace POLYKEM_ISA {

/// Returns the key of item i: record i of `keys`, which have `bytes` bytes each, or the one key of all items.
inline const uint8_t* key_at(const Batch& io, const uint8_t* keys, size_t i, size_t bytes) {
  return keys + (io.shared_key ? 0 : i * bytes);
}

/// Gives access to the records and expanded keys of a batch's items. P holds the parameters of a scheme whose secret
/// key ends with pk, H(pk) and z. Public and Secret are the scheme's keys in the form in which a key set keeps them;
/// Secret has a member `pk` of type Public.
template <auto P, class Public, class Secret>
struct Records {
  explicit Records(const Batch& batch) : io(batch) {}

  const Batch& io;

  bool decapsulates() const { return io.sk != nullptr; }
  /// True if the batch brings its keys in expanded form, as a key set keeps them.
  bool expanded() const { return io.expanded.data != nullptr; }
  const Secret& expanded_secret(size_t i) const { return *reinterpret_cast<const Secret*>(io.expanded.key(i)); }
  const Public& expanded_public(size_t i) const {
    return decapsulates() ? expanded_secret(i).pk : *reinterpret_cast<const Public*>(io.expanded.key(i));
  }

  /// Returns the items' public keys from byte `offset` on. In decapsulation they are parts of the secret keys.
  ConstByteRows pk_in(size_t offset = 0) const {
    if (decapsulates()) return {io.sk + P.pk_offset() + offset, P.secret_key_bytes()};
    return {io.pk + offset, P.public_key_bytes()};
  }
  ConstByteRows sk_in(size_t offset = 0) const { return {io.sk + offset, P.secret_key_bytes()}; }
  ConstByteRows ct_in(size_t offset = 0) const { return {io.ct + offset, P.ciphertext_bytes()}; }
  ByteRows pk_out(size_t offset = 0) const { return {io.pk_out + offset, P.public_key_bytes()}; }
  ByteRows sk_out(size_t offset = 0) const { return {io.sk_out + offset, P.secret_key_bytes()}; }
  ByteRows ct_out(size_t offset = 0) const { return {io.ct_out + offset, P.ciphertext_bytes()}; }
  ByteRows ss_out() const { return {io.ss_out, 32}; }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem
