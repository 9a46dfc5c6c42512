// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/scheme.hpp"
#include "core/secure.hpp"
#include "engine/cuda/device_keys.hpp"

namespace polykem {

enum class KeyKind { public_keys, secret_keys };

/// Keys that stay in the library: records back to back, on a GPU or in host memory, zeroised when freed. Immutable once
/// filled.
struct KeySet {
  const Scheme* scheme = nullptr;
  KeyKind kind = KeyKind::public_keys;
  size_t count = 0;
  SecureBuffer records;             ///< on the host,
  cuda::DeviceKeys device_records;  ///< or on a GPU

  size_t record_bytes() const {
    return kind == KeyKind::public_keys ? scheme->public_key_bytes : scheme->secret_key_bytes;
  }
  bool on_device() const { return device_records.data() != nullptr; }
  uint8_t* record(size_t i) const {
    return (on_device() ? device_records.data() : reinterpret_cast<uint8_t*>(records.data())) + i * record_bytes();
  }
};

}  // namespace polykem
