// SPDX-License-Identifier: Apache-2.0
// Launches that come again: a captured graph takes one call to the driver where its kernels took one each.
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

/// The graphs of one lane. Not thread-safe, as lanes are not.
class Replay {
 public:
  Replay() = default;
  ~Replay();
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  /// Has `queue` queue the launches on `stream`; when the same ones have come often enough they are captured on
  /// `spare`, a stream that nobody else uses now, and replayed from then on. Throws CudaError.
  void run(const Launches& launches, cudaStream_t stream, cudaStream_t spare,
           const std::function<void(cudaStream_t)>& queue);

 private:
  /// Capturing costs as much as some ten replays save, so what comes once or twice is launched.
  static constexpr int kCaptureAt = 3;
  /// Three operations, two ranges of steps each, two sizes: a batch's last part is smaller.
  static constexpr size_t kMost = 12;

  struct Known {
    Launches launches;
    int seen = 0;
    uint64_t last_use = 0;
    cudaGraphExec_t graph = nullptr;
  };

  Known& find(const Launches& launches);
  static cudaGraphExec_t capture(cudaStream_t spare, const std::function<void(cudaStream_t)>& queue);

  std::vector<Known> known_;
  uint64_t uses_ = 0;
};

}  // namespace polykem::cuda
