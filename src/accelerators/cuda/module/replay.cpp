// SPDX-License-Identifier: Apache-2.0
#include "accelerators/cuda/module/replay.hpp"

#include <algorithm>

#include "accelerators/cuda/module/device.hpp"
#include "prim/cuda/launch.hpp"

namespace polykem::cuda {

namespace {

/// nullptr if recording fails; the work can then still be launched.
cudaGraphExec_t record(const std::function<void()>& queue) {
  Recording recording;
  cudaGraphExec_t graph = nullptr;
  try {
    queue();
    graph = recording.finish();
  } catch (const CudaError&) {
  }
  (void)cudaGetLastError();
  return graph;
}

}  // namespace

void Replay::run(const Launches& launches, cudaStream_t stream, const std::function<void()>& queue) {
  Known& known = find(launches);
  known.last_use = ++uses_;
  if (++known.seen == kRecordAt) known.graph = record(queue);
  if (known.graph == nullptr) {
    queue();
    return;
  }
  fail_if_due(Fault::kStep, cudaErrorLaunchFailure, launches.operation->scheme);
  check(cudaGraphLaunch(known.graph, stream), launches.operation->scheme);
}

void Replay::clear() {
  for (const Known& known : known_) {
    if (known.graph != nullptr) (void)cudaGraphExecDestroy(known.graph);
  }
  known_.clear();
}

/// Replaces the graph that was used longest ago.
Replay::Known& Replay::find(const Launches& launches) {
  const auto same = [&](const Known& known) { return known.launches == launches; };
  if (const auto found = std::find_if(known_.begin(), known_.end(), same); found != known_.end()) return *found;
  if (known_.size() < kMax) return known_.emplace_back(Known{launches});
  const auto older = [](const Known& a, const Known& b) { return a.last_use < b.last_use; };
  Known& oldest = *std::min_element(known_.begin(), known_.end(), older);
  if (oldest.graph != nullptr) (void)cudaGraphExecDestroy(oldest.graph);
  return oldest = Known{launches};
}

}  // namespace polykem::cuda
