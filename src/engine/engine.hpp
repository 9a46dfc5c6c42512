// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <memory>
#include <mutex>
#include <span>

#include "engine/accelerator.hpp"
#include "engine/job.hpp"
#include "engine/per_process.hpp"
#include "engine/thread_pool.hpp"

namespace polykem {

struct EngineConfig {
  unsigned threads = 0;           ///< at most Engine::kMaxThreads; 0: one per CPU this process may use
  const char* backend = nullptr;  ///< force one; nullptr: POLYKEM_BACKEND, else the best available
  std::span<Accelerator* const> accelerators = polykem::accelerators();  ///< static storage
  bool open_later = false;  ///< do not wait here until the devices of a forced accelerator have opened
};

/// Batches in, batches out: chooses the backend, cuts batches into chunks and spreads them over threads. Thread-safe.
/// After a fork the child continues with its own threads and random generators.
class Engine {
 public:
  static constexpr unsigned kMaxThreads = 1024;
  static constexpr size_t kLargeBatch = std::numeric_limits<size_t>::max();

  [[nodiscard]] static Status create(const EngineConfig& config, std::unique_ptr<Engine>& out);

  unsigned threads() const { return threads_; }
  Profile& profile() { return states_.get().profile; }
  /// True on one of the engine's threads, for example in a callback.
  bool is_own_thread();

  /// The CPU backend for RunOn::kCpu; nullptr if the forced backend lacks the set.
  const SchemeBackend* cpu_backend_for(const Scheme& scheme) const;
  /// The accelerators that a batch may go to with RunOn::kAny: all, none, or the forced one.
  std::span<Accelerator* const> usable_accelerators() const;
  /// True if a backend was forced, by the configuration or the environment.
  bool is_forced() const { return forced_ != nullptr; }
  /// Random bytes from a worker's generator.
  [[nodiscard]] Status random_bytes(std::span<uint8_t> out);

  /// Decides who computes a batch of `count` items of the set whose arrays are in host memory.
  Route route_for(const Scheme& scheme, Op op = Op::kDecaps, size_t count = kLargeBatch) const;

  /// Computes the batch before it returns. A batch of one chunk runs on the caller's thread, and so does any batch that
  /// one of the engine's threads submits.
  Status run(const Request& request);

  /// Like run(), but all of it on the caller's thread.
  Status run_here(const Request& request);

  /// Starts the batch and sets `out`; `done` is called once, on one of the engine's threads, when it has finished.
  /// Status::kOutOfMemory if the system cannot start a thread.
  Status submit(const Request& request, Job::Done done, std::shared_ptr<Job>& out);

  /// Sets outputs and item statuses as for a batch that failed with `failure`, and returns `failure`. If the request is
  /// invalid, returns what is wrong with it instead.
  Status refuse(const Request& request, Status failure);

  Status generate_keyset(const Scheme& scheme, size_t count, uint8_t* pk, KeySet& out);
  /// With KeyKind::kSecretSeeds, `keys` are seeds.
  Status import_keyset(const Scheme& scheme, KeyKind kind, size_t count, const uint8_t* keys, KeySet& out);

  /// Queues a batch on the caller's stream and returns. All its arrays are in the memory of one accelerator.
  Status queue(const Request& request, void* workspace, void* stream);
  /// Bytes of workspace that queue() needs on any accelerator. The arrays decide where a batch runs, not a forced
  /// backend.
  Status queue_workspace_bytes(const Scheme& scheme, Op op, size_t count, size_t& bytes) const;

 private:
  /// The state of one process; a forked child makes its own.
  struct ProcessState {
    Profile profile;
    WorkerPool workers;
    std::mutex pool_starting;  ///< no once_flag: an exception cannot leave call_once without allocating memory
    std::unique_ptr<ThreadPool> pool;

    /// Ends the threads while all members still exist: threads use them, and a callback may submit another job.
    ~ProcessState() {
      if (pool != nullptr) pool->finish();
    }
  };

  Engine(unsigned threads, const char* forced, std::span<Accelerator* const> accelerators);

  ThreadPool* pool();
  Status find_route(const Request& request, Route& out) const;
  template <class Start>
  Status start(const Request& request, Job::Done done, Start&& start_job);
  void compute_here(Job& job);
  Status reserve(KeySet& set) const;
  Status fill(KeySet& set, const uint8_t* keys) const;
  Status fill_by_keygen(KeySet& set, const uint8_t* coins, uint8_t* pk);
  void expand(KeySet& set) const;

  const unsigned threads_;
  const char* const forced_;  ///< a backend's name; nullptr: none
  const std::span<Accelerator* const> accelerators_;
  PerProcess<ProcessState> states_;
};

}  // namespace polykem
