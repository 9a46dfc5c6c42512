// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <unistd.h>

#include <array>

#include "lab.hpp"

namespace polykem::lab {

namespace {

constexpr const char* kFileName = "libpolykem_lab_cuda.so";

std::string program_folder() {
  std::array<char, 4096> path{};
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size() - 1);
  const std::string program(path.data(), length > 0 ? static_cast<size_t>(length) : 0);
  return program.substr(0, program.rfind('/') + 1);
}

}  // namespace

Device* open_gpu(std::string& problem) {
  for (const std::string& folder : {program_folder(), program_folder() + "../lib/"}) {
    const std::string path = folder + kFileName;
    if (access(path.c_str(), R_OK) != 0) continue;
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);  // never unloaded: the driver keeps threads
    const auto open = handle == nullptr ? nullptr : reinterpret_cast<OpenDevice>(dlsym(handle, kOpenDevice));
    if (open != nullptr) return open(&problem);
    problem = dlerror();
    return nullptr;
  }
  problem = std::string(kFileName) + " is not beside this program; it is built where there is a CUDA compiler";
  return nullptr;
}

}  // namespace polykem::lab
