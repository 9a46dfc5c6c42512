// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prim/cuda/choice.hpp"
#include "prim/cuda/launch.hpp"

namespace polykem::cuda {

/// Launches kernels on a stream until one fails: later kernels would read what that one has not written.
struct Launcher {
  cudaStream_t stream = nullptr;
  cudaError_t error = cudaSuccess;

  /// Keeps the status of what was launched elsewhere, unless something before it failed.
  void keep(cudaError_t status) {
    if (error == cudaSuccess) error = status;
  }
  template <class Kernel, class... Arguments>
  void launch(Kernel kernel, size_t blocks, unsigned threads, Arguments... arguments) {
    if (error == cudaSuccess) error = cuda::launch(kernel, blocks, threads, 0, stream, arguments...);
  }
  /// Launches a kernel whose blocks have shared_bytes of dynamic shared memory. On a GPU with less, memory is short,
  /// but the GPU is not lost.
  template <class Kernel, class... Arguments>
  void launch_with_shared_memory(size_t shared_bytes, Kernel kernel, size_t blocks, unsigned threads,
                                 Arguments... arguments) {
    constexpr size_t kWithoutRequest = 48 * 1024;
    if (shared_bytes > kWithoutRequest) {
      const cudaError_t status =
          cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shared_bytes));
      if (status == cudaErrorInvalidValue) (void)cudaGetLastError();
      keep(status == cudaErrorInvalidValue ? cudaErrorMemoryAllocation : status);
    }
    if (error == cudaSuccess) error = cuda::launch(kernel, blocks, threads, shared_bytes, stream, arguments...);
  }
  /// Launches a kernel in which each lane computes an item.
  template <class Kernel, class... Arguments>
  void by_lane(Kernel kernel, size_t items, Arguments... arguments) {
    launch(kernel, blocks_for(items, 32), 32, arguments...);
  }
  /// Launches a kernel in which a block of `threads` threads computes `block_items` items.
  template <class Kernel, class... Arguments>
  void by_block(Kernel kernel, size_t items, size_t block_items, unsigned threads, Arguments... arguments) {
    launch(kernel, blocks_for(items, block_items), threads, arguments...);
  }
  /// Launches a kernel that hashes: by_warp, in which a block of one warp computes each item, if items are few; else
  /// by_thread, in which each lane computes an item.
  template <class Kernel, class... Arguments>
  void hash(Kernel by_thread, Kernel by_warp, size_t items, Arguments... arguments) {
    if (has_few_messages(items)) {
      launch(by_warp, items, 32, arguments...);
    } else {
      by_lane(by_thread, items, arguments...);
    }
  }
};

}  // namespace polykem::cuda
