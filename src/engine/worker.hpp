// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "core/secure.hpp"
#include "engine/request.hpp"
#include "prim/drbg/drbg.hpp"

namespace polykem {

/// What one thread needs to compute a chunk: memory and random numbers.
struct Worker {
  SecureBuffer workspace;
  SecureBuffer keys;                ///< of the chunk, where they had to be gathered or made from seeds
  std::vector<Status> item_status;  ///< of the chunk, where the caller does not want it
  Drbg drbg;

  /// Zeroises what the chunks of a job left in the memory.
  void wipe();
  size_t used_bytes = 0;  ///< of the workspace since the last wipe
};

/// Workers that wait for use. Thread-safe.
class WorkerPool {
 public:
  /// nullptr if there is no memory.
  std::unique_ptr<Worker> take();
  void give_back(std::unique_ptr<Worker> worker);

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Worker>> idle_;
};

/// Makes the secret keys of items [first, first + count) from their seeds, in worker.keys.
Status expand_seeds(const Request& request, const Operation& keygen, size_t first, size_t count, Worker& worker,
                    StepTimes* times);

/// Computes items [first, first + count) of the request on this thread, after expand_seeds() where the secret keys are
/// seeds. Secrets stay in the worker's memory until wipe(). Item errors go to item_status (never nullptr, preset to ok,
/// entry 0 belongs to item `first`).
Status run_chunk(const Request& request, const SchemeBackend& backend, size_t first, size_t count, Status* item_status,
                 Worker& worker, StepTimes* times);

}  // namespace polykem
