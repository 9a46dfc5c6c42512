// SPDX-License-Identifier: Apache-2.0
// The transform in one pass over global memory: a row lies in the shared memories of a cluster of blocks, a slice in
// each. The first layers take columns of the whole row, whichever block they end in; all later ones stay in a slice.
#pragma once

#include "ckks/cuda/columns.cuh"

namespace polykem::ckks::cuda {

/// Which layers belong to a pass. Between passes the points go through shared memory.
template <class Word, int kLogN>
struct Passes {
  static constexpr int kLast = kLogRun<Word>, kUpper = kLogN - kLast;
  /// 32 bits: two passes above the runs. The second one's columns are 32 points wide, so that a warp shares its
  /// factors. 64 bits: passes of 16 points at most.
  static constexpr int kPasses = sizeof(Word) == 4 || kUpper <= 8 ? 2 : 3;
  static constexpr int kFirst = sizeof(Word) == 4 ? (kUpper > 10 ? 6 : 5) : (kUpper + kPasses - 1) / kPasses;
  static constexpr int kMiddle = (kUpper - kFirst + kPasses - 2) / (kPasses - 1);
  static constexpr int kMiddle2 = kUpper - kFirst - kMiddle;
};

template <class Word, int kLogN, int kCluster>
struct SharedNtt {
  using P = Passes<Word, kLogN>;
  static constexpr int kN = 1 << kLogN, kPoints = kN / kCluster;
  static constexpr int kThreadPoints = P::kFirst > 5 ? 1 << P::kFirst : 32;
  static constexpr int kThreads = kPoints / kThreadPoints;
  /// As many blocks as leave a thread 64 registers, 80 in small blocks, or 128 where it holds more or takes words from
  /// other blocks.
  static constexpr bool kLarge = kThreadPoints * sizeof(Word) > 128 || kCluster > 1;
  static constexpr int kSmThreads = kLarge ? 512 : kThreads <= 256 ? 768 : 1024;
  static constexpr int kMinBlocks = kSmThreads / kThreads;
  static constexpr int kRadix = 1 << P::kFirst, kStride = kN / kRadix, kOfBlock = kRadix / kCluster;
  static_assert(kRadix % kCluster == 0 && kStride % kCluster == 0 && kThreads <= 1024 && kMinBlocks >= 1);
  using BlockSlice = Slice<Word, kLogN, kPoints, kThreads>;

  BlockSlice slice;

  /// The first layers, from load(index) to the blocks' shared memories.
  template <class Load>
  __device__ __forceinline__ void first(const Load& load) const {
#pragma unroll 1
    for (int step = 0; step < kThreadPoints / kRadix; ++step) {
      const unsigned column = slice.rank * (kStride / kCluster) + step * kThreads + slice.thread;
      Word* place = slice.points + padded<Word>(column);
      Word x[kRadix];
#pragma unroll
      for (int k = 0; k < kRadix; ++k)
        x[k] = load(size_t{column} + k * kStride);
      transform_column<P::kFirst>(x, TreeFactors<Word>{slice.factors, 1}, slice.q);
      if constexpr (kCluster > 1) {
        if (step == 0) cluster_wait();  // until all blocks of the cluster have begun
      }
#pragma unroll
      for (int k = 0; k < kRadix; ++k) {
        const unsigned offset = padded<Word>(k % kOfBlock * kStride);
        if constexpr (kCluster > 1)
          ClusterPlace<Word>(place, k / kOfBlock).store(offset, x[k]);
        else
          place[offset] = x[k];
      }
    }
  }

  /// The last layers of the inverse, from the blocks' shared memories to store(index, word).
  template <class Store>
  __device__ __forceinline__ void last(const Store& store, Factor<Word> scale) const {
#pragma unroll 1
    for (int step = 0; step < kThreadPoints / kRadix; ++step) {
      const unsigned column = slice.rank * (kStride / kCluster) + step * kThreads + slice.thread;
      Word* place = slice.points + padded<Word>(column);
      Word x[kRadix];
#pragma unroll
      for (int k = 0; k < kRadix; ++k) {
        const unsigned offset = padded<Word>(k % kOfBlock * kStride);
        if constexpr (kCluster > 1)
          ClusterPlace<Word>(place, k / kOfBlock).load(offset, x[k]);
        else
          x[k] = place[offset];
      }
      invert_column<P::kFirst>(x, TreeFactors<Word>{slice.factors, 1}, slice.q);
#pragma unroll
      for (int k = 0; k < kRadix; ++k)
        store(size_t{column} + k * kStride, multiply(x[k], scale, slice.q));
    }
  }

  __device__ __forceinline__ static void all_blocks() {
    if constexpr (kCluster > 1) {
      cluster_arrive();
      cluster_wait();
    } else {
      __syncthreads();
    }
  }

  template <class Load, class Store>
  __device__ __forceinline__ void forward(const Load& load, const Store& store) const {
    if constexpr (kCluster > 1) cluster_arrive();
    first(load);
    all_blocks();
    slice.template middle<P::kFirst, P::kMiddle, false>();
    __syncthreads();
    if constexpr (P::kMiddle2 > 0) {
      slice.template middle<P::kFirst + P::kMiddle, P::kMiddle2, false>();
      __syncthreads();
    }
    slice.template runs<false>();
    __syncthreads();
    slice.template copy_out<true>(store);
  }

  template <class Load, class Store>
  __device__ __forceinline__ void inverse(const Load& load, const Store& store, Factor<Word> scale) const {
    slice.copy_in(load);
    __syncthreads();
    slice.template runs<true>();
    __syncthreads();
    if constexpr (P::kMiddle2 > 0) {
      slice.template middle<P::kFirst + P::kMiddle, P::kMiddle2, true>();
      __syncthreads();
    }
    slice.template middle<P::kFirst, P::kMiddle, true>();
    all_blocks();
    last(store, scale);
    if constexpr (kCluster > 1) all_blocks();  // nobody leaves while others read its shared memory
  }
};

/// A row of a launch. `Rows` says where its points come from and go to:
///   prime(row)                      the number of its prime, RowMap::kSkip for none
///   load(row, prime, index)         a word below 2q (forward); sixteen bytes below q (inverse)
///   store(row, prime, index, value) sixteen bytes in [0, q) (forward); a word in [0, q) (inverse)
///   scale(row, prime)               what the inverse multiplies by, 1/N included
template <class Word, int kLogN, int kCluster, bool kInverse, class Rows>
__global__ void __launch_bounds__((SharedNtt<Word, kLogN, kCluster>::kThreads),
                                  (SharedNtt<Word, kLogN, kCluster>::kMinBlocks))
    ntt_shared_kernel(const Rows rows, const Tables<Word> tables) {
  using Ntt = SharedNtt<Word, kLogN, kCluster>;
  const unsigned row = blockIdx.x / kCluster, prime = rows.prime(row);
  if (prime == RowMap::kSkip) return;
  const Word q = tables.primes[prime].q;
  const auto* factors = (kInverse ? tables.inverse : tables.forward) + (size_t{prime} << kLogN);
  const Ntt ntt{{dynamic_shared<Word>(), blockIdx.x % kCluster, threadIdx.x, factors, q}};
  const auto store = [&](size_t i, const auto& value) { rows.store(row, prime, i, value); };
  const auto load = [&](size_t i) { return rows.load(row, prime, i); };
  if constexpr (kInverse)
    ntt.inverse(load, store, rows.scale(row, prime, tables));
  else
    ntt.forward(load, store);
}

}  // namespace polykem::ckks::cuda
