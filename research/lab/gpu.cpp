// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <unistd.h>

#include <array>

#include "lab.hpp"

namespace polykem::lab {

namespace {

std::string program_folder() {
  std::array<char, 4096> path{};
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size() - 1);
  const std::string program(path.data(), length > 0 ? static_cast<size_t>(length) : 0);
  return program.substr(0, program.rfind('/') + 1);
}

}  // namespace

void* find_in_module(const std::string& file, const char* symbol, std::string& problem) {
  for (const std::string& folder : {program_folder(), program_folder() + "../lib/"}) {
    const std::string path = folder + file;
    if (access(path.c_str(), R_OK) != 0) continue;
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);  // never unloaded: the driver keeps threads
    void* found = handle == nullptr ? nullptr : dlsym(handle, symbol);
    if (found == nullptr) problem = dlerror();
    return found;
  }
  problem = file + " is not beside this program; it is built where there is a CUDA compiler";
  return nullptr;
}

Device* open_gpu(std::string& problem) {
  const auto open = reinterpret_cast<OpenDevice>(find_in_module("libpolykem_lab_cuda.so", kOpenDevice, problem));
  return open == nullptr ? nullptr : open(&problem);
}

}  // namespace polykem::lab
