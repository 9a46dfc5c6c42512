// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prim/cuda/choice.hpp"
#include "prim/cuda/launch.hpp"
#include "prim/keccak/cuda/keccak_warp.cuh"

namespace polykem::cuda {

/// True if a batch of `items` items takes the kernels in which a warp hashes an item.
inline bool has_few_messages(size_t items) {
  return is_few(items, for_current_device(kFewMessages));
}

/// Launches kernels on a stream until one fails: later kernels would read what that one has not written.
struct Launcher {
  cudaStream_t stream = nullptr;
  cudaError_t error = cudaSuccess;

  template <class Kernel, class... Arguments>
  void launch(Kernel kernel, size_t blocks, unsigned threads, Arguments... arguments) {
    if (error == cudaSuccess) error = cuda::launch(kernel, blocks, threads, 0, stream, arguments...);
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
