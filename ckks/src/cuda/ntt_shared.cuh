// SPDX-License-Identifier: Apache-2.0
// The transform in one pass over global memory: a row lies in the shared memories of a cluster of blocks, a slice in
// each. The first layers take columns of the whole row, whichever block they end in; all later ones stay in a slice.
#pragma once

#include "ckks/src/cuda/columns.cuh"
#include "ckks/src/cuda/row_order.hpp"

namespace polykem::ckks::cuda {

/// The layers of a pass. Between passes the points go through shared memory.
template <class Word, int kLogN>
struct Passes {
  static constexpr int kUpper = kLogN - kLogRun<Word>;
  /// The first pass is by columns of the whole row, the last two by segments of a warp. Columns of 64-bit words have 16
  /// points at most; from 2^13 on they take one more pass between, by columns of a slice.
  static constexpr bool kBetween = sizeof(Word) == 8 && kUpper > 8;
  static constexpr int kFirst = sizeof(Word) == 4 ? (kUpper > 10 ? 6 : 5) : kBetween ? (kUpper + 2) / 3 : 4;
  static constexpr int kMiddle = kBetween ? (kUpper - kFirst + 1) / 2 : 0;
  static constexpr int kSegmentLevel = kFirst + kMiddle;
};

template <class Word, int kLogN, int kCluster, bool kInverse>
struct SharedNtt {
  using P = Passes<Word, kLogN>;
  static constexpr int kN = 1 << kLogN, kPoints = kN / kCluster;
  /// Rows of 2^13 and 2^14 words gain by blocks of half as many threads: as many points in one go, more rows at once.
  static constexpr int kSteps = sizeof(Word) == 4 && (kLogN == 13 || kLogN == 14) ? 2 : 1;
  static constexpr int kThreadPoints = kSteps * (P::kFirst > 5 ? 1 << P::kFirst : 32);
  static constexpr int kThreads = kPoints / kThreadPoints;
  /// The number of blocks that leaves a thread 64 registers, 80 where the passes are short, 96 where there are few
  /// threads or a column has more than 32 words of 32 bits, or 128 for such columns in smaller clusters and of 64-bit
  /// words.
  static constexpr bool kLarge = kThreadPoints / kSteps * sizeof(Word) > 128;
  static constexpr int kSmThreads = kLarge       ? (sizeof(Word) == 4 && kCluster == 8 ? 640 : 512)
                                    : kSteps > 1 ? 640
                                    : kLogN < 14 ? 768
                                                 : 1024;
  static constexpr int kMinBlocks = kSmThreads / kThreads;
  static constexpr int kRadix = 1 << P::kFirst, kStride = kN / kRadix, kOfBlock = kRadix / kCluster;
  static_assert(kRadix % kCluster == 0 && kStride % kCluster == 0 && kThreads <= 1024 && kMinBlocks >= 1);
  using BlockSlice = Slice<Word, kLogN, kPoints, kThreads>;

  BlockSlice slice;

  /// Computes the first layers, from row.load(index) to the blocks' shared memories.
  template <class Row>
  __device__ __forceinline__ void first(const Row& row) const {
#pragma unroll 1
    for (int step = 0; step < kThreadPoints / kRadix; ++step) {
      const unsigned column = slice.rank * (kStride / kCluster) + step * kThreads + slice.thread;
      Word* place = slice.points + padded<Word>(column);
      Word x[kRadix];
#pragma unroll
      for (int k = 0; k < kRadix; ++k)
        x[k] = row.load(size_t{column} + k * kStride);
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

  /// Computes the last layers of the inverse, from the blocks' shared memories to row.store(index, word).
  template <class Row>
  __device__ __forceinline__ void last(const Row& row, Factor<Word> inverse_n) const {
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
      finish_column<P::kFirst>(x, slice.factors, inverse_n, slice.q);
#pragma unroll
      for (int k = 0; k < kRadix; ++k)
        row.store(size_t{column} + k * kStride, x[k]);
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

  template <class Row>
  __device__ __forceinline__ void forward(const Row& row) const {
    if constexpr (kCluster > 1) cluster_arrive_relaxed();
    first(row);
    all_blocks();
    if constexpr (P::kBetween) {
      slice.template middle<P::kFirst, P::kMiddle, false>();
      __syncthreads();
    }
    slice.template forward_segments<P::kSegmentLevel>([&](size_t i, const Vector<Word>& lane) { row.store(i, lane); });
  }

  template <class Row>
  __device__ __forceinline__ void inverse(const Row& row, Factor<Word> inverse_n) const {
    slice.template inverse_segments<P::kSegmentLevel>([&](size_t i) { return row.load(i); });
    if constexpr (P::kBetween) {
      __syncthreads();
      slice.template middle<P::kFirst, P::kMiddle, true>();
    }
    all_blocks();
    last(row, inverse_n);
    if constexpr (kCluster > 1) {  // no block may end while others read its shared memory
      cluster_arrive_relaxed();
      cluster_wait();
    }
  }
};

/// Transforms a row of a launch. `Rows` says where the points come from and go to: rows.at(place, prime, tables) has
///   load(index)         a word below 2q (forward); sixteen bytes below q (inverse)
///   store(index, value) sixteen bytes in [0, q) (forward); a word in [0, q) (inverse)
template <class Word, int kLogN, int kCluster, bool kInverse, class Rows>
__global__ void __launch_bounds__((SharedNtt<Word, kLogN, kCluster, kInverse>::kThreads),
                                  (SharedNtt<Word, kLogN, kCluster, kInverse>::kMinBlocks))
    ntt_shared_kernel(const Rows rows, const RowOrder order, const Tables<Word> tables) {
  using Ntt = SharedNtt<Word, kLogN, kCluster, kInverse>;
  const RowPlace place = order.place(blockIdx.x / kCluster);
  const Prime<Word> prime = tables.primes[place.prime];
  const auto* factors = (kInverse ? tables.inverse : tables.forward) + (size_t{place.prime} << kLogN);
  const Ntt ntt{{dynamic_shared<Word>(), blockIdx.x % kCluster, threadIdx.x, factors, prime.q}};
  after_previous_kernel();
  const auto row = rows.at(place, prime, tables);
  if constexpr (kInverse)
    ntt.inverse(row, prime.inverse_n);
  else
    ntt.forward(row);
}

}  // namespace polykem::ckks::cuda
