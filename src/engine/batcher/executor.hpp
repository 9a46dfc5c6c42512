// SPDX-License-Identifier: Apache-2.0
// Executors, which compute a batcher's batches: the CPU's threads, an accelerator, a broker.
#pragma once

#include <functional>
#include <memory>

#include "engine/batcher/breaker.hpp"
#include "engine/engine.hpp"

namespace polykem {

/// Takes whole batches. Thread-safe.
class Executor {
 public:
  using Done = std::function<void(Status)>;

  enum class Kind { kCpu, kAccelerator, kBroker };

  virtual ~Executor() = default;

  virtual Kind kind() const = 0;
  /// Static storage.
  virtual const char* name() const = 0;
  /// The number of batches that it takes at a time.
  virtual unsigned max_in_flight() const = 0;
  /// The reason why it is not available, static storage.
  virtual const char* problem() const { return "it cannot be reached"; }
  /// The longest pause between two probes of a failing executor.
  virtual Clock::duration longest_pause() const { return Breaker::kLongestPause; }
  /// False if it computes no operation of the set. Called with the batcher's lock held.
  virtual bool has(const Scheme&) const { return true; }
  /// True if it can compute the operation. Called on the batcher's own thread before the first batch of an operation
  /// and before each probe after a failure. May block while it loads or connects.
  virtual bool available(const Scheme& scheme, Op op) = 0;
  /// Starts the batch and returns without waiting. If it returns Status::kOk, `done` is called exactly once, on any
  /// thread, perhaps before submit() returns; the arrays (host memory) stay valid until then, however long that takes.
  /// Otherwise `done` is not called. Status::kBackendUnavailable, or any other failure of the whole batch, makes the
  /// CPU compute it.
  virtual Status submit(const Request& request, Done done) = 0;
};

/// The engine's threads.
class CpuExecutor final : public Executor {
 public:
  explicit CpuExecutor(Engine& engine) : engine_(engine) {}
  Kind kind() const override { return Kind::kCpu; }
  const char* name() const override { return "cpu"; }
  unsigned max_in_flight() const override { return engine_.threads(); }
  bool available(const Scheme&, Op) override { return true; }
  Status submit(const Request& request, Done done) override;

 private:
  Engine& engine_;
};

/// An accelerator. It has a thread for each batch in flight, so that a device that does not answer blocks none of the
/// engine's threads.
std::unique_ptr<Executor> make_accelerator_executor(Engine& engine, Accelerator& accelerator);

}  // namespace polykem
