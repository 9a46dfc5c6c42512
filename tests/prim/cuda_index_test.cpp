// SPDX-License-Identifier: Apache-2.0
// Compares the index arithmetic of the CUDA kernels at and beyond 2^32 with exact arithmetic. The kernels use the same
// functions.
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "prim/cuda/grid.hpp"
#include "prim/drbg/cuda/coin_layout.hpp"
#include "schemes/ntru/cuda/sets.hpp"
#include "schemes/ntru/polyinv/cuda/inverse_tree.cuh"

namespace polykem::cuda {
namespace {

using Exact = unsigned __int128;

constexpr uint64_t kTwoTo32 = uint64_t{1} << 32;

/// Warps around which an index of 32 bits would wrap: that of the block, and a row's offset in 16 bytes, words or
/// bytes.
template <uint32_t kBlocks, uint32_t kStride>
std::set<uint64_t> interesting_warps(uint64_t count) {
  std::set<uint64_t> warps;
  const uint64_t last = (count * kBlocks - 1) / 32;
  const auto around = [&](uint64_t warp) {
    for (uint64_t w = warp - 2; w != warp + 3; ++w) {
      if (w <= last + 1) warps.insert(w);
    }
  };
  around(2);
  around(last);
  for (uint64_t wraps = 1; wraps <= 4; ++wraps) {
    around(wraps * kTwoTo32 / 32);
    for (const uint64_t unit : {1, 4, 16})
      around(wraps * kTwoTo32 * unit / kStride * kBlocks / 32);
  }
  return warps;
}

template <uint32_t kBlocks, uint32_t kStride>
void check_coins(uint64_t count) {
  for (const uint64_t warp : interesting_warps<kBlocks, kStride>(count)) {
    const CoinLayout<kBlocks, kStride> layout(warp, count);
    uint32_t valid = 0;
    for (uint32_t lane = 0; lane < 32; ++lane) {
      const Exact block = Exact{warp} * 32 + lane, item = block / kBlocks;
      valid += item < count;
      ASSERT_EQ(Exact{layout.item(lane)}, item) << "warp " << warp << " of " << count << " items";
      ASSERT_EQ(Exact{layout.block(lane)}, block % kBlocks);
      ASSERT_EQ(Exact{layout.row_offset()} + Exact{16} * layout.block_offset(lane),
                item * kStride + block % kBlocks * kCoinBlockBytes)
          << "warp " << warp << " of " << count << " items";
    }
    ASSERT_EQ(layout.valid(), valid) << "warp " << warp << " of " << count << " items";
  }
}

template <class Set>
class CudaIndex : public testing::Test {};
using Sets = testing::Types<ntru::cuda::Hps2048509, ntru::cuda::Hps2048677, ntru::cuda::Hps4096821, ntru::cuda::Hrss701,
                            ntru::cuda::Hps40961229, ntru::cuda::Hrss1373>;
TYPED_TEST_SUITE(CudaIndex, Sets);

TYPED_TEST(CudaIndex, EveryItemOfALargeBatchGetsItsOwnRandomBytes) {
  using S = ntru::cuda::Shape<TypeParam>;
  // From 9,000,000 items of ntruhps4096821, 15,000,000 of ntruhps2048509 and 24,200,000 of ntruhrss701 on, rows take
  // more than 2^35 bytes, so an offset of 32 bits in units of 8 bytes would wrap.
  for (const uint64_t count : {uint64_t{1}, uint64_t{33}, uint64_t{9'000'000}, uint64_t{15'000'000},
                               uint64_t{24'200'000}, uint64_t{ntru::cuda::kMaxItems}}) {
    check_coins<coin_blocks(S::kKeygenCoinBytes), S::kCoinStride>(count);
    check_coins<coin_blocks(S::kEncapsCoinBytes), S::kCoinStride>(count);
  }
}

TYPED_TEST(CudaIndex, GridsOfTheLargestBatchFit) {
  using S = ntru::cuda::Shape<TypeParam>;
  constexpr size_t kMax = ntru::cuda::kMaxItems;
  EXPECT_LE(blocks_for(kMax * coin_blocks(S::kKeygenCoinBytes), 32), kMaxBlocks);
  EXPECT_LE(blocks_for(kMax * coin_blocks(S::kEncapsCoinBytes), 32), kMaxBlocks);
  // A product of a tree is a block; the last batches before a power of two are rounded up most.
  for (const size_t count : {kMax, kMax - 1, kMax - kMax / 192, kMax / 2 + 1})
    EXPECT_LE(InverseTree<S::kRow>(count).rows(), kMaxBlocks) << count;
}

TEST(Grid, CountsBlocksWithoutWrapping) {
  EXPECT_EQ(blocks_for(0, 4), 0u);
  EXPECT_EQ(blocks_for(1, 4), 1u);
  EXPECT_EQ(blocks_for(8, 4), 2u);
  EXPECT_EQ(blocks_for(kTwoTo32 + 1, 4), kTwoTo32 / 4 + 1);
  EXPECT_EQ(blocks_for(SIZE_MAX, 32), SIZE_MAX / 32 + 1);
}

}  // namespace
}  // namespace polykem::cuda
