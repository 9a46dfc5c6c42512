// SPDX-License-Identifier: Apache-2.0
// The crossover is the batch size from which a batch finishes sooner on an accelerator. It is measured on this machine
// and kept in a file; until then it is a guess.
#pragma once

#include <array>
#include <atomic>
#include <limits>
#include <map>
#include <mutex>
#include <string>

#include "core/scheme.hpp"
#include "engine/per_process.hpp"

namespace polykem {

class Accelerator;

/// The fewest items of each operation of a set that are worth the accelerator, by index_of_op().
using CrossoverOps = std::array<size_t, kOpsPerSet>;

/// The crossovers of one accelerator. Thread-safe. The file is in polykem/ in $XDG_CACHE_HOME or ~/.cache. It is text
/// with one line per set, and is used only on the machine (devices, CPUs, CPU features) and by the version of the
/// library that wrote it.
class Crossovers {
 public:
  static constexpr size_t kNever = std::numeric_limits<size_t>::max();

  /// file: the name of the file. guess: the crossover of operations that have not been measured.
  Crossovers(Accelerator& accelerator, const char* file, size_t guess);

  /// True if a batch of `count` items should go to the accelerator, which is loaded for the first such batch.
  bool pays(const Scheme& scheme, Op op, size_t count);
  /// The smallest batch that goes to the accelerator; kNever if none does. measured: false if this is the guess.
  size_t items(const Scheme& scheme, Op op, bool& measured);
  /// Adopts the figures and writes the file. If that fails, the figures hold for this process, and note() says why.
  void set(const Scheme& scheme, const CrossoverOps& ops);
  /// The source of the figures, or the reason why the file's are not used; one line, static storage.
  const char* note();

 private:
  struct Table {
    std::mutex mutex;
    bool loaded = false, devices_confirmed = false;
    std::string path, devices, note;
    std::map<std::string, CrossoverOps> measured;
    std::atomic<size_t> min_items{0};  ///< no smaller batch pays; read without the lock
  };

  void load(Table& table) const;
  void confirm_devices(Table& table) const;
  void update_min_items(Table& table) const;
  size_t items_of(const Table& table, const Scheme& scheme, Op op) const;
  static bool read(Table& table, std::string& problem);
  static bool write(const Table& table, std::string& problem);
  static void forget(Table& table, const std::string& why);

  Accelerator& accelerator_;
  const char* const file_;
  const size_t guess_;
  PerProcess<Table> tables_;
};

/// Measures the three operations of the set on the accelerator and on the CPU, with all CPUs this process may use and
/// memory that is not pinned, and keeps the result. Takes about a second. Status::kBackendUnavailable if the set cannot
/// run on both.
Status measure_crossovers(Accelerator& accelerator, const Scheme& scheme);

}  // namespace polykem
