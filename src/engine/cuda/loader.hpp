// SPDX-License-Identifier: Apache-2.0
// Finds and loads libpolykem_cuda.so.
#pragma once

#include <string>

#include "cuda_module/module.hpp"

namespace polykem::cuda {

/// The module with a usable GPU, or why there is none.
struct LoadedModule {
  const ModuleTable* table = nullptr;
  std::string problem;  ///< one line for the user; empty if table is set
};

/// Loads on the first call; later calls return the same. Thread-safe. It looks at POLYKEM_CUDA_MODULE (a path; nothing
/// else is tried then), beside this library and the program, in ../lib of both, and in the folder that the library is
/// installed to. With raised rights (setuid, setcap) the variable and the program's folder do not count.
const LoadedModule& loaded_module();

}  // namespace polykem::cuda
