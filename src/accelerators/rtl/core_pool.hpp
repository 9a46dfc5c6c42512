// SPDX-License-Identifier: Apache-2.0
// The cores that this process uses: those of a board, or as many simulated ones as threads need.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "accelerators/rtl/driver/core.hpp"

namespace polykem::rtl {

/// Returns "" if there may be a core, else the reason why there is none, in static storage. Opens no core: it reads
/// POLYKEM_RTL_UIO ("CORE,DMA,BUFFER", several separated by ';') and, if that is not set, looks for libpolykem_rtl.so
/// (POLYKEM_RTL_MODULE, core/module_file.hpp).
const char* why_no_core();

/// Cores, each used by one thread at a time. Thread-safe.
class CorePool {
 public:
  /// Exclusive use of a core. get() is nullptr if there is none.
  class Lease {
   public:
    Lease(CorePool& pool, std::unique_ptr<Core> core) : pool_(pool), core_(std::move(core)) {}
    ~Lease() {
      if (core_ != nullptr) pool_.give_back(std::move(core_));
    }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    Core* get() const { return core_.get(); }

   private:
    CorePool& pool_;
    std::unique_ptr<Core> core_;
  };

  /// Takes a core, waiting while all are in use.
  Lease take() { return {*this, take_core()}; }
  /// True if there is a core. The first call opens one.
  bool any();
  /// Describes the cores. Call it only if there is one.
  std::string devices();
  /// The reason why there is no core; "" if there is one. Static storage.
  const char* problem();

 private:
  std::unique_ptr<Core> take_core();
  void give_back(std::unique_ptr<Core> core);
  std::unique_ptr<Core> open_another();

  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<std::unique_ptr<Core>> free_;
  size_t opened_ = 0;     ///< cores in use and free
  size_t next_name_ = 0;  ///< of the board's cores
  bool tried_ = false;    ///< the first one was opened, or could not be
  uint32_t version_ = 0;
  const char* problem_ = "";
};

}  // namespace polykem::rtl
