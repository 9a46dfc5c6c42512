// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "core/scheme.hpp"
#include "core/secure.hpp"
#include "prim/drbg/drbg.hpp"

namespace polykem {

using ZeroizeStack = void() noexcept;  ///< one of those in core/secure.hpp

/// The memory and the random generator that one thread needs to compute a chunk.
struct Worker {
  SecureBuffer workspace;
  SecureBuffer keys;                ///< the chunk's keys, if they were gathered or made from seeds
  std::vector<Status> item_status;  ///< the chunk's statuses, if the caller does not want them
  Drbg drbg{kSystemSources, aes256_ctr_of_cpu()};

  /// Allocates the workspace for a chunk of `items`; false if there is not enough memory.
  [[nodiscard]] bool reserve_workspace(const Operation& operation, size_t items);
  [[nodiscard]] bool reserve_keys(size_t bytes);
  /// Zeroizes what the chunks of a job left in this memory and on this thread's stack.
  void zeroize(ZeroizeStack* stack = zeroize_stack);

 private:
  bool clean_ = true;
  size_t used_bytes_ = 0;  ///< bytes of the workspace used since the last zeroize()
};

/// The workers that are not in use. Thread-safe.
class WorkerPool {
 public:
  /// nullptr if there is no memory.
  std::unique_ptr<Worker> take() noexcept;
  void give_back(std::unique_ptr<Worker> worker) noexcept;

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Worker>> idle_;
};

}  // namespace polykem
