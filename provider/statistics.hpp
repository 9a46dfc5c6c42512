// SPDX-License-Identifier: Apache-2.0
// The counters of a process's batcher, in a file for whoever watches the server.
#pragma once

#include <polykem/polykem.hpp>

#include <atomic>
#include <string>

namespace polykem::provider {

/** Writes PATH.PID as one line of JSON. PATH empty: does nothing. Thread-safe. */
class Statistics {
 public:
  explicit Statistics(std::string path) : path_(std::move(path)) {}

  /** At most once a second; called with every operation, so that no thread and no timer is needed. */
  void write_when_due(polykem_batcher* batcher);
  void write(polykem_batcher* batcher) const;

 private:
  const std::string path_;
  std::atomic<std::int64_t> next_{0}; /**< when it is due, in milliseconds of the steady clock */
};

}  // namespace polykem::provider
