// SPDX-License-Identifier: Apache-2.0
// A thread's part of a transform: the layers [level, level + bits) on one column, the 2^bits points of a group that lie
// N / 2^(level + bits) apart. In the last layers a column is a run of neighbouring points.
#pragma once

#include "ckks/src/cuda/modular.cuh"

namespace polykem::ckks::cuda {

__device__ __forceinline__ Factor<uint32_t> load_factor(const Factor<uint32_t>* factor) {
  const uint2 loaded = __ldg(reinterpret_cast<const uint2*>(factor));
  return {loaded.x, loaded.y};
}
__device__ __forceinline__ Factor<uint64_t> load_factor(const Factor<uint64_t>* factor) {
  const ulonglong2 loaded = __ldg(reinterpret_cast<const ulonglong2*>(factor));
  return {loaded.x, loaded.y};
}

/// Loads two neighbours, the first at an even place.
__device__ __forceinline__ void load_factors(Factor<uint32_t> (&pair)[2], const Factor<uint32_t>* factors) {
  const uint4 loaded = __ldg(reinterpret_cast<const uint4*>(factors));
  pair[0] = {loaded.x, loaded.y};
  pair[1] = {loaded.z, loaded.w};
}
__device__ __forceinline__ void load_factors(Factor<uint64_t> (&pair)[2], const Factor<uint64_t>* factors) {
  pair[0] = load_factor(factors);
  pair[1] = load_factor(factors + 1);
}

/// The factors of the nodes below `node`, at the top levels of the tables.
template <class Word>
struct TreeFactors {
  const Factor<Word>* table;
  uint32_t node;
  __device__ __forceinline__ Factor<Word> operator()(int depth, int m) const {
    return load_factor(table + size_t{node << depth} + m);
  }
  __device__ __forceinline__ void load(Factor<Word> (&pair)[2], int depth, int m) const {
    load_factors(pair, table + size_t{node << depth} + m);
  }
};

/// The factors of the subtree of group g, one of `groups`, in the last kLogRun layers.
template <class Word>
struct RunFactors {
  const Factor<Word>* table;
  uint32_t g, groups;
  __device__ __forceinline__ Factor<Word> operator()(int depth, int m) const {
    return load_factor(table + g + size_t{groups} * ((1 << depth) + m));
  }
  __device__ __forceinline__ void load(Factor<Word> (&pair)[2], int depth, int m) const {
    const Factor<Word>* first = table + size_t{groups} * ((1 << depth) + m);
    if constexpr (sizeof(Word) == 4) {
      load_factors(pair, first + 2 * g);
    } else {
      pair[0] = load_factor(first + g);
      pair[1] = load_factor(first + groups + g);
    }
  }
};

/// Computes the butterflies of node m of layer number kDepth of kBits. In and out: below 2q (32 bits) or 8q (64 bits);
/// kInverse: below q or 4q.
template <int kBits, int kDepth, bool kInverse, class Word>
__device__ __forceinline__ void transform_node(Word (&x)[1 << kBits], int m, Factor<Word> w, Word q) {
  constexpr int kHalf = 1 << (kBits - 1 - kDepth);
#pragma unroll
  for (int j = 0; j < kHalf; ++j) {
    if constexpr (kInverse)
      inverse_butterfly(x[2 * m * kHalf + j], x[(2 * m + 1) * kHalf + j], w, q);
    else
      butterfly(x[2 * m * kHalf + j], x[(2 * m + 1) * kHalf + j], w, q);
  }
}

/// Computes one layer of a column. Depths are template parameters: loops whose bounds depend on each other would leave
/// x in local memory.
template <int kBits, int kDepth, bool kInverse, class Word, class Factors>
__device__ __forceinline__ void transform_layer(Word (&x)[1 << kBits], const Factors& factors, Word q) {
  if constexpr (kDepth == 0) {
    transform_node<kBits, 0, kInverse>(x, 0, factors(0, 0), q);
  } else {
#pragma unroll
    for (int m = 0; m < 1 << kDepth; m += 2) {
      Factor<Word> w[2];
      factors.load(w, kDepth, m);
      transform_node<kBits, kDepth, kInverse>(x, m, w[0], q);
      transform_node<kBits, kDepth, kInverse>(x, m + 1, w[1], q);
    }
  }
}

/// Computes all layers of a forward transform's column. In and out: below 2q (32 bits) or 8q (64 bits).
template <int kBits, int kDepth = 0, class Word, class Factors>
__device__ __forceinline__ void transform_column(Word (&x)[1 << kBits], const Factors& factors, Word q) {
  if constexpr (kDepth < kBits) {
    transform_layer<kBits, kDepth, false>(x, factors, q);
    transform_column<kBits, kDepth + 1>(x, factors, q);
  }
}

/// Computes the layers of an inverse transform's column, down to layer kEnd. In and out: below q (32 bits) or 4q (64
/// bits).
template <int kBits, int kEnd = 0, int kDepth = kBits - 1, class Word, class Factors>
__device__ __forceinline__ void invert_column(Word (&x)[1 << kBits], const Factors& factors, Word q) {
  if constexpr (kDepth >= kEnd) {
    transform_layer<kBits, kDepth, true>(x, factors, q);
    invert_column<kBits, kEnd, kDepth - 1>(x, factors, q);
  }
}

/// Computes the inverse's last layers, with the division by N. In: below q (32 bits) or 4q (64 bits). Out: in [0, q).
/// factors: the prime's.
template <int kBits, class Word>
__device__ __forceinline__ void finish_column(Word (&x)[1 << kBits], const Factor<Word>* factors,
                                              Factor<Word> inverse_n, Word q) {
  invert_column<kBits, 1>(x, TreeFactors<Word>{factors, 1}, q);
  const Factor<Word> root = load_factor(factors);
#pragma unroll
  for (int j = 0; j < 1 << (kBits - 1); ++j)
    last_butterfly(x[j], x[j + (1 << (kBits - 1))], inverse_n, root, q);
}

/// Returns where point i lies in shared memory: sixteen bytes of padding follow each run, so that neither runs nor
/// columns of neighbouring threads meet in a bank.
template <class Word>
__host__ __device__ constexpr unsigned padded(unsigned i) {
  return i + (i >> kLogRun<Word>)*(16 / sizeof(Word));
}

/// kPoints neighbouring points of a polynomial in shared memory, which are slice number `rank` of it. The last layers
/// are computed segment by segment. A segment is 32 runs, which one warp takes through all these layers without waiting
/// for others.
template <class Word, int kLogN, int kPoints, int kThreads>
struct Slice {
  static constexpr int kRunBits = kLogRun<Word>, kRun = 1 << kRunBits;
  static constexpr unsigned kSegment = kWarp * kRun, kSegments = kPoints / kSegment;
  static constexpr unsigned kSharedBytes = padded<Word>(kPoints) * sizeof(Word);
  static_assert(kPoints % kSegment == 0);
  using Lane = Vector<Word>;

