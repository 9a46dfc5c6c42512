// SPDX-License-Identifier: Apache-2.0
// Finds and loads a module: a shared object of this library that it opens at run time.
#pragma once

#include <string>

namespace polykem {

/// What a kind of module is called.
struct ModuleFile {
  const char* name;      ///< "libpolykem_cuda.so"
  const char* variable;  ///< an environment variable with its path; set but empty: no module is loaded
  const char* how_to_build;
};

/// The file that would be loaded, or the reason why there is none.
struct FoundFile {
  std::string path;
  std::string problem;  ///< one line for the user; empty if path is set
};

/// The loaded file, or the reason why there is none.
struct LoadedFile {
  void* handle = nullptr;  ///< for dlsym; the file is never unloaded
  std::string path;
  std::string problem;  ///< one line for the user; empty if handle is set
};

/// Looks at the variable (no other place is then tried), beside this library and the program, in ../lib of both, and in
/// the folder where the library is installed. With raised rights (setuid, setcap) it ignores the variable and the
/// program's folder. A file that another user or a group could have put there or can change is not loaded unless the
/// variable names it.
FoundFile find_module_file(const ModuleFile& file);
/// Finds and loads it.
LoadedFile load_module_file(const ModuleFile& file);

}  // namespace polykem
