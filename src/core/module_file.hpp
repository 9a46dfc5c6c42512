// SPDX-License-Identifier: Apache-2.0
// Finds and loads modules, which are shared objects of this library that it opens at run time.
#pragma once

#include <string>

namespace polykem {

/// The names of a module.
struct ModuleFile {
  const char* name;      ///< "libpolykem_cuda.so"
  const char* variable;  ///< the environment variable with its path; if it is empty, no module is loaded
  const char* how_to_build;
};

/// The file to load, or why there is none.
struct FoundFile {
  std::string path;
  std::string problem;  ///< one line for the user; empty if path is set
};

/// The loaded module, or why there is none.
struct LoadedFile {
  void* handle = nullptr;  ///< for dlsym; the file is never unloaded
  std::string path;
  std::string problem;  ///< one line for the user; empty if handle is set
};

/// Looks in the path that the variable names, if it is set, and nowhere else; otherwise beside this library and the
/// program, in ../lib of both, and in the library's installation folder. With raised rights (setuid, setcap) it ignores
/// the variable and the program's folder. Unless the variable names it, a file that another user or a group could have
/// put there or can change is not loaded.
FoundFile find_module_file(const ModuleFile& file);
/// Finds and loads it.
LoadedFile load_module_file(const ModuleFile& file);

}  // namespace polykem
