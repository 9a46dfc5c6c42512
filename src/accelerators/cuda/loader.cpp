// SPDX-License-Identifier: Apache-2.0
#include "accelerators/cuda/loader.hpp"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "accelerators/cuda/module/interface_hash.hpp"
#include "core/environment.hpp"
#include "core/module_file.hpp"

namespace polykem::cuda {

namespace {

constexpr ModuleFile kFile{"libpolykem_cuda.so", environment::kCudaModule, "make cuda (CMake: -DPOLYKEM_CUDA=ON)"};
constexpr const char* kEnds = "the process ends";

/// While the driver starts, it registers exit handlers. One that it registers just before exit() would run before those
/// of the module (module/exit_gate.hpp) and tear down what one of our threads is starting. So exit() in the main
/// thread, which first destroys the thread's own objects, waits there until no thread is starting the driver.
class DriverStart {
 public:
  DriverStart() {
    process_.store(getpid());
    under_way_.fetch_add(1);
    ++own_;
  }
  ~DriverStart() {
    --own_;
    under_way_.fetch_sub(1);
  }
  DriverStart(const DriverStart&) = delete;
  DriverStart& operator=(const DriverStart&) = delete;

  /// Returns false if the process is ending.
  bool allowed() const { return !ending_.load(); }

  static void wait_for_all() {
    ending_.store(true);
    const auto end = std::chrono::steady_clock::now() + kLongestWait;
    while (process_.load() == getpid() && under_way_.load() > own_ && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

 private:
  static constexpr std::chrono::seconds kLongestWait{5};  ///< a device that hangs must not keep the process for ever
  static inline std::atomic<int> under_way_{0};
  static inline thread_local int own_ = 0;  ///< exit() from within a start does not wait for that one
  static inline std::atomic<bool> ending_{false};
  static inline std::atomic<pid_t> process_{0};  ///< a child that it forked has none of its threads to wait for
};

struct AtExit {
  bool of_main_thread = false;
  ~AtExit() {
    if (of_main_thread) DriverStart::wait_for_all();
  }
};
thread_local AtExit at_exit;

/// Constructed on the thread that loads this library, which is usually the main thread.
[[maybe_unused]] const bool kRegistered = at_exit.of_main_thread = syscall(SYS_gettid) == getpid();

/// Loads the module. On failure returns nullptr and sets `problem`.
const ModuleTable* accept(const LoadedFile& file, std::string& problem) {
  using Entry = const ModuleTable* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(file.handle, kModuleEntry));
  if (entry == nullptr) {
    problem = file.path + " is no polykem module";
    return nullptr;
  }
  const ModuleTable* table = entry();
  if (table->interface_hash != kInterfaceHash || table->table_bytes != sizeof(ModuleTable)) {
    problem = file.path + " belongs to another version of polykem";
    return nullptr;
  }
  return table;
}

LoadedModule open(const LoadedModule& module) {
  ErrorText why{};
  if (module.table == nullptr || module.table->open(&why) == Outcome::kOk) return module;
  return {.table = nullptr, .problem = std::string("no usable GPU: ") + why.text};
}

/// The module is never unloaded, because the driver keeps threads and callbacks of its own.
LoadedModule load() {
  const LoadedFile file = load_module_file(kFile);
  LoadedModule result{.table = nullptr, .problem = file.problem};
  if (file.handle != nullptr) result.table = accept(file, result.problem);
  return result;
}

}  // namespace

std::string missing_module() {
  return find_module_file(kFile).problem;
}

const LoadedModule& loaded_module() {
  static const auto* const module = [] {
    const DriverStart start;
    return new LoadedModule(start.allowed() ? load() : LoadedModule{.table = nullptr, .problem = kEnds});
  }();
  return *module;
}

const LoadedModule& opened_module() {
  static const auto* const module = [] {
    const DriverStart start;
    return new LoadedModule(start.allowed() ? open(loaded_module()) : LoadedModule{.table = nullptr, .problem = kEnds});
  }();
  return *module;
}

}  // namespace polykem::cuda
