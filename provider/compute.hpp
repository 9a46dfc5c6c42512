// SPDX-License-Identifier: Apache-2.0
// Who computes what the provider is asked for.
#pragma once

#include <polykem/polykem.hpp>

#include <atomic>
#include <memory>

#include "config.hpp"
#include "pause.hpp"
#include "statistics.hpp"

namespace polykem::provider {

class Compute;

/// One operation that was handed in. Without finish() it is dropped.
class Pending {
 public:
  /// Pauses the ASYNC job, if this is one, until the operation is done. A job that is abandoned loses what it has
  /// allocated by then.
  void pause() { pause_until_done(operation_); }
  /// Waits, in an ASYNC job by pausing it, and copies the results out; NULL: not wanted.
  polykem_status finish(std::uint8_t* public_out, std::uint8_t* secret_out);
  /// Secrets that belong to the operation: a paused job that is abandoned frees nothing that is on its stack.
  SecretBytes& secrets() { return operation_->secrets; }
  PkeyPtr& classical() { return operation_->classical; }

 private:
  friend class Compute;
  std::unique_ptr<Operation> operation_;
};

/// Nothing is created before the first operation: servers load providers and then fork. Thread-safe; after a fork the
/// child goes on by itself.
class Compute {
 public:
  explicit Compute(Config config);
  ~Compute();
  /// Whether each signature is verified before it is given out.
  bool verifies_signatures() const { return config_.verify_after_sign; }
  /// The process ends, and nothing is destroyed.
  void end() const;
  Compute(const Compute&) = delete;
  Compute& operator=(const Compute&) = delete;

  /// Hands in an operation of one item, whose inputs are copied. `coins` are its random inputs; empty: random. May
  /// compute it at once, within 16 KB of the stack. Sets the request's flags and coins.
  polykem_status start(polykem_request& request, SecretBytes coins, Pending& out);

 private:
  struct Machine {
    polykem_context* context = nullptr;
    polykem_batcher* batcher = nullptr;
    ~Machine();
  };
  polykem_status make(Machine& out) const;
  polykem_status machine(Machine*& out);

  const Config config_;
  const std::shared_ptr<Pauses> pauses_;  ///< shared with operations, which may outlive the provider
  Statistics statistics_;
  std::atomic<Machine*> machine_{nullptr};
};

}  // namespace polykem::provider
