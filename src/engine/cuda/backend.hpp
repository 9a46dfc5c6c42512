// SPDX-License-Identifier: Apache-2.0
// Makes the module a backend of the registry's parameter sets.
#pragma once

#include <atomic>

#include "core/scheme.hpp"
#include "engine/request.hpp"
#include "prim/drbg/drbg.hpp"

namespace polykem::cuda {

/// The set's operations on the GPU; nullptr if there is no module, no GPU, or the module lacks the set. Loads the
/// module.
const SchemeBackend* backend_for(const Scheme& scheme);

/// Items of a chunk of the request, which backend_for() runs, for an engine of so many threads.
size_t chunk_items(const Request& request, unsigned threads);

/// True if an array of the request lies in a GPU's memory.
bool has_device_arrays(const Request& request);

/// Queues a batch on the caller's stream; all its arrays lie in the memory of the current GPU.
Status queue(const Request& request, Drbg& drbg, void* workspace, void* stream);

/// Device memory that queue() wants. Status::backend_unavailable if the set has no operation on a GPU here.
Status queue_bytes(const Scheme& scheme, Op op, size_t count, size_t& bytes);

/// Zeroises memory of a GPU; false, and nothing done, if it is none.
bool zero_if_on_device(void* memory, size_t bytes);

/// Chunks that a failed device left to the CPU, since the process began.
size_t chunks_moved_to_cpu();

}  // namespace polykem::cuda
