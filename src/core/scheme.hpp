// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/batch.hpp"
#include "core/plan.hpp"
#include "core/status.hpp"

namespace polykem {

class Drbg;

/// A KEM has the first three, a signature scheme the first and the last two.
enum class Op : int { kKeygen = 0, kEncaps = 1, kDecaps = 2, kSign = 3, kVerify = 4 };
inline constexpr size_t kOpsPerSet = 3;  ///< operations of one parameter set
inline constexpr size_t kOpCount = 5;    ///< operations of KEMs and of signature schemes

/// The index of an operation among the kOpsPerSet of its scheme.
constexpr size_t index_of_op(Op op) {
  const auto index = static_cast<size_t>(op);
  return index < kOpsPerSet ? index : index - (kOpCount - kOpsPerSet);
}
static_assert(index_of_op(Op::kSign) == index_of_op(Op::kEncaps));
static_assert(index_of_op(Op::kVerify) == index_of_op(Op::kDecaps));

/// The array with the keys of an operation that takes keys.
constexpr const FieldInfo& key_field(Op op) {
  return kRecordFields[op == Op::kEncaps || op == Op::kVerify ? 1 : 2];
}
static_assert(key_field(Op::kEncaps).field == field::kPk && key_field(Op::kDecaps).field == field::kSk);

/// The logical stages of a scheme's operations.
struct OpStages {
  std::span<const Stage> keygen, encaps, decaps, sign{}, verify{};

  constexpr std::span<const Stage> of(Op op) const {
    const std::span<const Stage> all[kOpCount] = {keygen, encaps, decaps, sign, verify};
    return all[static_cast<size_t>(op)];
  }
  /// The number of the stage `name` in each operation of a KEM.
  constexpr std::array<size_t, kOpsPerSet> numbers(std::string_view name) const {
    return {stage_number(keygen, name), stage_number(encaps, name), stage_number(decaps, name)};
  }
};

/// The items of one call of Operation::run, which are a chunk of the caller's batch or a part of one. item_status is
/// never nullptr, and all ok when the engine calls. key_index is nullptr except for keys that an accelerator keeps.
struct Batch : BatchView {
  Drbg* drbg = nullptr;  ///< the first stage makes coins with it where they are nullptr
};

struct Operation;

/// The most items that an implementation for small batches computes.
struct SmallBatchLimits {
  size_t own_keys = 0;       ///< each item with its own key, or without one
  size_t expanded_keys = 0;  ///< with keys that a key set has expanded
  size_t shared_key = 0;     ///< with one key for all
  bool tails = false;        ///< also computes the items at a chunk's end that fill no vector, unless all have one key

  constexpr size_t max_items(const BatchView& items) const {
    return items.shared_key ? shared_key : items.expanded.data != nullptr ? expanded_keys : own_keys;
  }
};

/// The last items of a chunk that an implementation for small batches computes; `operation` is nullptr if there are
/// none.
struct Tail {
  const Operation* operation = nullptr;
  size_t count = 0;
};

/// One operation of one parameter set on one backend: its plan and its code.
struct Operation {
  std::span<const StepInfo> steps;
  size_t items_per_vector;  ///< the number of items that fills the lanes
  size_t chunk;             ///< the number of items whose working set fits the cache; a multiple of items_per_vector
  size_t (*workspace_bytes)(size_t items);  ///< of a chunk of `items`
  /// workspace is 64-byte aligned. Anything but Status::kOk fails the batch.
  Status (*run)(const void* context, const Batch& batch, std::byte* workspace, StepTimes* times);
  const void* context = nullptr;  ///< the backend's own; passed to run
  /// An implementation for small batches, with a plan of its own. The first one whose limits allow a batch computes it;
  /// `operation` is nullptr where there is none.
  struct SmallBatch {
    const Operation* operation = nullptr;
    SmallBatchLimits limits{};
  };
  std::array<SmallBatch, 2> small_batches{};

  /// Returns the last items, up to all of them, if an implementation for small batches computes them.
  constexpr Tail tail(const BatchView& items) const {
    for (const auto& [operation, limits] : small_batches) {
      if (operation == nullptr) break;
      const size_t most = limits.max_items(items), rest = items.count % items_per_vector;
      if (items.count <= most) return {operation, items.count};
      if (limits.tails && !items.shared_key && rest <= most) return {operation, rest};
    }
    return {};
  }
};

/// The expanded form in which a backend keeps the keys of a key set, besides their records, so that a key is expanded
/// only once. bytes == 0: there is no such form.
struct ExpandedKeyFormat {
  size_t bytes = 0;  ///< size of one key; a multiple of 64
  size_t (*workspace_bytes)(size_t count) = nullptr;
  /// out: count x bytes, 64-byte aligned like the workspace. The form notes that a key is malformed, and each item that
  /// uses the key reports it.
  void (*expand)(std::byte* out, const uint8_t* keys, size_t count, std::byte* workspace) = nullptr;
};

struct SchemeBackend {
  const char* name;  ///< the backend's name: "avx2"
  Operation ops[kOpCount];
  ExpandedKeyFormat expanded_public_key{}, expanded_secret_key{};
  const Operation& op(Op which) const { return ops[static_cast<size_t>(which)]; }
};

/// One parameter set: what the registry lists and everything above the schemes reads.
struct Scheme {
  const char* name;
  const char* family;
  const char* title;
  std::span<const char* const> aliases;
  uint32_t security_category;
  size_t public_key_bytes, secret_key_bytes;
  size_t ciphertext_bytes = 0, shared_secret_bytes = 0;  ///< of a KEM
  size_t signature_bytes = 0;                            ///< of a signature scheme
  size_t keygen_coin_bytes;
  size_t encaps_coin_bytes = 0, sign_coin_bytes = 0;
  size_t public_key_at = SIZE_MAX;  ///< where a secret key holds its public key; SIZE_MAX: it does not
  /// Computes the public key of a secret key that does not hold it; Status::kSecretKey and zeros if the secret key's
  /// parts do not belong together. nullptr: there is no such computation.
  Status (*public_key_of)(const uint8_t* sk, uint8_t* pk) = nullptr;
  /// mu of the first of the messages: 64 bytes, from which a signature set signs and verifies [FIPS204, Alg 7, L6].
  /// key: the secret key for Op::kSign, the public key for Op::kVerify.
  void (*mu)(Op op, const uint8_t* key, const Messages& messages, uint8_t* out) = nullptr;
  bool research = false;  ///< not to be relied on: attacks on it are published
  OpStages stages;
  bool secret_seeds = false;  ///< the coins of keygen may stand for the secret key, see secret_seed_bytes()
  std::span<const SchemeBackend> backends;  ///< best first

  /// Bytes of a secret key in its form as a seed; 0 if the standard has no such form.
  size_t secret_seed_bytes() const { return secret_seeds ? keygen_coin_bytes : 0; }

  size_t coin_bytes(Op op) const {
    const size_t all[kOpCount] = {keygen_coin_bytes, encaps_coin_bytes, 0, sign_coin_bytes, 0};
    return all[static_cast<size_t>(op)];
  }
  RecordBytes record_bytes(Op op) const {
    return {public_key_bytes, secret_key_bytes, ciphertext_bytes, shared_secret_bytes, coin_bytes(op), signature_bytes};
  }
  bool is_signature() const { return signature_bytes != 0; }
  bool has(Op op) const { return op == Op::kKeygen || is_signature() == (op == Op::kSign || op == Op::kVerify); }
};

}  // namespace polykem