  Word* points;
  unsigned rank, thread;
  const Factor<Word>* factors;
  Word q;

  /// Computes column number `column` in the layers [kLevel, kLevel + kBits), above the last runs.
  template <int kLevel, int kBits, bool kInverse>
  __device__ __forceinline__ void column(unsigned column) const {
    constexpr int kStride = 1 << (kLogN - kLevel - kBits);
    static_assert(kStride << kBits <= kPoints && kStride % kRun == 0);
    const unsigned group = column / kStride, first = group * (kStride << kBits) + column % kStride;
    const uint32_t node = (1u << kLevel) + rank * (kPoints >> (kLogN - kLevel)) + group;
    Word* place = points + padded<Word>(first);
    Word x[1 << kBits];
#pragma unroll
    for (int k = 0; k < 1 << kBits; ++k)
      x[k] = place[padded<Word>(k * kStride)];
    if constexpr (kInverse)
      invert_column<kBits>(x, TreeFactors<Word>{factors, node}, q);
    else
      transform_column<kBits>(x, TreeFactors<Word>{factors, node}, q);
#pragma unroll
    for (int k = 0; k < 1 << kBits; ++k)
      place[padded<Word>(k * kStride)] = x[k];
  }

  /// Computes the layers [kLevel, kLevel + kBits) with all threads of the block.
  template <int kLevel, int kBits, bool kInverse>
  __device__ __forceinline__ void middle() const {
    for (unsigned c = thread; c < unsigned{kPoints} >> kBits; c += kThreads)
      column<kLevel, kBits, kInverse>(c);
  }

