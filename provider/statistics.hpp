// SPDX-License-Identifier: Apache-2.0
// Writes the counters of a process's batcher to a file, for monitoring.
#pragma once

#include <sys/types.h>
#include <polykem/polykem.hpp>

#include <atomic>
#include <memory>
#include <string>

#include "async_job.hpp"

namespace polykem::provider {

/// Writes PATH.PID, one line of JSON. Does nothing if PATH is empty. Thread-safe.
class Statistics {
 public:
  Statistics(std::string path, std::shared_ptr<const Pauses> pauses)
      : path_(std::move(path)), pauses_(std::move(pauses)) {}

  /// Writes at most once a second. Called with every operation, so that neither a thread nor a timer is needed.
  void write_when_due(polykem_batcher* batcher);
  /// Writes for the last time. Does nothing in a forked child that has submitted no operation, where asking the batcher
  /// would start one.
  void write_at_end(polykem_batcher* batcher) const;

 private:
  void write(polykem_batcher* batcher) const;

  const std::string path_;
  const std::shared_ptr<const Pauses> pauses_;
  std::atomic<std::int64_t> next_{0};  ///< when the next write is due, on the steady clock in milliseconds
  std::atomic<pid_t> process_{0};      ///< the process that has submitted operations
};

}  // namespace polykem::provider
