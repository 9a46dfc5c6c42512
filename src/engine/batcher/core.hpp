// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "engine/batcher/batch.hpp"
#include "engine/batcher/batcher.hpp"

namespace polykem {

/// After that time without a batch, a lane's speed is measured again, and what was measured before no longer counts.
constexpr Clock::duration kForgotten = std::chrono::seconds(10);

/// The bucket of BatcherStats that counts `value`.
size_t bucket_of(uint64_t value, size_t buckets);

/// Computes the ticket, which the caller has claimed, on this thread and finishes it.
Status compute_now(Engine& engine, Ticket& ticket);

/// Tickets in order, linked through Ticket::place.
struct TicketList {
  Ticket *first = nullptr, *last = nullptr;
  size_t size = 0;

  void push_back(Ticket* ticket);
  void remove(Ticket* ticket);
};

/// The operations of one set that may share a batch: kinds are those of Op, and decaps of secret keys in their form as
/// seeds.
struct TicketQueue {
  const Scheme* scheme = nullptr;
  Op op = Op::keygen;
  TicketList waiting, rescue;  ///< rescue: what a lane failed to compute; for the CPU only
  ServiceTime single;          ///< an operation on its caller's thread
  BatcherStats stats;

  size_t size() const { return waiting.size + rescue.size; }
};

/// What the batcher knows of a lane.
struct LaneState {
  enum class Proof {
    none,     ///< nobody has asked for it
    wanted,   ///< a probe comes before the first batch
    probing,  ///< which runs
    proven,
    unfit,  ///< the lane has not the operation
  };
  /// Of one queue.
  struct Known {
    Proof proof = Proof::none;
    unsigned passed = 0;  ///< probes; the first one warms up, the second one is measured
    ServiceTime service;
    Clock::time_point measured{};
  };

  std::unique_ptr<BatchLane> lane;
  bool cpu = false;
  bool forced = false;  ///< the CPU computes only until it is proven, and what it failed to compute
  Breaker breaker;
  std::vector<Known> known;           ///< by queue
  std::vector<BatchSlot*> in_flight;  ///< batches whose end has not been reported; capacity for all places
  bool probe_comes = false;           ///< one of the places is kept for it
  uint32_t last_queue = 0;            ///< of which a half-open breaker takes a probe
  bool asked_for = false;             ///< somebody would have used it while its breaker was open
  Clock::time_point ready_at{}, last_finished{};

  unsigned busy() const;
  bool idle() const { return busy() < lane->slots(); }
  /// Every batch there has passed its deadline.
  bool all_late() const;
  bool takes(uint32_t queue) const { return breaker.closed() && known[queue].proof == Proof::proven; }
  bool cannot_run(uint32_t queue) const { return known[queue].proof == Proof::unfit; }
};

/// The batcher of one process. The mutex guards everything; batches are put together, submitted and delivered without
/// it.
class BatcherCore : public std::enable_shared_from_this<BatcherCore> {
 public:
  BatcherCore(Engine& engine, const BatcherConfig& config);
  ~BatcherCore() { finish(); }

  /// What the calling thread may compute itself, as in Batcher::add.
  struct Caller {
    Clock::duration longest_here;
    bool waits;
  };
  /// Takes over a reference to the ticket if it returns Status::ok. `done` is armed before it returns.
  Status add(Ticket* ticket, uint32_t queue, Ticket::Callback done, void* user, Caller caller) noexcept;
  void abandon(Ticket* ticket);
  void hold();
  void release();
  /// Waits for everything in flight and ends the threads.
  void finish();

  Clock::duration cost(uint32_t queue);
  static uint32_t queue_index(const Scheme& scheme, Op op, bool sk_is_seed);
  BatcherStats stats(const Scheme& scheme, Op op);
  bool health(size_t lane, LaneHealth& out);

 private:
  using Lock = std::unique_lock<std::mutex>;

