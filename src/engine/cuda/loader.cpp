// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/loader.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <vector>

namespace polykem::cuda {

namespace {

constexpr const char* kFileName = "libpolykem_cuda.so";

/// Everything up to the last '/', or "" if there is none.
std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

/// True in a program with more rights than its user: then nothing that the user can choose is loaded.
bool has_raised_rights() {
  return getauxval(AT_SECURE) != 0;
}

std::string program_path() {
  std::array<char, 4096> path{};
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size() - 1);
  return length <= 0 ? "" : std::string(path.data(), static_cast<size_t>(length));
}

/// The file that this code was loaded from. "" if it is part of the program itself: the linker then only knows argv[0],
/// which the caller chose.
std::string library_path() {
  Dl_info info{};
  void* extra = nullptr;
  if (dladdr1(reinterpret_cast<void*>(&loaded_module), &info, &extra, RTLD_DL_LINKMAP) == 0 || extra == nullptr)
    return "";
  const char* name = static_cast<const link_map*>(extra)->l_name;
  return name != nullptr && *name == '/' ? name : "";
}

/// True if only root or this user can have put the file there.
bool is_trusted(const std::string& path) {
  for (const std::string& each : {path, folder_of(path)}) {
    struct stat about {};
    if (stat(each.c_str(), &about) != 0) return false;
    const bool ours = about.st_uid == 0 || about.st_uid == geteuid();
    if (!ours || (about.st_mode & S_IWOTH) != 0) return false;
  }
  return true;
}

std::vector<std::string> candidates() {
  if (const char* path = secure_getenv("POLYKEM_CUDA_MODULE"); path != nullptr) return {path};
  std::vector<std::string> paths;
  const auto beside = [&paths](const std::string& file) {
    const std::string folder = folder_of(file);
    if (folder.empty()) return;
    paths.push_back(folder + kFileName);
    paths.push_back(folder + "../lib/" + kFileName);
  };
  beside(library_path());
  if (!has_raised_rights()) beside(program_path());
  paths.push_back(std::string(POLYKEM_MODULE_FOLDER) + "/" + kFileName);
  return paths;
}

/// nullptr with the reason in `problem`.
const ModuleTable* accept(void* handle, const std::string& path, std::string& problem) {
  using Entry = const ModuleTable* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(handle, kModuleEntry));
  if (entry == nullptr) {
    problem = path + " is no polykem module";
    return nullptr;
  }
  const ModuleTable* table = entry();
  if (table->abi != kModuleAbi || table->table_bytes != sizeof(ModuleTable)) {
    problem = path + " belongs to another version of polykem";
    return nullptr;
  }
  ErrorText why{};
  if (table->open(&why) != Outcome::ok) {
    problem = std::string("no usable GPU: ") + why.text;
    return nullptr;
  }
  return table;
}

LoadedModule load() {
  LoadedModule result;
  if (const char* path = secure_getenv("POLYKEM_CUDA_MODULE"); path != nullptr && *path == '\0') {
    result.problem = "switched off by POLYKEM_CUDA_MODULE=\"\"";
    return result;
  }
  const bool named = secure_getenv("POLYKEM_CUDA_MODULE") != nullptr;
  for (const std::string& path : candidates()) {
    if (access(path.c_str(), R_OK) != 0) continue;
    if (!named && !is_trusted(path)) {
      result.problem = path + " is not loaded: others can write there";
      continue;
    }
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      result.problem = dlerror();
      return result;
    }
    // The module is never unloaded: the driver keeps threads and callbacks of its own.
    result.table = accept(handle, path, result.problem);
    return result;
  }
  if (!result.problem.empty()) return result;
  result.problem =
      "libpolykem_cuda.so was not found; build it with make cuda (CMake: -DPOLYKEM_CUDA=ON) or set POLYKEM_CUDA_MODULE "
      "to its path";
  return result;
}

}  // namespace

const LoadedModule& loaded_module() {
  static const LoadedModule module = load();
  return module;
}

}  // namespace polykem::cuda
