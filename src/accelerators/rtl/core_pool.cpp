// SPDX-License-Identifier: Apache-2.0
#include "accelerators/rtl/core_pool.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>

#include "accelerators/rtl/driver/model_transport.hpp"
#include "accelerators/rtl/driver/uio_transport.hpp"
#include "core/environment.hpp"
#include "core/module_file.hpp"
#include "engine/static_text.hpp"

namespace polykem::rtl {

namespace {

constexpr ModuleFile kFile{"libpolykem_rtl.so", environment::kRtlModule, "cmake -DPOLYKEM_RTL=ON"};
/// The number of simulated cores. Further threads wait for one of them.
constexpr size_t kMaxModels = 64;

/// The source of this process's cores: a board, a module, or none because of `problem`.
struct Source {
  const ModelTable* model = nullptr;
  std::vector<std::string> names;  ///< the names of the board's cores
  const char* problem = "";
};

/// Opens a core. On failure returns nullptr and sets `problem`.
const ModelTable* accept(const LoadedFile& file, std::string& problem) {
  using Entry = const ModelTable* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(file.handle, kModelEntry));
  if (entry == nullptr) {
    problem = file.path + " is no simulated core";
    return nullptr;
  }
  const ModelTable* table = entry();
  if (table->abi == kModelAbi && table->table_bytes == sizeof(ModelTable)) return table;
  problem = file.path + " belongs to another version of polykem";
  return nullptr;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

Source find_source() {
  Source found;
  if (const char* names = secure_getenv(environment::kRtlUio); names != nullptr && *names != '\0') {
    found.names = split(names, ';');
    if (!found.names.empty()) return found;
  }
  const LoadedFile file = load_module_file(kFile);
  std::string problem = file.problem;
  if (file.handle != nullptr) found.model = accept(file, problem);
  found.problem = static_text(problem);
  return found;
}

const Source& source() {
  static const auto* const only = new Source(find_source());  // never destroyed
  return *only;
}

std::unique_ptr<Transport> open_board(const std::string& names, std::string& problem) {
  auto device = open_uio(names, problem);
  return device == nullptr ? nullptr : make_uio_transport(std::move(device));
}

}  // namespace

const char* why_no_core() {
  return source().problem;
}

/// Opens the next usable core. If there is none, returns nullptr and sets problem_.
std::unique_ptr<Core> CorePool::open_another() {
  const Source& from = source();
  if (from.model == nullptr && from.names.empty()) problem_ = from.problem;
  while (from.model != nullptr ? opened_ < kMaxModels : next_name_ < from.names.size()) {
    std::string problem = "out of memory";
    auto transport = from.model != nullptr ? open_model(*from.model) : open_board(from.names[next_name_++], problem);
    auto core = transport == nullptr ? nullptr : std::make_unique<Core>(std::move(transport));
    if (core != nullptr && core->open()) {
      free_.reserve(++opened_);  // so that giving back cannot fail
      version_ = core->version();
      return core;
    }
    problem_ = core != nullptr ? core->problem() : static_text(problem);
    if (from.model != nullptr) return nullptr;
  }
  return nullptr;
}

std::unique_ptr<Core> CorePool::take_core() {
  std::unique_lock lock(mutex_);
  if (free_.empty()) {
    auto core = open_another();
    tried_ = true;
    if (core != nullptr || opened_ == 0) return core;
  }
  returned_.wait(lock, [this] { return !free_.empty(); });
  auto core = std::move(free_.back());
  free_.pop_back();
  return core;
}

void CorePool::give_back(std::unique_ptr<Core> core) {
  {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(core));
  }
  returned_.notify_one();
}

bool CorePool::any() {
  {
    const std::lock_guard lock(mutex_);
    if (tried_) return opened_ > 0;
  }
  return take().get() != nullptr;
}

std::string CorePool::devices() {
  const std::lock_guard lock(mutex_);
  const Source& from = source();
  const std::string version = std::to_string(version_ >> 16) + "." + std::to_string(version_ & 0xffff);
  if (from.model != nullptr) return std::string(from.model->name) + ", version " + version;
  return std::to_string(from.names.size()) + " x core on an FPGA, version " + version;
}

const char* CorePool::problem() {
  const std::lock_guard lock(mutex_);
  return problem_;
}

}  // namespace polykem::rtl
