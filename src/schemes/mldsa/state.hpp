// SPDX-License-Identifier: Apache-2.0
// The states of key generation, signing and verification: the items that are computed together, and their working
// memory.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>

#include "core/arena.hpp"
#include "core/round.hpp"
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
  uint8_t rnd[kSeedBytes];
  uint8_t mask_seed[kDigestBytes];  ///< rho''
  uint8_t mu[kDigestBytes];
};

/// The status of an attempt. kUnneeded: an earlier attempt of the item has passed all checks so far.
enum class AttemptStatus : uint8_t { kOpen, kRejected, kUnneeded };

/// An attempt at a signature.
template <MldsaParams P>
struct Attempt {
  uint8_t mu_w1[kDigestBytes + P.k * P.w1_bytes()];
  uint8_t challenge[P.challenge_bytes()];  ///< c~
  Poly y[P.l], z[P.l];                     ///< z is y^ at first
  Poly w[P.k], w1[P.k], hint[P.k];         ///< w becomes its low part, then r0
  Poly c;
  SmallPoly small_c;
  size_t slot;  ///< the slot of the attempt's item
  uint16_t kappa;
  AttemptStatus status;
};

template <MldsaParams P>
struct VerifyItem {
  PublicKey<P> key;  ///< the item's key, unless it is expanded already
  uint8_t mu_w1[kDigestBytes + P.k * P.w1_bytes()];
  uint8_t challenge[P.challenge_bytes()];  ///< c~'
  Poly z[P.l], w[P.k], hint[P.k], c;
  bool well_formed;
};

/// A message of a hash for each Keccak state, and the hashes' output.
template <MldsaParams P, InstructionSet Isa>
struct HashRows {
  alignas(64) uint8_t in[Isa::kStates * (kDigestBytes + P.k * P.w1_bytes())];
  alignas(64) uint8_t out[Isa::kStates * rounded_up(kMatrixBytes, 64)];
};

/// Items and their working memory.
template <MldsaParams P, InstructionSet Isa, class ItemMemory>
struct ItemsState {
  using Item = ItemMemory;
  static constexpr size_t kItems = Isa::kItems;
  static size_t workspace_bytes(size_t count) {
    return Arena::bytes<HashRows<P, Isa>>(1) + Arena::bytes<Item>(std::min(count, kItems));
  }

  ItemsState(const Batch& batch, std::byte* workspace) : io(batch), count(batch.count) {
    Arena arena(workspace);
    rows = arena.take<HashRows<P, Isa>>(1);
    items = arena.take<Item>(count);
  }

  Batch io;
  size_t count;
  HashRows<P, Isa>* rows;
  Item* items;
};

template <MldsaParams P, InstructionSet Isa>
using KeygenState = ItemsState<P, Isa, KeygenItem<P>>;

template <MldsaParams P, InstructionSet Isa>
struct VerifyState : ItemsState<P, Isa, VerifyItem<P>> {
  using VerifyState::ItemsState::count, VerifyState::ItemsState::io, VerifyState::ItemsState::items;
  using VerifyState::ItemsState::ItemsState;

  /// Returns the number of keys that are to be expanded; the first items have them.
  size_t new_keys() const { return io.expanded.data != nullptr ? 0 : io.shared_key ? 1 : count; }
  const PublicKey<P>& key(size_t item) const {
    if (io.expanded.data != nullptr) return *reinterpret_cast<const PublicKey<P>*>(io.expanded.key(item));
    return items[io.shared_key ? 0 : item].key;
  }
};

/// A queue of items that need a signature. Up to kAttempts of them have a slot, with their key. A round makes an
/// attempt for each of these; while the queue is empty and slots are free, it makes several attempts for an item, of
/// which the first to succeed counts. A signed item leaves its slot to the next one, so that rounds stay full. So does
/// an item whose attempts all fail, which is less likely than 2^-256 with a secret key that keygen made.
template <MldsaParams P, InstructionSet Isa>
struct SignState {
  static constexpr size_t kAttempts = Isa::kItems, kItems = 8 * Isa::kItems;
  /// The largest number of attempts for an item in a round: the number, up to three, for which the fewest Keccak states
  /// per attempt are idle while masks are made. The results of more than three attempts are seldom needed.
  static constexpr size_t kMaxAhead = [] {
    const auto idle = [](size_t attempts) { return rounded_up(attempts * P.l, Isa::kStates) - attempts * P.l; };
    size_t best = 1;
    for (const size_t more : {size_t{2}, size_t{3}})
      if (idle(more) * best < idle(best) * more) best = more;
    return best;
  }();
  static constexpr size_t kEndOfAttempts = kMaxAttempts * P.l;  ///< kappa after the last attempt
  using Item = SignItem<P>;
  using Key = SecretKey<P>;

