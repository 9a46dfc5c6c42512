// SPDX-License-Identifier: Apache-2.0
// Makes the module a backend of the registry's parameter sets.
#pragma once

#include <atomic>

#include "core/scheme.hpp"

namespace polykem::cuda {

/// Below this many items the CPU ends sooner.
inline constexpr size_t kSmallestBatch = 1024;

/// The set's operations on the GPU; nullptr if there is no module, no GPU, or the module lacks the set. Loads the
/// module.
const SchemeBackend* backend_for(const Scheme& scheme);

/// Chunks that a failed device left to the CPU, since the process began.
size_t chunks_moved_to_cpu();

}  // namespace polykem::cuda