  bool caller_is_sooner(uint32_t queue, Caller caller, Clock::time_point now);
  bool is_loaded(Clock::time_point now) const;
  /// How long `items` items take on the lane from now on, the batches before them included.
  Clock::duration time_for(const LaneState& lane, uint32_t queue, size_t items, Clock::time_point now) const;
  /// The same without the batches before them.
  Clock::duration service_of(const LaneState& lane, uint32_t queue, size_t items) const;
  bool cheaper(const LaneState& lane, uint32_t queue) const;
  void compute_here(Ticket* ticket, uint32_t queue);
  void count_finished(TicketQueue& queue, size_t operations);
  void want_lanes(uint32_t queue, bool waits, Clock::time_point now);

  void dispatch();
  BatchSlot* next_batch(Clock::time_point now);
  Clock::time_point waits_since(Op op, Clock::time_point now) const;
  LaneState* find_queue(Op op, Clock::time_point now, uint32_t& queue);
  LaneState* choose_lane(uint32_t queue, Clock::time_point now);
  size_t items_allowed(const LaneState& lane, uint32_t queue) const;
  /// The threads that compute a batch of so many items on the CPU.
  unsigned cpu_width(const TicketQueue& queue, size_t items) const;
  bool lingers(TicketQueue& queue, Clock::time_point now);
  BatchSlot* take_slot();
  bool fill(BatchSlot& slot, LaneState& lane, uint32_t queue, Clock::time_point now);
  void launch(BatchSlot& slot, LaneState& lane, uint32_t queue, Clock::time_point now);
  void start(BatchSlot* slot);

  void on_done(BatchSlot* slot, Status status);
  bool conclude(BatchSlot& slot, Status status);
  bool result_is_right(BatchSlot& slot, Status status);
  void settle(BatchSlot& slot, Status status, bool right, Clock::time_point now);
  void settle_probe(BatchSlot& slot, bool passed, Clock::duration took, Clock::time_point now);
  void rescue(BatchSlot& slot);
  void deliver(BatchSlot& slot, Status status);
  void recycle(BatchSlot* slot);

  bool start_monitor();
  void wake_monitor();
  void wake_prober();
  void monitor();
  void prober();
  using Timer = std::optional<Clock::time_point>;
  bool check_deadlines(Clock::time_point now, Timer& next);
  bool check_deadline(LaneState& lane, BatchSlot& slot, Clock::time_point now, Timer& next);
  LaneState* find_probe(Clock::time_point now, uint32_t& queue, Timer& next);
  void run_probe(Lock& lock, LaneState& lane, uint32_t queue);
  /// Tickets that the CPU has computed; empty if it cannot.
  std::vector<Ticket*> make_probe(uint32_t queue);
  Ticket* computed(const Request& inputs);

  Engine& engine_;
  const BatcherConfig config_;
  std::mutex mutex_;
  std::condition_variable idle_, monitor_wake_, prober_wake_;
  std::vector<TicketQueue> queues_;
  std::vector<LaneState> lanes_;  ///< the CPU's is the first
  std::vector<std::unique_ptr<BatchSlot>> slots_;
  std::vector<BatchSlot*> free_slots_;
  std::array<size_t, kOps> waiting_of_op_{};
  size_t in_flight_ = 0;  ///< operations
  unsigned held_ = 0;     ///< calls of hold() without release()
  Load load_;
  std::atomic<uint64_t> device_batches_{0};
  bool slots_short_ = false;  ///< a batch could not start because all slots were in use
  bool closing_ = false;      ///< nothing more is taken
  bool stopping_ = false;     ///< the monitor and the prober end

  std::thread monitor_, prober_;
  bool monitor_woken_ = false, prober_woken_ = false;
  Clock::time_point monitor_until_ = Clock::time_point::max();  ///< so long it sleeps
  std::optional<Clock::time_point> linger_until_;
};

}  // namespace polykem
