// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/scheme.hpp"
#include "core/secure.hpp"

namespace polykem {

enum class KeyKind { public_keys, secret_keys };

/// Keys that stay in the library: records back to back, zeroised when freed. Immutable once filled.
struct KeySet {
  const Scheme* scheme = nullptr;
  KeyKind kind = KeyKind::public_keys;
  size_t count = 0;
  SecureBuffer records;

  size_t record_bytes() const {
    return kind == KeyKind::public_keys ? scheme->public_key_bytes : scheme->secret_key_bytes;
  }
  uint8_t* record(size_t i) const { return reinterpret_cast<uint8_t*>(records.data()) + i * record_bytes(); }
};

}  // namespace polykem
