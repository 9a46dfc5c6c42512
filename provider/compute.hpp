// SPDX-License-Identifier: Apache-2.0
// Passes the provider's operations to the library's batcher.
#pragma once

#include <polykem/polykem.hpp>

#include <atomic>
#include <memory>

#include "async_job.hpp"
#include "config.hpp"
#include "statistics.hpp"

namespace polykem::provider {

class Compute;

/// A submitted operation. Without finish() it is dropped.
class Pending {
 public:
  /// If this is an ASYNC job, pauses it until the operation is done. A job that is abandoned then leaks what it has
  /// allocated so far.
  void pause() { pause_until_done(operation_); }
  /// Waits, in an ASYNC job by pausing it, and copies the results; nullptr: not wanted.
  polykem_status finish(std::uint8_t* public_out, std::uint8_t* secret_out);
  /// Memory for secrets that the operation owns, because an abandoned job never frees what is on its stack.
  SecretBytes& secrets() { return operation_->secrets; }
  PkeyPtr& classical() { return operation_->classical; }

 private:
  friend class Compute;
  std::unique_ptr<Operation> operation_;
};

/// The provider's context and batcher, created at the first operation because servers load providers and then fork. A
/// forked child creates its own. Thread-safe.
class Compute {
 public:
  explicit Compute(Config config);
  ~Compute();
  /// True if each signature is verified before it is returned.
  bool verifies_signatures() const { return config_.verify_after_sign; }
  /// Called when the process ends: nothing is destroyed from then on.
  void end() const;
  Compute(const Compute&) = delete;
  Compute& operator=(const Compute&) = delete;

  /// Submits an operation of one item, whose inputs are copied. coins: its random inputs; empty: random. May compute it
  /// immediately, within 16 KB of stack. Sets the request's flags and coins.
  polykem_status start(polykem_request& request, SecretBytes coins, Pending& out);

 private:
  struct Handles {
    polykem_context* context = nullptr;
    polykem_batcher* batcher = nullptr;
    ~Handles();
  };
  polykem_status make(Handles& out) const;
  polykem_status get_or_make(Handles*& out);

  const Config config_;
  const std::shared_ptr<Pauses> pauses_;  ///< shared with operations, which may outlive the provider
  Statistics statistics_;
  std::atomic<Handles*> handles_{nullptr};
};

}  // namespace polykem::provider
