// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/backend.hpp"
#include "core/plan.hpp"
#include "core/status.hpp"

namespace polykem {

class Drbg;

enum class Op : int { keygen = 0, encaps = 1, decaps = 2 };
inline constexpr size_t kOps = 3;

/// Keys of a key set in a backend's own form. Item i uses the one at key(i).
struct ExpandedKeys {
  const std::byte* data = nullptr;  ///< nullptr: none; 64-byte aligned
  size_t bytes = 0;                 ///< of one
  bool shared = false;              ///< one for all items
  const size_t* index = nullptr;    ///< item i uses number index[i]; nullptr: number i

  const std::byte* key(size_t i) const { return data + (shared ? 0 : index == nullptr ? i : index[i]) * bytes; }
};

/// A run of consecutive items of a batch, as the engine hands it to a backend. Records are contiguous.
struct Batch {
  size_t count = 0;
  bool shared_key = false;         ///< pk or sk is one record for all items
  const uint8_t* draws = nullptr;  ///< count x draw bytes, or nullptr: the first stage draws from `drbg`
  Drbg* drbg = nullptr;
  const uint8_t* pk = nullptr;
  const uint8_t* sk = nullptr;
  const uint8_t* ct = nullptr;
  const size_t* key_index = nullptr;  ///< only with keys that lie on a device: item i uses record key_index[i] of them
  uint8_t* pk_out = nullptr;
  uint8_t* sk_out = nullptr;
  uint8_t* ct_out = nullptr;
  uint8_t* ss_out = nullptr;
  Status* item_status = nullptr;  ///< never nullptr; preset to ok
  ExpandedKeys expanded{};        ///< the same keys in the backend's own form, if they are of a key set that has it
};

/// One operation of one parameter set on one backend: its vocabulary, its plan and its code.
struct Operation {
  std::span<const Stage> stages;
  std::span<const StepInfo> steps;
  size_t granule;                           ///< items that fill the lanes
  size_t chunk;                             ///< items whose working set fits the cache; a multiple of granule
  size_t (*workspace_bytes)(size_t items);  ///< for a chunk of `items`
  /// workspace is 64-byte aligned. Anything but Status::ok fails the batch.
  Status (*run)(const Batch&, std::byte* workspace, StepTimes* times);
};

/// How a backend keeps the keys of a key set besides their records, so that a key that is used again need not be
/// expanded again. bytes == 0: it does not.
struct KeyForm {
  size_t bytes = 0;  ///< of one key; a multiple of 64
  size_t (*workspace_bytes)(size_t count) = nullptr;
  /// out: count x bytes, 64-byte aligned like the workspace. A malformed key is remembered in its form and reported for
  /// each item that uses it.
  void (*expand)(std::byte* out, const uint8_t* keys, size_t count, std::byte* workspace) = nullptr;
};

struct SchemeBackend {
  BackendId backend;
  Operation ops[kOps];
  KeyForm public_form{}, secret_form{};
  const Operation& op(Op which) const { return ops[static_cast<size_t>(which)]; }
};

/// One parameter set: what the registry lists and everything above the schemes reads.
struct Scheme {
  const char* name;
  const char* family;
  const char* title;
  std::span<const char* const> aliases;
  uint32_t security_category;
  size_t public_key_bytes, secret_key_bytes, ciphertext_bytes, shared_secret_bytes;
  size_t keygen_draw_bytes, encaps_draw_bytes;
  bool secret_seeds = false;  ///< the draws of keygen may stand for the secret key, see secret_seed_bytes()
  std::span<const SchemeBackend> backends;  ///< best first

  /// Bytes of a secret key in its form as a seed; 0 if the standard has none.
  size_t secret_seed_bytes() const { return secret_seeds ? keygen_draw_bytes : 0; }

  size_t draw_bytes(Op op) const {
    return op == Op::keygen ? keygen_draw_bytes : op == Op::encaps ? encaps_draw_bytes : 0;
  }
};

}  // namespace polykem
