// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/backend.hpp"
#include "schemes/ntru/sort/sort_lanes.hpp"
#include "support/isa.hpp"

namespace polykem {
namespace {

using test::AlignedBuffer;
using test::Noise;

struct Set {
  size_t n, weight;
};
constexpr Set kSets[] = {{509, 254}, {677, 254}, {821, 510}, {1229, 510}, {701, 254}, {1373, 510}};

class SortLanesTest : public test::IsaTest {
 protected:
  const SortFunctions& sort() const { return POLYKEM_TABLE(kSort); }
};

/// sample_fixed_type as in the specification. [NTRU20, Fixed_Type]
std::vector<uint16_t> plain_sample(const uint8_t* bytes, Set set) {
  std::vector<int32_t> keys;
  for (size_t k = 0; k + 1 < set.n; ++k) {
    uint32_t word = 0;
    for (size_t bit = 0; bit < 30; ++bit) {
      const size_t at = 30 * k + bit;
      word |= static_cast<uint32_t>((bytes[at / 8] >> (at % 8)) & 1) << bit;
    }
    const uint32_t label = k < set.weight / 2 ? 1 : k < set.weight ? 2 : 0;
    keys.push_back(static_cast<int32_t>(word << 2 | label));
  }
  std::sort(keys.begin(), keys.end());
  std::vector<uint16_t> out;
  for (const int32_t key : keys)
    out.push_back(static_cast<uint16_t>(key & 3));
  out.push_back(0);
  return out;
}

TEST_P(SortLanesTest, SampleAgreesWithPlainSort) {
  Noise noise(3);
  for (const Set set : kSets) {
    const size_t bytes = (30 * (set.n - 1) + 7) / 8, lanes = sort().lanes;
    for (const size_t count : {size_t{1}, size_t{5}, lanes - 1, lanes}) {
      for (const size_t stride : {bytes, bytes + 819}) {
        auto in = noise.bytes(stride * (count - 1) + bytes);
        if (count == 5) std::fill(in.begin(), in.begin() + static_cast<long>(bytes), uint8_t{0xff});
        if (count == 5) std::fill_n(in.begin() + static_cast<long>(stride), bytes, uint8_t{0});
        AlignedBuffer<uint16_t> out(set.n * lanes);
        AlignedBuffer<uint8_t> workspace(sort_workspace_bytes(set.n, lanes));
        sort().sample_fixed_type(out.data(), {in.data(), stride}, count, set.n, set.weight, workspace.data());
        for (size_t i = 0; i < count; ++i) {
          const auto want = plain_sample(in.data() + i * stride, set);
          for (size_t k = 0; k < set.n; ++k)
            ASSERT_EQ(out.data()[k * lanes + i], want[k]) << set.n << " " << i << " " << k;
        }
      }
    }
  }
}

POLYKEM_EVERY_ISA(SortLanesTest);

#ifndef __aarch64__

/// The form for CPUs with matrix tiles uses none itself.
class SortRowsTest : public ::testing::TestWithParam<const RowSortFunctions*> {};

TEST_P(SortRowsTest, SampleAgreesWithPlainSort) {
  if (!cpu_backend_available(cpu::kAvx512)) GTEST_SKIP() << "this CPU lacks what avx512 needs";
  Noise noise(4);
  for (const Set set : kSets) {
    const size_t bytes = (30 * (set.n - 1) + 7) / 8, width = (set.n + 63) / 64 * 64;
    for (const size_t count : {size_t{1}, size_t{2}, size_t{5}, size_t{6}, size_t{16}, size_t{17}, size_t{29}}) {
      const size_t stride = bytes + count % 3 * 271;
      auto in = noise.bytes(stride * (count - 1) + bytes);
      if (count > 2) std::fill(in.begin(), in.begin() + static_cast<long>(bytes), uint8_t{0xff});
      if (count > 2) std::fill_n(in.begin() + static_cast<long>(stride), bytes, uint8_t{0});
      AlignedBuffer<uint8_t> out(count * width), workspace(sort_rows_workspace_bytes(set.n, count));
      std::fill_n(out.data(), count * width, uint8_t{0xee});
      GetParam()->sample_fixed_type({out.data(), width}, {in.data(), stride}, count, set.n, set.weight,
                                    workspace.data());
      for (size_t i = 0; i < count; ++i) {
        const auto want = plain_sample(in.data() + i * stride, set);
        for (size_t k = 0; k < width; ++k)
          ASSERT_EQ(out[i * width + k], k < set.n ? want[k] : 0) << set.n << " " << count << " " << i << " " << k;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Avx512, SortRowsTest, ::testing::Values(&kRowSortAvx512));
#ifdef POLYKEM_HAVE_AMX
INSTANTIATE_TEST_SUITE_P(Amx, SortRowsTest, ::testing::Values(&kRowSortAmx));
#endif

#endif

}  // namespace
}  // namespace polykem
