// SPDX-License-Identifier: Apache-2.0
// Replays repeated launches as CUDA graphs. See docs/adr/0006.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "core/device.hpp"

namespace polykem::cuda {

/// Consecutive steps of an operation and everything that determines what they launch.
struct Launches {
  const DeviceOperation* operation;
  size_t first_step, end_step;
  DeviceBatch batch;
  std::byte* workspace;
  const std::byte* seed;  ///< the pinned memory that the host writes it to

  bool operator==(const Launches&) const = default;
};

/// The graphs of one PartResources, whose addresses they contain. Not thread-safe.
class Replay {
 public:
  Replay() = default;
  ~Replay() { clear(); }
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  /// Queues launches on `stream` by calling `queue`. After the same launches have been queued often enough, they are
  /// recorded in a last call of `queue` and replayed from then on. Throws CudaError.
  void run(const Launches& launches, cudaStream_t stream, const std::function<void()>& queue);
  /// Destroys all graphs; none may be running.
  void clear();

 private:
  /// A graph costs as much time as about ten replays save, so launches that come only once are not recorded.
  static constexpr int kRecordAt = 2;
  /// The most graphs kept. There are three ranges of steps in keygen, two in encaps and one in decaps, and a batch has
  /// parts of two sizes: twelve graphs for one set and size of batch.
  static constexpr size_t kMax = 24;

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
