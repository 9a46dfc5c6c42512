// SPDX-License-Identifier: Apache-2.0
// Finds and loads libpolykem_cuda.so.
#pragma once

#include <string>

#include "cuda_module/module.hpp"

namespace polykem::cuda {

/// The module, if it found a usable GPU, or the reason why not.
struct LoadedModule {
  const ModuleTable* table = nullptr;
  std::string problem;  ///< one line for the user; empty if table is set
};

/// Loads on the first call; later calls return the same. Thread-safe. It looks at POLYKEM_CUDA_MODULE (a path; no other
/// place is then tried), beside this library and the program, in ../lib of both, and in the folder where the library is
/// installed. With raised rights (setuid, setcap) it ignores the variable and the program's folder.
const LoadedModule& loaded_module();

}  // namespace polykem::cuda
