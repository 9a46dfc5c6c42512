// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/replay.hpp"

#include <algorithm>

#include "engine/cuda/device.hpp"

namespace polykem::cuda {

Replay::~Replay() {
  for (const Known& known : known_) {
    if (known.graph != nullptr) (void)cudaGraphExecDestroy(known.graph);
  }
}

void Replay::run(const Launches& launches, cudaStream_t stream, cudaStream_t spare,
                 const std::function<void(cudaStream_t)>& queue) {
  Known& known = find(launches);
  known.last_use = ++uses_;
  if (known.graph == nullptr) {
    if (++known.seen < kCaptureAt) {
      queue(stream);
      return;
    }
    known.graph = capture(spare, queue);
  }
  fail_if_due(Fault::step, cudaErrorLaunchFailure, launches.operation->scheme);
  check(cudaGraphLaunch(known.graph, stream), launches.operation->scheme);
}

/// What was used longest ago makes room.
Replay::Known& Replay::find(const Launches& launches) {
  const auto same = [&](const Known& known) { return known.launches == launches; };
  if (const auto found = std::find_if(known_.begin(), known_.end(), same); found != known_.end()) return *found;
  if (known_.size() < kMost) return known_.emplace_back(Known{launches});
  const auto older = [](const Known& a, const Known& b) { return a.last_use < b.last_use; };
  Known& oldest = *std::min_element(known_.begin(), known_.end(), older);
  if (oldest.graph != nullptr) (void)cudaGraphExecDestroy(oldest.graph);
  return oldest = Known{launches};
}

cudaGraphExec_t Replay::capture(cudaStream_t spare, const std::function<void(cudaStream_t)>& queue) {
  check(cudaStreamBeginCapture(spare, cudaStreamCaptureModeThreadLocal), "capturing launches");
  cudaGraph_t graph = nullptr;
  try {
    queue(spare);
  } catch (...) {
    if (cudaStreamEndCapture(spare, &graph) == cudaSuccess) (void)cudaGraphDestroy(graph);
    (void)cudaGetLastError();
    throw;
  }
  check(cudaStreamEndCapture(spare, &graph), "capturing launches");
  cudaGraphExec_t ready = nullptr;
  const cudaError_t error = cudaGraphInstantiate(&ready, graph, 0);
  (void)cudaGraphDestroy(graph);
  check(error, "preparing a graph");
  return ready;
}

}  // namespace polykem::cuda
