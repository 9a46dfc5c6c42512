// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/scheme.hpp"
#include "engine/keyset.hpp"

namespace polykem {

/// One batch as the caller asked for it; the fields mean what polykem_request documents.
struct Request {
  Op op = Op::keygen;
  bool sk_is_seed = false;
  const Scheme* scheme = nullptr;
  BatchView records{};  ///< item_status may be nullptr; key_index: of the key set
  const KeySet* keyset = nullptr;
};

/// Status::ok, or what is wrong with the request as a whole.
Status validate(const Request& request);

/// The records of a valid request with the keys of its key set, if it has one, in their place; `backend` runs it.
BatchView with_keys(const Request& request, const SchemeBackend& backend);

}  // namespace polykem
