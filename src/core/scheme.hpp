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

struct SchemeBackend {
  BackendId backend;
  Operation ops[kOps];
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
  std::span<const SchemeBackend> backends;  ///< best first

  size_t draw_bytes(Op op) const {
    return op == Op::keygen ? keygen_draw_bytes : op == Op::encaps ? encaps_draw_bytes : 0;
  }
};

}  // namespace polykem
