// SPDX-License-Identifier: Apache-2.0
// The network by which a warp sorts, with its lanes on the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <random>
#include <vector>

#define __device__
#define __forceinline__ inline

using std::max;
using std::min;

namespace {
struct {
  unsigned x = 0, y = 0, z = 1;
} threadIdx, gridDim;

/// Lanes run one after the other, in several passes. What a lane gives in a pass, others take in the next one, so that
/// each pass makes one more stage right.
std::vector<std::vector<int32_t>> given;
size_t next_exchange, pass;

int32_t __shfl_xor_sync(uint32_t, int32_t x, unsigned distance) {
  const size_t n = next_exchange++;
  if (n == given.size()) given.emplace_back(32);
  given[n][threadIdx.x] = x;
  return pass == 0 ? x : given[n][threadIdx.x ^ distance];
}
/// min(a + b, c); the sum is exact mod 2^32.
int32_t __viaddmin_s32(int32_t a, int32_t b, int32_t c) {
  return std::min(static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b)), c);
}
int32_t __vimin3_s32(int32_t a, int32_t b, int32_t c) {
  return std::min({a, b, c});
}
int32_t __vimax3_s32(int32_t a, int32_t b, int32_t c) {
  return std::max({a, b, c});
}
}  // namespace

// After what it needs of CUDA.
#include "schemes/ntru/sort/cuda/sort.cuh"

namespace polykem::cuda {
namespace {

/// By the principle of zeros and ones: all rings of kRegs keys in which the ones are neighbours.
template <int kRegs>
void expect_merges() {
  for (int begin = 0; begin < kRegs; ++begin) {
    for (int ones = 0; ones <= kRegs; ++ones) {
      int32_t x[kRegs] = {};
      for (int i = 0; i < ones; ++i)
        x[(begin + i) % kRegs] = 1;
      merge_in_lane<kRegs>(x, Units{});
      ASSERT_TRUE(std::is_sorted(std::begin(x), std::end(x))) << ones << " ones from " << begin << " of " << kRegs;
      ASSERT_EQ(std::count(std::begin(x), std::end(x), 1), ones);
    }
  }
}

TEST(WarpSort, LanesMergeEveryBitonicRing) {
  expect_merges<16>();
  expect_merges<27>();
  expect_merges<32>();
  expect_merges<45>();
  expect_merges<48>();
  expect_merges<54>();
  expect_merges<80>();
}

/// Sorts an array in each group of kLanes lanes. `mask` and `set` say which bits of keys are random or 1.
template <int kLanes, int kKeys, int kRegs>
void expect_sorts(std::mt19937& random, uint32_t mask, uint32_t set) {
  std::vector<int32_t> keys(32 * kRegs);
  for (size_t i = 0; i < keys.size(); ++i) {
    const bool largest = i % kRegs >= kKeys;
    keys[i] = largest ? INT32_MAX : static_cast<int32_t>((static_cast<uint32_t>(random()) & mask) | set);
  }
  std::vector<int32_t> sorted(keys.size());
  for (pass = 0; pass < 16; ++pass) {  // one more than the stages of 32 lanes
    for (unsigned lane = 0; lane < 32; ++lane) {
      threadIdx.x = lane;
      next_exchange = 0;
      int32_t x[kRegs];
      std::copy_n(keys.begin() + lane * kRegs, kRegs, x);
      warp_sort<kLanes, kKeys>(x, lane % kLanes);
      std::copy_n(x, kRegs, sorted.begin() + lane * kRegs);
    }
  }
  // Odd lanes were given complements.
  for (size_t i = 0; i < keys.size(); ++i)
    keys[i] = i / kRegs % 2 == 0 ? keys[i] : ~keys[i];
  for (auto begin = keys.begin(); begin != keys.end(); begin += kLanes * kRegs)
    std::sort(begin, begin + kLanes * kRegs);
  ASSERT_EQ(sorted, keys) << kLanes << " lanes, " << kRegs << " keys in each";
}

TEST(WarpSort, GroupsOfLanesSort) {
  std::mt19937 random(821);
  // Any keys, many that are equal, and the smallest and the largest ones.
  for (const uint32_t mask : {0xffffffffu, 0xffffffffu, 3u, 1u, 0x80000000u, 0u}) {
    for (const uint32_t set : {0u, ~mask}) {
      expect_sorts<16, 32, 32>(random, mask, set);
      expect_sorts<16, 43, 48>(random, mask, set);
      expect_sorts<16, 52, 54>(random, mask, set);
      expect_sorts<16, 77, 80>(random, mask, set);
      expect_sorts<32, 26, 27>(random, mask, set);
    }
  }
}

}  // namespace
}  // namespace polykem::cuda