  /// Computes the last layers from kLevel on, and calls store(index in the polynomial, sixteen bytes in [0, q)).
  template <int kLevel, class Store>
  __device__ __forceinline__ void forward_segments(const Store& store) const {
    for_segments([&](unsigned segment) {
      upper<kLevel, false>(segment);
      __syncwarp();
      run<false>(segment * kWarp + thread % kWarp);
      __syncwarp();
      for_lanes(segment, [&](unsigned i) {
        Lane lane = *reinterpret_cast<const Lane*>(points + padded<Word>(i));
#pragma unroll
        for (Word& x : lane.at)
          x = reduce_forward(x, q);
        store(size_t{rank * kPoints} + i, lane);
      });
    });
  }

  /// Calls load(index in the polynomial), which returns sixteen bytes, and computes the first layers of the inverse
  /// down to kLevel.
  template <int kLevel, class Load>
  __device__ __forceinline__ void inverse_segments(const Load& load) const {
    for_segments([&](unsigned segment) {
      segment_in(segment, load);
      __syncwarp();
      run<true>(segment * kWarp + thread % kWarp);
      __syncwarp();
      upper<kLevel, true>(segment);
    });
  }

  /// Copies sixteen bytes at a time from load(index in the polynomial), for all points of the slice. Each warp copies
  /// those of its segments.
  template <class Load>
  __device__ __forceinline__ void copy_in(const Load& load) const {
    for_segments([&](unsigned segment) { segment_in(segment, load); });
  }

  /// Calls store(index in the polynomial, sixteen bytes) for all points of the slice. Each warp does so for those of
  /// its segments.
  template <class Store>
  __device__ __forceinline__ void copy_out(const Store& store) const {
    for_segments([&](unsigned segment) {
      for_lanes(segment, [&](unsigned i) {
        store(size_t{rank * kPoints} + i, *reinterpret_cast<const Lane*>(points + padded<Word>(i)));
      });
    });
  }

 private:
  /// Calls body(segment) for the segments of the thread's warp. How often it runs is known, so the compiler makes one
  /// copy of it: large code slows transforms down.
  template <class Body>
  __device__ __forceinline__ void for_segments(const Body& body) const {
    constexpr unsigned kWarps = kThreads / kWarp;
    static_assert(kSegments % kWarps == 0);
#pragma unroll 1
    for (unsigned step = 0; step < kSegments / kWarps; ++step)
      body(step * kWarps + thread / kWarp);
  }

  template <class Load>
  __device__ __forceinline__ void segment_in(unsigned segment, const Load& load) const {
    for_lanes(segment, [&](unsigned i) {
      *reinterpret_cast<Lane*>(points + padded<Word>(i)) = load(size_t{rank * kPoints} + i);
    });
  }

  template <class Body>
  __device__ __forceinline__ void for_lanes(unsigned segment, const Body& body) const {
#pragma unroll
    for (unsigned k = 0; k < unsigned{kRun / Lane::kWords}; ++k)
      body(segment * kSegment + (k * kWarp + thread % kWarp) * Lane::kWords);
  }

  /// Computes the layers of a segment between kLevel and its runs.
  template <int kLevel, bool kInverse>
  __device__ __forceinline__ void upper(unsigned segment) const {
    constexpr int kBits = kLogN - kRunBits - kLevel;
    static_assert(kBits > 0 && kBits <= kRunBits);
    constexpr unsigned kColumns = kSegment >> kBits;
#pragma unroll
    for (unsigned c = 0; c < kColumns; c += kWarp)
      column<kLevel, kBits, kInverse>(segment * kColumns + c + thread % kWarp);
  }

  /// Computes the last layers of the transform, or the first of its inverse.
  template <bool kInverse>
  __device__ __forceinline__ void run(unsigned number) const {
    Word* place = points + padded<Word>(number * kRun);
    const RunFactors<Word> below{factors, rank * (kPoints / kRun) + number, 1u << (kLogN - kRunBits)};
    Word x[kRun];
#pragma unroll
    for (int i = 0; i < kRun; i += Lane::kWords) {
      const Lane lane = *reinterpret_cast<const Lane*>(place + i);
#pragma unroll
      for (int j = 0; j < Lane::kWords; ++j)
        x[i + j] = lane.at[j];
    }
    if constexpr (kInverse)
      invert_column<kRunBits>(x, below, q);
    else
      transform_column<kRunBits>(x, below, q);
#pragma unroll
    for (int i = 0; i < kRun; i += Lane::kWords) {
      Lane lane;
#pragma unroll
      for (int j = 0; j < Lane::kWords; ++j)
        lane.at[j] = x[i + j];
      *reinterpret_cast<Lane*>(place + i) = lane;
    }
  }
};

}  // namespace polykem::ckks::cuda
