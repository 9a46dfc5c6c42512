// SPDX-License-Identifier: Apache-2.0
// Collects single operations into batches.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <mutex>

#include "engine/batcher/breaker.hpp"
#include "engine/batcher/executor.hpp"
#include "engine/batcher/ticket.hpp"
#include "engine/engine.hpp"

namespace polykem {

struct BatcherConfig {
  size_t batch_items = 1024;                 ///< most operations in one batch
  std::chrono::microseconds linger{0};       ///< how long a batch that is not full waits for more operations
  std::chrono::microseconds deadline{5000};  ///< an operation older than this is also computed by the CPU
  size_t high_water = 4096;                  ///< with this many operations in flight, only the CPU takes more
  size_t hard_limit = 65536;                 ///< with this many operations in flight, add() refuses more
  bool on_caller = true;                     ///< add() may compute an operation itself
  /// Makes an additional executor at the first operation of a process; empty: none.
  std::function<std::unique_ptr<Executor>()> make_executor{};
};

/// Counters of one set and operation. Buckets are powers of two: [i] counts values v with 2^i <= v < 2^(i+1), the first
/// also 0, the last all above.
struct BatcherStats {
  uint64_t operations = 0, on_caller = 0, on_cpu = 0, on_accelerator = 0, on_broker = 0;
  uint64_t spilled = 0, rescued = 0, refused = 0, abandoned = 0, failed = 0;
  uint64_t batches = 0;
  std::array<uint64_t, 24> batch_items{};
  std::array<uint64_t, 32> wait_us{}, service_us{};
  uint64_t batch_items_sum = 0, wait_us_sum = 0, service_us_sum = 0;
  uint64_t waiting = 0, in_flight = 0;
};

struct ExecutorHealth {
  enum class State { kUnused, kClosed, kOpen, kHalfOpen };

  const char* name = "";
  Executor::Kind kind = Executor::Kind::kCpu;
  State state = State::kUnused;
  const char* reason = "";  ///< why the breaker opened last
  uint64_t opened = 0;
  unsigned batches = 0;  ///< in flight
};

class BatcherCore;

/// Waiting operations start as a batch as soon as an executor is idle, in add() or when another batch ends.
/// Thread-safe. After a fork the child starts with nothing in flight.
class Batcher {
 public:
  static constexpr size_t kMaxBatchItems = 65536;

  /// The engine must outlive it.
  Batcher(Engine& engine, const BatcherConfig& config) : engine_(engine), config_(config) {}
  /// Waits until every operation has finished. Must not be called in a callback.
  ~Batcher();

  /// Adds one operation. `out`, which the caller releases, is set before the callback can be called. longest_here: an
  /// operation that is known to take longer is not computed on this thread.
  Status add(const Request& request, Ticket::Callback done, void* user, Ticket*& out,
             Clock::duration longest_here = Clock::duration::max());
  /// Operations that are added before release() share batches: none of them starts earlier. Calls nest.
  void hold();
  void release();
  /// The computing time of one operation on all executors, from recent batches, or an estimate until one has run.
  Clock::duration cost(const Scheme& scheme, Op op, bool sk_is_seed);
  BatcherStats stats(const Scheme& scheme, Op op);
  /// Returns false if there is no executor of that index.
  bool health(size_t executor, ExecutorHealth& out);
  /// True on a thread that is in a ticket's callback.
  static bool in_callback();
  /// Drops the operation if it has not started, and releases the caller's reference.
  static void abandon(Ticket* ticket);

 private:
  struct ProcessState {
    std::mutex starting;
    std::shared_ptr<BatcherCore> core;
  };

  std::shared_ptr<BatcherCore> core();
  Status make_ticket(const Request& request, Ticket*& out);

  Engine& engine_;
  const BatcherConfig config_;
  PerProcess<ProcessState> states_;
};

}  // namespace polykem
