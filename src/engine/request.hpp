// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/scheme.hpp"
#include "engine/keyset.hpp"

namespace polykem {

class Accelerator;

/// Who may compute a batch.
enum class RunOn {
  any,          ///< whoever is sooner done, and the CPU what an accelerator cannot
  cpu,          ///< the CPU; every array lies in host memory
  caller,       ///< the same on this thread, whose stack may be small: without matrix tiles, see may_use_tiles()
  accelerator,  ///< Request::accelerator and nobody else
};

/// One batch as the caller requested it; polykem_request documents the fields.
struct Request {
  Op op = Op::keygen;
  bool sk_is_seed = false;
  const Scheme* scheme = nullptr;
  BatchView records{};  ///< item_status may be nullptr; key_index is an index into the key set
  const KeySet* keyset = nullptr;
  RunOn run_on = RunOn::any;
  Accelerator* accelerator = nullptr;  ///< for RunOn::accelerator
  bool caller_waits = false;           ///< Batcher::add: its thread waits for the ticket next
};

/// Status::ok, or what is wrong with the request as a whole.
Status validate(const Request& request);

/// The records of a valid request. If it has a key set, the keys are the set's, for use by `backend`.
BatchView with_keys(const Request& request, const SchemeBackend& backend);

}  // namespace polykem
