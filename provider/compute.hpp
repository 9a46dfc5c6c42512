// SPDX-License-Identifier: Apache-2.0
// Who computes what the provider is asked for.
#pragma once

#include <polykem/polykem.h>

#include <atomic>

#include "config.hpp"

namespace polykem::provider {

/** Nothing is created before the first operation: servers load providers and then fork. Thread-safe; after a fork the
 * child goes on by itself. */
class Compute {
 public:
  explicit Compute(Config config) : config_(std::move(config)) {}
  ~Compute();
  Compute(const Compute&) = delete;
  Compute& operator=(const Compute&) = delete;

  /** Computes a request of one item. */
  polykem_status run(const polykem_request& request);

 private:
  polykem_status context(polykem_context*& out);

  const Config config_;
  std::atomic<polykem_context*> context_{nullptr};
};

}  // namespace polykem::provider
