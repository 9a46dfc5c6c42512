// SPDX-License-Identifier: Apache-2.0
// The GPU's fixed-weight samples and the sorting network beneath them, with the lanes of a warp on the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "tools/proofs/wrappers/cuda_warp.hpp"

// After the keywords.
#include "schemes/ntru/cuda/sample.cuh"

namespace polykem::ntru::cuda {
namespace {

using host_warp::as_warp;

/// By the principle of zeros and ones: all rings of kRegs keys in which the ones are neighbours.
template <int kRegs>
void expect_merges() {
  threadIdx.x = 0;
  for (int begin = 0; begin < kRegs; ++begin) {
    for (int ones = 0; ones <= kRegs; ++ones) {
      int32_t x[kRegs] = {};
      for (int i = 0; i < ones; ++i)
        x[(begin + i) % kRegs] = 1;
      polykem::cuda::merge_in_lane<kRegs>(x, polykem::cuda::Units{});
      ASSERT_TRUE(std::is_sorted(std::begin(x), std::end(x))) << ones << " ones from " << begin << " of " << kRegs;
      ASSERT_EQ(std::count(std::begin(x), std::end(x), 1), ones);
    }
  }
}

TEST(WarpSort, LanesMergeEveryBitonicRing) {
  expect_merges<SortShape<Hps2048509>::kRegs>();
  expect_merges<SortShape<Hps2048677>::kRegs>();
  expect_merges<SortShape<Hps4096821>::kRegs>();
  expect_merges<SortShape<Hps40961229>::kRegs>();
  expect_merges<27>();
  expect_merges<45>();
}

template <class Set>
class FixedType : public testing::Test {};
using Sets = testing::Types<Hps2048509, Hps2048677, Hps4096821, Hps40961229>;
TYPED_TEST_SUITE(FixedType, Sets);

/// Returns Fixed_Type of the coins. [NTRU20, Fixed_Type]
template <class Set>
std::vector<uint8_t> expected_of(const std::vector<uint32_t>& coins) {
  using S = Shape<Set>;
  const int weight = static_cast<int>(S::kParams.weight());
  std::vector<int32_t> keys;
  for (int i = 0; i < S::kN - 1; ++i) {
    const auto two = uint64_t{coins[30 * i / 32 + 1]} << 32 | coins[30 * i / 32];
    const uint32_t type = i < weight / 2 ? 1 : i < weight ? 2 : 0;
    keys.push_back(static_cast<int32_t>(static_cast<uint32_t>(two >> (30 * i % 32)) << 2 | type));
  }
  std::sort(keys.begin(), keys.end());
  std::vector<uint8_t> trits(S::kRow);
  for (size_t i = 0; i < keys.size(); ++i)
    trits[i] = static_cast<uint8_t>(keys[i] & 3);
  return trits;
}

TYPED_TEST(FixedType, EveryLanesItemIsSampledAsSpecified) {
  using S = Shape<TypeParam>;
  constexpr unsigned kLanes = kSampleLanes<TypeParam>, kItems = 32 / kLanes, kPasses = 12;  // one more than stages
  std::mt19937 random(821);
  // Few different keys, the largest and the smallest ones, then any.
  for (const uint32_t mask : {0u, 1u, 0x20000000u, 0x80000000u, 0xffffffffu, 0xffffffffu}) {
    for (const uint32_t set : {0u, ~mask}) {
      std::vector<uint32_t> coins[kItems];
      alignas(4) std::array<std::array<uint8_t, S::kRow>, kItems> trits;
      for (auto& words : coins) {
        words.resize(30 * S::kN / 32 + 2);
        for (uint32_t& word : words)
          word = (static_cast<uint32_t>(random()) & mask) | set;
      }
      as_warp(kPasses, [&](unsigned lane) {
        const unsigned item = lane / kLanes;
        sample_fixed_type<TypeParam>(trits[item].data(), reinterpret_cast<const uint8_t*>(coins[item].data()),
                                     lane % kLanes);
      });
      for (unsigned item = 0; item < kItems; ++item) {
        const std::vector<uint8_t> expected = expected_of<TypeParam>(coins[item]);
        ASSERT_TRUE(std::equal(expected.begin(), expected.end(), trits[item].begin())) << item << ", mask " << mask;
      }
    }
  }
}

}  // namespace
}  // namespace polykem::ntru::cuda