  struct Slot {
    const Key* key;
    size_t item;
    uint16_t kappa;  ///< kappa of the item's next attempt
    bool taken;
  };

  static size_t workspace_bytes(size_t count) {
    return Arena::bytes<HashRows<P, Isa>>(1) + Arena::bytes<Item>(std::min(count, kItems)) +
           Arena::bytes<Attempt<P>>(max_attempts(count)) + Arena::bytes<Key>(std::min(count, kAttempts));
  }

  SignState(const Batch& batch, std::byte* workspace) : io(batch), count(batch.count) {
    Arena arena(workspace);
    rows = arena.take<HashRows<P, Isa>>(1);
    items = arena.take<Item>(count);
    attempts = arena.take<Attempt<P>>(max_attempts(count));
    keys = arena.take<Key>(std::min(count, kAttempts));
  }

  Batch io;
  size_t count;
  HashRows<P, Isa>* rows;
  Item* items;
  Attempt<P>* attempts;  ///< the attempts of this round; those of an item are in order
  size_t attempt_count = 0;
  Key* keys;  ///< the key of each slot, or only the one that all items share; not used if keys are expanded
  std::array<Slot, kAttempts> slots{};
  std::array<size_t, kAttempts> new_keys{};  ///< the slots whose keys are to be expanded
  size_t new_key_count = 0;

  const Slot& slot_of(const Attempt<P>& attempt) const { return slots[attempt.slot]; }
  Item& item_of(const Attempt<P>& attempt) const { return items[slot_of(attempt).item]; }

  /// Fills the slots from the queue and begins the attempts of a round.
  void begin_round() {
    new_key_count = attempt_count = 0;
    size_t taken = 0;
    for (size_t i = 0; i < kAttempts; ++i) {
      if (!slots[i].taken && next_item_ < count) fill_slot(i, next_item_++);
      taken += slots[i].taken;
    }
    const size_t each = std::min(kMaxAhead, kAttempts / taken);
    for (size_t i = 0; i < kAttempts; ++i) {
      for (size_t ahead = 0; slots[i].taken && ahead < each; ++ahead) {
        const size_t kappa = slots[i].kappa + ahead * P.l;
        if (kappa == kEndOfAttempts) break;
        Attempt<P>& attempt = attempts[attempt_count++];
        attempt.slot = i;
        attempt.kappa = static_cast<uint16_t>(kappa);
        attempt.status = AttemptStatus::kOpen;
      }
    }
  }

  /// Ends a round. Returns false if no item waits for its signature. [FIPS204, Alg 7, L31]
  bool next_tile() {
    for (size_t i = 0; i < attempt_count; ++i) {
      Slot& slot = slots[attempts[i].slot];
      if (attempts[i].status == AttemptStatus::kRejected) slot.kappa = static_cast<uint16_t>(slot.kappa + P.l);
      if (attempts[i].status == AttemptStatus::kOpen) slot.taken = false;
      if (slot.kappa == kEndOfAttempts) give_up(slot);
    }
    const auto taken = [](const Slot& slot) { return slot.taken; };
    return next_item_ < count || std::any_of(slots.begin(), slots.end(), taken);
  }

 private:
  void give_up(Slot& slot) {
    io.item_status[slot.item] = Status::kSecretKey;
    std::memset(io.sig_out + slot.item * P.signature_bytes(), 0, P.signature_bytes());
    slot.taken = false;
  }

  static size_t max_attempts(size_t count) { return std::min(count * kMaxAhead, kAttempts); }

  void fill_slot(size_t i, size_t item) {
    const bool expanded = io.expanded.data != nullptr;
    const Key* const key = expanded        ? reinterpret_cast<const Key*>(io.expanded.key(item))
                           : io.shared_key ? keys
                                           : &keys[i];
    slots[i] = {key, item, 0, true};
    if (!expanded && (item == 0 || !io.shared_key)) new_keys[new_key_count++] = i;
  }

  size_t next_item_ = 0;
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::mldsa
