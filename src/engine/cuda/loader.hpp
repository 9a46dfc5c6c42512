// SPDX-License-Identifier: Apache-2.0
// Finds and loads libpolykem_cuda.so.
#pragma once

#include <string>

#include "engine/cuda/module.hpp"

namespace polykem::cuda {

/// The module with a usable GPU, or why there is none.
struct LoadedModule {
  const ModuleTable* table = nullptr;
  std::string problem;  ///< one line for the user; empty if table is set
};

/// Loads on the first call; later calls return the same. Thread-safe. It looks at POLYKEM_CUDA_MODULE (a path; nothing
/// else is tried then), beside this library and the program, in ../lib of both, and where the system looks for
/// libraries.
const LoadedModule& loaded_module();

}  // namespace polykem::cuda
