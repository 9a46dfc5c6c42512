// SPDX-License-Identifier: Apache-2.0
// X25519 on the device, an item in each thread. [RFC7748, 5]
#pragma once

#include "prim/ecdh/cuda/base_table32.hpp"
#include "prim/records/cuda/items.cuh"

namespace polykem::cuda {

/// The threads of a block, and the number of blocks for which a multiprocessor has registers at a time.
inline constexpr int kX25519Threads = 128, kX25519Blocks = 4;
/// The number of blocks for which the compiler must leave registers: on 12.0 four would spill.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1200
inline constexpr int kX25519MinBlocks = 3;
#else
inline constexpr int kX25519MinBlocks = kX25519Blocks;
#endif
/// The number of items that a multiprocessor computes at a time.
inline constexpr size_t kX25519Wave = size_t{kX25519Threads} * kX25519Blocks;

__device__ __forceinline__ const ecdh::Field32::Window* base_windows() {
  static constexpr ecdh::BaseTable32 kTable =
      ecdh::base_table32(std::make_index_sequence<ecdh::edwards25519::kWindows>());
  return kTable.window;
}

/// Multiplies the points by their scalars if kPoint, else the base point by the scalars. Writes the u coordinates to
/// `out`, 32 bytes for each item, 4-byte aligned. The caller looks for results of zero.
template <bool kPoint>
__global__ void __launch_bounds__(kX25519Threads, kX25519MinBlocks)
    x25519_kernel(uint32_t* out, Records scalars, Records points, size_t count) {
  using F = ecdh::Field32;
  const size_t item = blockIdx.x * size_t{kX25519Threads} + threadIdx.x;
  if (item >= count) return;
  const F::Scalars scalar{scalars[item]};
  F::Element result;
  if constexpr (kPoint) {
    F::Element u;
    load_words(u.word, points[item]);
    result = ecdh::ladder<F>(scalar, F::masked(u));
  } else {
    result = ecdh::base_point_times<F>(scalar, base_windows());
  }
  store_words(reinterpret_cast<uint8_t*>(out + item * F::kWords), F::reduced(result).word);
}

}  // namespace polykem::cuda
