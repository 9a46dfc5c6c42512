// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/scheme.hpp"
#include "engine/keyset.hpp"

namespace polykem {

/// One batch as the caller requested it; polykem_request documents the fields.
struct Request {
  Op op = Op::keygen;
  bool sk_is_seed = false;
  const Scheme* scheme = nullptr;
  BatchView records{};  ///< item_status may be nullptr; key_index is an index into the key set
  const KeySet* keyset = nullptr;
};

/// Status::ok, or what is wrong with the request as a whole.
Status validate(const Request& request);

/// The records of a valid request. If it has a key set, the keys are the set's, for use by `backend`.
BatchView with_keys(const Request& request, const SchemeBackend& backend);

}  // namespace polykem
