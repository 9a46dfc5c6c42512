// SPDX-License-Identifier: Apache-2.0
// A sorting network across the lanes of one warp. The compare-exchanges are the same whatever the keys are.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace polykem::cuda {

/// Returns -a mod 2^32.
__device__ __forceinline__ int32_t wrapping_minus(int32_t a) {
  return static_cast<int32_t>(0u - static_cast<uint32_t>(a));
}

/// Returns a b + c mod 2^32.
__device__ __forceinline__ int32_t wrapping_mad(int32_t a, int32_t b, int32_t c) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) * static_cast<uint32_t>(b) + static_cast<uint32_t>(c));
}

/// 1 and -1, which the compiler does not know, so that it multiplies by them instead of adding: minima, maxima and
/// additions share the pipe that limits a sort, and multiplications have another one. Grids have one layer, blocks one
/// row. Adding minus_one, which differs between threads as far as the compiler knows, takes no further instruction.
struct Units {
  int32_t one = static_cast<int32_t>(gridDim.z), less_one = one - 2;
  int32_t minus_one = ~static_cast<int32_t>(threadIdx.y);
};

/// Puts two keys in order. kMultiply: by multiplications in place of a maximum; sums are exact mod 2^32.
template <bool kMultiply>
__device__ __forceinline__ void order(int32_t& low, int32_t& high, const Units& units) {
  const int32_t smaller = min(low, high);
  if constexpr (kMultiply) {
    high = wrapping_mad(smaller, units.less_one, wrapping_mad(low, units.one, high));
  } else {
    high = max(low, high);
  }
  low = smaller;
}

/// Puts three keys in order. The middle one is the sum of all less the others.
__device__ __forceinline__ void order(int32_t& low, int32_t& middle, int32_t& high, const Units& units) {
  const int32_t smallest = __vimin3_s32(low, middle, high), largest = __vimax3_s32(low, middle, high);
  const auto sum =
      static_cast<int32_t>(static_cast<uint32_t>(low) + static_cast<uint32_t>(middle) + static_cast<uint32_t>(high));
  middle = wrapping_mad(largest, units.less_one, wrapping_mad(smallest, units.less_one, sum));
  low = smallest;
  high = largest;
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

/// Sorts the kKeys keys of a lane that begin at x[first]; `first` must be a constant after unrolling. Every other
/// compare-exchange multiplies, which keeps both pipes equally busy.
template <int kKeys, int kRegs>
__device__ __forceinline__ void sort_in_lane(int32_t (&x)[kRegs], int first, const Units& units) {
  [&]<size_t... kPair>(std::index_sequence<kPair...>) {
    constexpr auto kPairs = MergeExchange<kKeys>::pairs();
    (order<kPair % 2 == 0>(x[first + kPairs[kPair].low], x[first + kPairs[kPair].high], units), ...);
  }
  (std::make_index_sequence<MergeExchange<kKeys>::count()>());
}

/// Sorts runs of kSize keys inside every lane, each of which is bitonic if read as a ring. Keys that lie kSize/2 or
/// kSize/3 apart are put in order, which leaves such runs of that size, one above the other: divides by two and by
/// three, then sorts what is left.
template <int kSize, int kRegs>
__device__ __forceinline__ void merge_in_lane(int32_t (&x)[kRegs], const Units& units) {
  constexpr int kStep = kSize % 2 == 0 ? kSize / 2 : kSize % 3 == 0 ? kSize / 3 : 1;
#pragma unroll
  for (int first = 0; first < kRegs; first += kSize) {
    if constexpr (kSize > 3 && kStep == 1) {
      sort_in_lane<kSize>(x, first, units);
    } else {
#pragma unroll
      for (int i = first; i < first + kStep; ++i) {
        if constexpr (kSize % 2 != 0) {
          order(x[i], x[i + kStep], x[i + 2 * kStep], units);
        } else if (i % 2 == 0) {
          order<true>(x[i], x[i + kStep], units);
        } else {
          order<false>(x[i], x[i + kStep], units);
        }
      }
    }
  }
  if constexpr (kStep > 1) merge_in_lane<kStep>(x, units);
}

/// Returns whether n has no prime factors but 2, 3 and one 5, so that merges of n keys in a lane are short.
constexpr bool merges_well(int n) {
  while (n % 2 == 0)
    n /= 2;
  while (n % 3 == 0)
    n /= 3;
  return n == 1 || n == 5;
}

/// Sorts kLanes * kRegs signed keys, in each group of kLanes lanes of a warp, in ascending order. At first, lanes of an
/// odd number hold the complements of their keys, and only the first kKeys keys of a lane are in no order. At the end,
/// key lane * kRegs + i is x[i] of that lane. lane: in the group.
///
/// Two lanes that compare a key each both take the smaller one, since one of them holds complements. So, before runs of
/// `span` lanes are merged, every other half of a run has its keys complemented, and therefore in descending order.
template <int kLanes, int kKeys, int kRegs>
__device__ __forceinline__ void warp_sort(int32_t (&x)[kRegs], unsigned lane) {
  static_assert(kKeys <= kRegs && merges_well(kRegs));
  const Units units;
  sort_in_lane<kKeys>(x, 0, units);
  const auto differ = [lane](unsigned a, unsigned b) { return ((lane & a) != 0) != ((lane & b) != 0); };
#pragma unroll 1
  for (unsigned span = 2; span <= kLanes; span *= 2) {
    unsigned distance = span - 1;  // a key of lower lanes meets its mirror image
#pragma unroll 1
    for (unsigned bit = span / 2; bit > 0; bit /= 2) {
      const int32_t flip = differ(bit, bit > 1 ? bit / 2 : span) ? -1 : 0, sign = flip | 1;
#pragma unroll
      for (int i = 0; i < kRegs; ++i) {
        const int32_t other = __shfl_xor_sync(0xffffffff, x[i], distance);
        x[i] = wrapping_mad(__viaddmin_s32(units.minus_one, wrapping_minus(other), x[i]), sign, flip);
      }
      distance = bit / 2;
    }
    merge_in_lane<kRegs>(x, units);
  }
}

}  // namespace polykem::cuda
