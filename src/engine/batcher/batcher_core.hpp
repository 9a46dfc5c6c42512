// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/batcher/placement.hpp"

namespace polykem {

/// The batcher of one process: the lock and the threads around queues, placement and executors. The mutex guards all
/// members. Batches are gathered, submitted and delivered without it.
class BatcherCore : public std::enable_shared_from_this<BatcherCore> {
 public:
  BatcherCore(Engine& engine, const BatcherConfig& config);
  ~BatcherCore() { finish(); }

  /// Counts an operation as in flight, if it may be handed in; add() or withdraw() follows.
  Status admit(uint32_t queue);
  void withdraw(uint32_t queue);
  /// Takes a reference to the ticket of an operation that was admitted. `done` may be called before it returns.
  void add(Ticket* ticket, uint32_t queue, Ticket::Callback done, void* user, Caller caller) noexcept;
  void abandon(Ticket* ticket);
  void hold();
  void release();
  /// Waits for all operations in flight and ends the threads.
  void finish();

  Clock::duration cost(uint32_t queue);
  BatcherStats stats(const Scheme& scheme, Op op);
  bool health(size_t executor, ExecutorHealth& out);

 private:
  using Lock = std::unique_lock<std::mutex>;
  static constexpr Clock::time_point kNever = Clock::time_point::max();

  /// Wakes one thread. Guarded by the mutex.
  class Alarm {
   public:
    void ring() {
      rings_ = true;
      wake_.notify_one();
    }
    void reset() { rings_ = false; }
    void sleep_until(Lock& lock, Clock::time_point time) {
      const auto rings = [this] { return rings_; };
      time == kNever ? wake_.wait(lock, rings) : static_cast<void>(wake_.wait_until(lock, time, rings));
    }

   private:
    std::condition_variable wake_;
    bool rings_ = false;
  };

  Placement placement_at(Clock::time_point now) const;
  bool caller_is_sooner(const TicketQueue& queue, Caller caller, Clock::time_point now);
  void compute_here(Ticket* ticket, TicketQueue& queue);
  void count_finished(TicketQueue& queue, size_t operations);
  void want_executors(const TicketQueue& queue, bool waits, Clock::time_point now);

  void dispatch();
  InFlightBatch* next_batch(Clock::time_point now);
  bool lingers(const TicketQueue& queue, Clock::time_point now);
  InFlightBatch* take_free_batch();
  bool fill(InFlightBatch& batch, ExecutorState& executor, TicketQueue& queue, Clock::time_point now);
  void launch(InFlightBatch& batch, ExecutorState& executor, TicketQueue& queue, Clock::time_point now);
  void start(InFlightBatch* batch);

  void on_done(InFlightBatch* batch, Status status);
  bool conclude(InFlightBatch& batch, Status status);
  bool result_is_right(InFlightBatch& batch, Status status);
  void deliver(InFlightBatch& batch, Status status);
  bool recycle(InFlightBatch* batch);

  bool start_threads();
  void monitor();
  bool check_deadlines(Clock::time_point now, Clock::time_point& next);
  void prober();
  void run_probe(Lock& lock, ExecutorState& executor, TicketQueue& queue);

  Engine& engine_;
  const BatcherConfig config_;
  std::mutex mutex_;
  std::condition_variable idle_;
  TicketQueues queues_;
  std::vector<ExecutorState> executors_;  ///< the CPU is the first
  std::vector<InFlightBatch> batches_;
  std::vector<InFlightBatch*> free_batches_;
  Load load_;
  std::atomic<uint64_t> device_batches_{0};
  bool all_in_flight_ = false;  ///< a batch could not start because none of batches_ was free
  bool stopping_ = false;       ///< the threads must end

  std::thread monitor_, prober_;
  Alarm monitor_alarm_, prober_alarm_;
  Clock::time_point monitor_until_ = kNever;  ///< when the monitor wakes unless it is rung
  Clock::time_point linger_until_ = kNever;
};

}  // namespace polykem
