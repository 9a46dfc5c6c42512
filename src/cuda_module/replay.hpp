// SPDX-License-Identifier: Apache-2.0
// Launches that come again are replayed as graphs. See docs/adr/0006.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "core/device.hpp"

namespace polykem::cuda {

/// Consecutive steps of an operation and all that decides what they launch.
struct Launches {
  const DeviceOperation* operation;
  size_t first_step, end_step;
  DeviceBatch batch;
  std::byte* workspace;
  const std::byte* seed;  ///< where the host leaves it

  bool operator==(const Launches&) const = default;
};

/// The graphs of one slot. Not thread-safe, as slots are not.
class Replay {
 public:
  Replay() = default;
  ~Replay() { clear(); }
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  /// Queues the launches on `stream`. `queue` launches them there; when the same ones have come often enough it is
  /// called a last time to record them, and they are replayed from then on. Throws CudaError.
  void run(const Launches& launches, cudaStream_t stream, const std::function<void()>& queue);
  /// Forgets all; none of them may be running.
  void clear();

 private:
  /// A graph costs as much as some ten replays save, so what comes once is launched.
  static constexpr int kRecordAt = 2;
  /// Ranges of steps: three of keygen, two of encaps, one of decaps; a batch has parts of two sizes. That is twelve for
  /// one set and size of batch.
  static constexpr size_t kMost = 24;

  struct Known {
    Launches launches;
    int seen = 0;
    uint64_t last_use = 0;
    cudaGraphExec_t graph = nullptr;
  };

  Known& find(const Launches& launches);

  std::vector<Known> known_;
  uint64_t uses_ = 0;
};

}  // namespace polykem::cuda
