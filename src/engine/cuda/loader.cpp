// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/loader.hpp"

#include <dlfcn.h>

#include "engine/module_file.hpp"

namespace polykem::cuda {

namespace {

constexpr ModuleFile kFile{"libpolykem_cuda.so", "POLYKEM_CUDA_MODULE", "make cuda (CMake: -DPOLYKEM_CUDA=ON)"};

/// nullptr with the reason in `problem`.
const ModuleTable* accept(const LoadedFile& file, std::string& problem) {
  using Entry = const ModuleTable* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(file.handle, kModuleEntry));
  if (entry == nullptr) {
    problem = file.path + " is no polykem module";
    return nullptr;
  }
  const ModuleTable* table = entry();
  if (table->abi != kModuleAbi || table->table_bytes != sizeof(ModuleTable)) {
    problem = file.path + " belongs to another version of polykem";
    return nullptr;
  }
  return table;
}

LoadedModule open(const LoadedModule& module) {
  ErrorText why{};
  if (module.table == nullptr || module.table->open(&why) == Outcome::ok) return module;
  return {.table = nullptr, .problem = std::string("no usable GPU: ") + why.text};
}

/// The module is never unloaded: the driver keeps threads and callbacks of its own.
LoadedModule load() {
  const LoadedFile file = load_module_file(kFile);
  LoadedModule result{.table = nullptr, .problem = file.problem};
  if (file.handle != nullptr) result.table = accept(file, result.problem);
  return result;
}

}  // namespace

const LoadedModule& loaded_module() {
  static const auto* const module = new LoadedModule(load());
  return *module;
}

const LoadedModule& opened_module() {
  static const auto* const module = new LoadedModule(open(loaded_module()));
  return *module;
}

}  // namespace polykem::cuda
