// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/profile.hpp"
#include "engine/worker.hpp"

namespace polykem {

/// The properties that all chunks of a batch share.
struct ChunkShape {
  const Scheme& scheme;
  Op op;
  bool sk_is_seed;    ///< sk holds seeds: the secret keys are computed first
  bool keys_on_host;  ///< key_index, if there is one, is resolved here and not by the backend
};

/// Computes the items on this thread. Errors of items are written to items.item_status (never nullptr); the result is
/// then Status::kItems. Secrets stay in the worker's memory until its zeroize(). profile may be nullptr.
Status compute_chunk(const ChunkShape& shape, const SchemeBackend& backend, BatchView items, Worker& worker,
                     Profile* profile);

}  // namespace polykem
