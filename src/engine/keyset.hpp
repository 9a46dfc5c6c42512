// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "core/scheme.hpp"
#include "core/secure.hpp"

namespace polykem {

class Accelerator;

enum class KeyKind { kPublicKeys, kSecretKeys, kSecretSeeds };

/// Keys in an accelerator's memory: records, and perhaps an expanded form; zeroized before they are freed.
class KeyMemory {
 public:
  virtual ~KeyMemory() = default;

  virtual uint8_t* records() = 0;
  /// Copies all records, from host memory or the accelerator's.
  virtual Status fill(const uint8_t* records) = 0;
  /// Makes the expanded form, if the accelerator has one for the set and memory for it. Call it after fill().
  virtual void expand() = 0;
  /// The expanded keys; data is nullptr if there is no expanded form for such batches. shared: all items use one key.
  virtual ExpandedKeys expanded(bool shared) const = 0;
};

/// Keys that stay in the library: contiguous records, on an accelerator or in host memory, zeroized when freed. If it
/// fits kExpandedBudget, a set on the host also holds them in their backend's own form. Immutable once filled. `kind`
/// is never KeyKind::kSecretSeeds: seeds are expanded as the set is filled.
struct KeySet {
  /// The most bytes of expanded keys on the host. They take up to ten times the space of the records; a set that would
  /// need more has none.
  static constexpr size_t kExpandedBudget = size_t{256} << 20;

  const Scheme* scheme = nullptr;
  KeyKind kind = KeyKind::kPublicKeys;
  size_t count = 0;
  Accelerator* accelerator = nullptr;  ///< the one that keeps the keys; nullptr: the host does
  std::unique_ptr<KeyMemory> placed;   ///< the keys on the accelerator,
  SecureBuffer host;                   ///< or the records on the host
  SecureBuffer host_expanded;          ///< `count` keys in the form of the backend `expanded_for`, or empty
  const SchemeBackend* expanded_for = nullptr;

  size_t record_bytes() const {
    return kind == KeyKind::kPublicKeys ? scheme->public_key_bytes : scheme->secret_key_bytes;
  }
  /// The form in which `backend` keeps such keys besides the records.
  const ExpandedKeyFormat& expanded_format(const SchemeBackend& backend) const {
    return kind == KeyKind::kPublicKeys ? backend.expanded_public_key : backend.expanded_secret_key;
  }
  uint8_t* records() const { return placed != nullptr ? placed->records() : reinterpret_cast<uint8_t*>(host.data()); }
  /// The keys in the form of `backend`, if the set has it for batches with one key (shared) or with many.
  ExpandedKeys expanded(const SchemeBackend& backend, bool shared) const {
    if (placed != nullptr) return placed->expanded(shared);
    if (host_expanded.size() == 0 || expanded_for != &backend) return {};
    return {.data = host_expanded.data(), .bytes = expanded_format(backend).bytes};
  }
};

}  // namespace polykem
