// SPDX-License-Identifier: Apache-2.0
// Launches of kernels, which can also be recorded as a graph: the graph then takes one call to the driver instead of
// one per launch. Stream capture is not used, since the application's own cudaDeviceSynchronize() would fail during it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <tuple>

#include "prim/cuda/grid.hpp"

namespace polykem::cuda {

/// While a Recording exists, launches of its thread do not run but become nodes of its graph, one after the other
/// except on a GraphBranch. A thread has at most one at a time.
class Recording {
 public:
  Recording() : error_(cudaGraphCreate(&graph_, 0)) { current_ = this; }
  ~Recording() {
    current_ = nullptr;
    if (graph_ != nullptr) (void)cudaGraphDestroy(graph_);
  }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  /// Returns the calling thread's recording, or nullptr if there is none.
  static Recording* current() { return current_; }

  cudaError_t add(const cudaKernelNodeParams& launch) {
    if (error_ != cudaSuccess) return error_;
    cudaGraphNode_t before[2];
    size_t count = 0;
    if (last_ != nullptr) before[count++] = last_;
    if (on_branch_ && last_on_branch_ != nullptr) before[count++] = last_on_branch_;
    error_ = cudaGraphAddKernelNode(on_branch_ ? &last_on_branch_ : &last_, graph_, before, count, &launch);
    return error_;
  }

  /// Returns the recorded graph, ready to be launched; the caller destroys it. Returns nullptr if something failed.
  cudaGraphExec_t finish() {
    cudaGraphExec_t ready = nullptr;
    if (error_ == cudaSuccess) error_ = cudaGraphInstantiate(&ready, graph_, 0);
    return error_ == cudaSuccess ? ready : nullptr;
  }

 private:
  friend class GraphBranch;

  static inline thread_local Recording* current_ = nullptr;
  cudaGraph_t graph_ = nullptr;
  cudaGraphNode_t last_ = nullptr, last_on_branch_ = nullptr;
  bool on_branch_ = false;
  cudaError_t error_;
};

/// While a GraphBranch exists, launches are recorded on a side branch of the graph. They wait for all launches before
/// them, but later launches wait for them only if they are on a branch too, so the branch and the main line may run at
/// the same time. A recording must not begin on a branch: the driver ran a graph with two roots serially. Without a
/// recording, a GraphBranch has no effect.
class GraphBranch {
 public:
  GraphBranch() { set(true); }
  ~GraphBranch() { set(false); }
  GraphBranch(const GraphBranch&) = delete;
  GraphBranch& operator=(const GraphBranch&) = delete;

 private:
  static void set(bool on_branch) {
    if (Recording* recording = Recording::current(); recording != nullptr) recording->on_branch_ = on_branch;
  }
};

/// Launches `kernel`, or records it if the thread has a Recording; `shared_bytes` is the dynamic shared memory of a
/// block. Returns the driver's error, or cudaErrorInvalidConfiguration if there are more blocks than a grid has, as
/// their number would wrap in the driver's 32 bits.
template <class... Parameters, class... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), size_t blocks, unsigned threads, size_t shared_bytes,
                   cudaStream_t stream, Arguments... arguments) {
  if (blocks > kMaxBlocks) return cudaErrorInvalidConfiguration;
  const dim3 grid(static_cast<unsigned>(blocks)), block(threads);
  std::tuple<Parameters...> values{static_cast<Parameters>(arguments)...};
  return std::apply(
      [&](auto&... value) {
        void* pointers[] = {const_cast<void*>(static_cast<const void*>(&value))...};
        const auto* function = reinterpret_cast<const void*>(kernel);
        if (Recording* recording = Recording::current(); recording != nullptr) {
          return recording->add({.func = const_cast<void*>(function),
                                 .gridDim = grid,
                                 .blockDim = block,
                                 .sharedMemBytes = static_cast<unsigned>(shared_bytes),
                                 .kernelParams = pointers,
                                 .extra = nullptr});
        }
        return cudaLaunchKernel(function, grid, block, pointers, shared_bytes, stream);
      },
      values);
}

}  // namespace polykem::cuda
