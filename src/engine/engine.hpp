// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <memory>
#include <mutex>
#include <optional>

#include "core/backend.hpp"
#include "engine/job.hpp"
#include "engine/thread_pool.hpp"

namespace polykem {

struct EngineConfig {
  unsigned threads = 0;           ///< 0: one per CPU this process may use
  const char* backend = nullptr;  ///< force one; nullptr: POLYKEM_BACKEND, else the best available
};

/// Batches in, batches out: chooses the backend, cuts batches into chunks and spreads them over threads.
class Engine {
 public:
  [[nodiscard]] static Status create(const EngineConfig& config, std::unique_ptr<Engine>& out);

  unsigned threads() const { return threads_; }
  Profile& profile() { return profile_; }

  /// The backend that runs a batch of `count` items of the set here, or nullptr. By default for large batches.
  const SchemeBackend* backend_for(const Scheme& scheme, Op op = Op::decaps,
                                   size_t count = std::numeric_limits<size_t>::max()) const;

  /// Computes the batch before it returns. A batch of one chunk runs on the caller's thread.
  Status run(const Request& request);

  /// Starts the batch; `done` is called once on a worker thread when it has finished.
  Status submit(const Request& request, Job::Done done, std::shared_ptr<Job>& out);

  Status generate_keyset(const Scheme& scheme, size_t count, uint8_t* pk, KeySet& out);
  /// With KeyKind::secret_seeds, `keys` are seeds.
  Status import_keyset(const Scheme& scheme, KeyKind kind, size_t count, const uint8_t* keys, KeySet& out);

  /// Queues a batch whose arrays all lie on the current GPU on the caller's stream (a cudaStream_t) and returns.
  Status queue_on_device(const Request& request, void* workspace, void* stream);

 private:
  Engine(unsigned threads, std::optional<BackendId> forced) : threads_(threads), forced_(forced) {}

  const SchemeBackend* backend_for(const Request& request) const;
  const SchemeBackend* backend_for(const KeySet& set) const;
  Status reserve(KeySet& set) const;
  Status fill_by_keygen(const Scheme& scheme, size_t count, const uint8_t* draws, uint8_t* pk, KeySet& out);
  void expand(KeySet& set) const;
  Status make_job(const Request& request, Job::Done done, std::shared_ptr<Job>& out) const;
  ThreadPool& pool();

  const unsigned threads_;
  const std::optional<BackendId> forced_;
  Profile profile_;
  WorkerPool workers_;
  std::once_flag pool_started_;
  std::unique_ptr<ThreadPool> pool_;  ///< last: its threads use all of the above
};

}  // namespace polykem
