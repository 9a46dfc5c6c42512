// SPDX-License-Identifier: Apache-2.0
// Finds and loads libpolykem_cuda.so.
#pragma once

#include <string>

#include "accelerators/cuda/module/module.hpp"

namespace polykem::cuda {

/// The module, or why there is none.
struct LoadedModule {
  const ModuleTable* table = nullptr;
  std::string problem;  ///< one line for the user; empty if table is set
};

/// Loads on the first call; later calls return the same. Thread-safe, never destroyed. core/module_file.hpp says
/// where it looks; the variable is POLYKEM_CUDA_MODULE.
const LoadedModule& loaded_module();
/// Says which file is missing; "" if the module was found. Loads nothing.
std::string missing_module();
/// The module, if it finds a usable GPU. The first call opens the GPUs, which takes seconds.
const LoadedModule& opened_module();

}  // namespace polykem::cuda
