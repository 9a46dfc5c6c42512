// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/scheme.hpp"
#include "core/secure.hpp"
#include "engine/cuda/device_keys.hpp"

namespace polykem {

enum class KeyKind { public_keys, secret_keys, secret_seeds };

/// Keys that stay in the library: records back to back, on a GPU or in host memory, zeroised when freed, and on the
/// host also in their backend's own form where that fits kExpandedBudget. Immutable once filled; kind is never
/// secret_seeds.
struct KeySet {
  /// Expanded forms are up to ten times the records; larger sets do without.
  static constexpr size_t kExpandedBudget = size_t{256} << 20;

  const Scheme* scheme = nullptr;
  KeyKind kind = KeyKind::public_keys;
  size_t count = 0;
  SecureBuffer records;             ///< on the host,
  cuda::DeviceKeys device_records;  ///< or on a GPU
  SecureBuffer expanded;            ///< count forms of the backend `expanded_for`, if not empty
  BackendId expanded_for = BackendId::ref;

  size_t record_bytes() const {
    return kind == KeyKind::public_keys ? scheme->public_key_bytes : scheme->secret_key_bytes;
  }
  /// What `backend` keeps of such keys besides the records.
  const KeyForm& form(const SchemeBackend& backend) const {
    return kind == KeyKind::public_keys ? backend.public_form : backend.secret_form;
  }
  bool on_device() const { return device_records.data() != nullptr; }
  uint8_t* record(size_t i) const {
    return (on_device() ? device_records.data() : reinterpret_cast<uint8_t*>(records.data())) + i * record_bytes();
  }
};

}  // namespace polykem
