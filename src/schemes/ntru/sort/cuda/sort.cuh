// SPDX-License-Identifier: Apache-2.0
// A sorting network across the lanes of one warp. The compare-exchanges are the same whatever the keys are.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace polykem::cuda {

/// Returns the smaller of the two keys if `upper` is false, else the larger.
__device__ __forceinline__ int32_t keep(int32_t mine, int32_t other, bool upper) {
  const int32_t low = min(mine, other), high = max(mine, other);
  return upper ? high : low;
}

__device__ __forceinline__ void order(int32_t& low, int32_t& high) {
  const int32_t smaller = min(low, high);
  high = max(low, high);
  low = smaller;
}

/// Batcher's merge exchange for any number of keys, as a list of compare-exchanges. [Knuth, The Art of Computer
/// Programming, vol. 3, 5.2.2, algorithm M]
template <int kKeys>
struct MergeExchange {
  struct Pair {
    int low, high;
  };

  template <class Visit>
  static constexpr void visit(Visit&& visit_pair) {
    int top = 1;
    while (2 * top < kKeys)
      top *= 2;
    for (int p = top; p > 0; p /= 2) {
      for (int q = top, r = 0, d = p;; d = q - p, q /= 2, r = p) {
        for (int i = 0; i + d < kKeys; ++i) {
          if ((i & p) == r) visit_pair(Pair{i, i + d});
        }
        if (q == p) break;
      }
    }
  }

  static constexpr int count() {
    int n = 0;
    visit([&](Pair) { ++n; });
    return n;
  }

  static constexpr auto pairs() {
    std::array<Pair, count()> list{};
    int n = 0;
    visit([&](Pair pair) { list[n++] = pair; });
    return list;
  }
};

/// Sorts the kKeys keys of a lane that begin at x[first]; `first` must be a constant after unrolling.
template <int kKeys, int kRegs>
__device__ __forceinline__ void sort_in_lane(int32_t (&x)[kRegs], int first) {
  [&]<size_t... kPair>(std::index_sequence<kPair...>) {
    constexpr auto kPairs = MergeExchange<kKeys>::pairs();
    (order(x[first + kPairs[kPair].low], x[first + kPairs[kPair].high]), ...);
  }
  (std::make_index_sequence<MergeExchange<kKeys>::count()>());
}

/// Sorts bitonic runs of kSize keys inside every lane: halves the runs while they are even, then sorts what is left.
template <int kSize, int kRegs>
__device__ __forceinline__ void merge_in_lane(int32_t (&x)[kRegs]) {
#pragma unroll
  for (int first = 0; first < kRegs; first += kSize) {
    if constexpr (kSize % 2 == 0) {
#pragma unroll
      for (int i = first; i < first + kSize / 2; ++i)
        order(x[i], x[i + kSize / 2]);
    } else {
      sort_in_lane<kSize>(x, first);
    }
  }
  if constexpr (kSize % 2 == 0 && kSize > 2) merge_in_lane<kSize / 2>(x);
}

/// Merges two sorted halves of kLanes/2 lanes each.
template <int kLanes, int kRegs>
__device__ __forceinline__ void merge_across(int32_t (&x)[kRegs], unsigned lane) {
  const bool upper_half = (lane & (kLanes / 2)) != 0;
#pragma unroll
  for (int i = 0; i < kRegs / 2; ++i) {
    const int32_t front = __shfl_xor_sync(0xffffffff, x[kRegs - 1 - i], kLanes - 1);
    const int32_t back = __shfl_xor_sync(0xffffffff, x[i], kLanes - 1);
    x[i] = keep(x[i], front, upper_half);
    x[kRegs - 1 - i] = keep(x[kRegs - 1 - i], back, upper_half);
  }
#pragma unroll
  for (int distance = kLanes / 4; distance > 0; distance /= 2) {
    const bool upper = (lane & distance) != 0;
#pragma unroll
    for (int i = 0; i < kRegs; ++i)
      x[i] = keep(x[i], __shfl_xor_sync(0xffffffff, x[i], distance), upper);
  }
  merge_in_lane<kRegs>(x);
}

/// Sorts 32 * kRegs signed keys in ascending order with one whole warp; key lane * kRegs + i is x[i] of that lane.
/// Bitonic merges across lanes begin with a mirrored step, so that every run is ascending. kRegs: a power of two times
/// a small odd number; sort_in_lane() sorts runs of that number.
template <int kRegs>
__device__ __forceinline__ void warp_sort(int32_t (&x)[kRegs], unsigned lane) {
  static_assert(kRegs % 2 == 0);
  sort_in_lane<kRegs>(x, 0);
  merge_across<2>(x, lane);
  merge_across<4>(x, lane);
  merge_across<8>(x, lane);
  merge_across<16>(x, lane);
  merge_across<32>(x, lane);
}

}  // namespace polykem::cuda
