// SPDX-License-Identifier: Apache-2.0
// The counters of a process's batcher, in a file for whoever watches the server.
#pragma once

#include <sys/types.h>
#include <polykem/polykem.hpp>

#include <atomic>
#include <memory>
#include <string>

#include "pause.hpp"

namespace polykem::provider {

/// Writes PATH.PID as one line of JSON. PATH empty: does nothing. Thread-safe.
class Statistics {
 public:
  Statistics(std::string path, std::shared_ptr<const Pauses> pauses)
      : path_(std::move(path)), pauses_(std::move(pauses)) {}

  /// At most once a second; called with every operation, so that no thread and no timer is needed.
  void write_when_due(polykem_batcher* batcher);
  /// The last time. Does nothing in a child of fork() that has handed in no operation: there the first question to the
  /// batcher would start one.
  void write_at_end(polykem_batcher* batcher) const;

 private:
  void write(polykem_batcher* batcher) const;

  const std::string path_;
  const std::shared_ptr<const Pauses> pauses_;
  std::atomic<std::int64_t> next_{0};  ///< when it is due, in milliseconds of the steady clock
  std::atomic<pid_t> process_{0};      ///< that has handed in operations
};

}  // namespace polykem::provider
