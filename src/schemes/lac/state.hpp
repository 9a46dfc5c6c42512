// SPDX-License-Identifier: Apache-2.0
// The items that are being computed, with their records.
#pragma once

#include "core/arena.hpp"
#include "core/scheme.hpp"
#include "schemes/lac/bch/bch.hpp"
#include "schemes/lac/fixed_weight.hpp"
#include "schemes/lac/instruction_set.hpp"
#include "schemes/lac/params.hpp"
#include "schemes/records.hpp"

namespace polykem::lac {
inline namespace POLYKEM_ISA {

/// The input of the last hash: m or the rejection key, then the ciphertext.
struct HashInput {
  uint8_t m[kSeedBytes];
  uint8_t ct[kMaxCiphertextBytes];
};

/// Working memory of one item.
struct alignas(64) Item {
  uint8_t a[kMaxCoefficients];       ///< a of the item's own key; the first item has that of a shared key
  uint8_t b[kMaxCoefficients];       ///< b; or c1 s, then c2 before its compression
  int8_t secret[kMaxCoefficients];   ///< s or r
  int8_t noise[kMaxCoefficients];    ///< e or e1
  int8_t noise2[kMaxCoefficients];   ///< e2 + 125 bits
  uint8_t stream[kMaxCoefficients];  ///< output of the PRG; or c2 of the received ciphertext
  uint8_t seeds[3 * kSeedBytes];     ///< the seeds of a, s, e; or of r, e1, e2
  uint8_t seed[kSeedBytes];          ///< the seed of those
  uint8_t code[kBchMessageBytes + kBchMaxParityBytes];
  union {
    FixedWeight<1> small[2];  ///< n = 512
    FixedWeight<2> large[2];  ///< n = 1024
  };
  HashInput hash_input;
  uint8_t rejected[kSeedBytes];
  uint64_t fail;  ///< all ones if the ciphertext is rejected
};

template <InstructionSet Isa>
struct State {
  static constexpr size_t kItemsPerVector = Isa::kItems;
  static constexpr size_t kItems = Isa::kItems;

  static size_t workspace_bytes(size_t items) {
    return Arena::bytes<Item>(items) + Arena::bytes<uint8_t>(2 * items * kSeedBytes) +
           Arena::bytes<typename Isa::Scratch>(1);
  }

  State(const Set& parameters, const Batch& batch, std::byte* workspace) : set(parameters), io(batch) {
    Arena arena(workspace);
    items = arena.take<Item>(io.count);
    chain = arena.take<uint8_t>(2 * io.count * kSeedBytes);
    scratch = arena.take<typename Isa::Scratch>(1);
  }

  const Set& set;
  const Batch& io;
  Item* items;
  uint8_t* chain;  ///< the hashes that replace positions, two for each item
  typename Isa::Scratch* scratch;

  bool decapsulates() const { return io.sk != nullptr; }
  bool has_keys() const { return decapsulates() || io.pk != nullptr; }
  const uint8_t* sk(size_t i) const { return key_at(io, io.sk, i, set.secret_key_bytes()); }
  /// Returns the public key of item i, which in decaps is a part of the secret key.
  const uint8_t* pk(size_t i) const {
    return decapsulates() ? sk(i) + set.n : key_at(io, io.pk, i, set.public_key_bytes());
  }
  const uint8_t* a(size_t i) const { return items[io.shared_key ? 0 : i].a; }
  const uint8_t* ct(size_t i) const { return io.ct + i * set.ciphertext_bytes(); }

  template <class F>
  void each(F&& f) {
    for (size_t i = 0; i < io.count; ++i)
      f(items[i], i);
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::lac
