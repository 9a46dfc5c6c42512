// SPDX-License-Identifier: Apache-2.0
// Launches of kernels, which can also be written down: a graph of them takes one call to the driver where they took one
// each. Streams are not captured for it: while one is, the application's own cudaDeviceSynchronize() would fail.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <tuple>

#include "prim/launch/cuda/grid.hpp"

namespace polykem::cuda {

/// While one exists, launches of its thread become nodes of its graph, one behind the other but for those Aside, and do
/// not run. There is one at a time in a thread.
class Recording {
 public:
  Recording() : error_(cudaGraphCreate(&graph_, 0)) { current_ = this; }
  ~Recording() {
    current_ = nullptr;
    if (graph_ != nullptr) (void)cudaGraphDestroy(graph_);
  }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  /// The calling thread's; nullptr if there is none.
  static Recording* current() { return current_; }

  cudaError_t add(const cudaKernelNodeParams& launch) {
    if (error_ != cudaSuccess) return error_;
    cudaGraphNode_t before[2];
    size_t count = 0;
    if (last_ != nullptr) before[count++] = last_;
    if (aside_ && last_aside_ != nullptr) before[count++] = last_aside_;
    error_ = cudaGraphAddKernelNode(aside_ ? &last_aside_ : &last_, graph_, before, count, &launch);
    return error_;
  }

  /// What was recorded, ready to be launched; the caller destroys it. nullptr if something failed.
  cudaGraphExec_t finish() {
    cudaGraphExec_t ready = nullptr;
    if (error_ == cudaSuccess) error_ = cudaGraphInstantiate(&ready, graph_, 0);
    return error_ == cudaSuccess ? ready : nullptr;
  }

 private:
  friend class Aside;

  static inline thread_local Recording* current_ = nullptr;
  cudaGraph_t graph_ = nullptr;
  cudaGraphNode_t last_ = nullptr, last_aside_ = nullptr;
  bool aside_ = false;
  cudaError_t error_;
};

/// What is recorded while one exists waits for all that came before it, but what is recorded later waits for it only if
/// it is aside as well: the two may run at the same time. A recording must not begin with one: a graph with two roots
/// ran in a row. Without a recording nothing changes.
class Aside {
 public:
  Aside() { set(true); }
  ~Aside() { set(false); }
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;

 private:
  static void set(bool aside) {
    if (Recording* recording = Recording::current(); recording != nullptr) recording->aside_ = aside;
  }
};

/// Launches or records `kernel`; shared_bytes: dynamic shared memory of a block. Returns the driver's error, and
/// cudaErrorInvalidConfiguration for more blocks than a grid has, which would wrap in the driver's 32 bits.
template <class... Parameters, class... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), size_t blocks, unsigned threads, size_t shared_bytes,
                   cudaStream_t stream, Arguments... arguments) {
  if (blocks > kMostBlocks) return cudaErrorInvalidConfiguration;
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
