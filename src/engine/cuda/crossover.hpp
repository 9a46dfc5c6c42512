// SPDX-License-Identifier: Apache-2.0
// From how many items on a batch ends sooner on the GPU: measured on this machine, kept in a file, guessed until then.
#pragma once

#include <array>
#include <limits>
#include <map>
#include <mutex>
#include <string>

#include "core/scheme.hpp"

namespace polykem::cuda {

/// Until measured. An H200 beats 16 cores from about 50 items on; the margin is for smaller GPUs.
inline constexpr size_t kGuessedCrossover = 256;
inline constexpr size_t kNever = std::numeric_limits<size_t>::max();

/// The fewest items of each operation that are worth the GPU.
using CrossoverOps = std::array<size_t, kOps>;

/// Thread-safe. The file is polykem/crossover in $XDG_CACHE_HOME or ~/.cache, text, one line a set; it counts only on
/// the machine (GPUs, CPUs and what they can do) and for the version of the library that wrote it.
class Crossovers {
 public:
  static Crossovers& instance();

  /// True if a batch of that size should go to the GPU. Loads the CUDA module once a batch is large enough for it.
  bool pays(const Scheme& scheme, Op op, size_t count);
  /// The fewest items that go to the GPU; kNever if none do. measured: it is no guess.
  size_t items(const Scheme& scheme, Op op, bool& measured);
  /// Takes figures over and writes the file. If it cannot be written the figures hold for this process, and note() says
  /// why.
  void set(const Scheme& scheme, const CrossoverOps& ops);
  /// Where the figures come from, or why the file's are not used; one line, static storage until the next set().
  const char* note();

 private:
  Crossovers();

  bool read(std::string& problem);
  bool write(std::string& problem) const;
  void confirm_gpu();
  void forget(const std::string& why);
  size_t items_locked(const Scheme& scheme, Op op) const;

  std::mutex mutex_;
  std::string path_, gpu_, note_;
  bool gpu_confirmed_ = false;
  std::map<std::string, CrossoverOps> measured_;
};

/// Measures the three operations of the set on the GPU and on the CPU, with all CPUs this process may use and memory
/// that is not pinned, and keeps the result. Takes about a second. Status::backend_unavailable if the set cannot run on
/// both.
Status tune(const Scheme& scheme);

}  // namespace polykem::cuda
