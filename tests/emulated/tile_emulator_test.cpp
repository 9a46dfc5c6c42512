// SPDX-License-Identifier: Apache-2.0
// Tests the emulator: effects of instructions besides products, which other tests compare, and what it refuses.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>

#include "core/backend.hpp"
#include "core/cpu_features.hpp"

namespace polykem {
namespace {

struct alignas(64) Config {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};
};

using Memory = std::array<uint8_t, 16 * 64>;

void configure(const Config& config) {
  asm volatile("ldtilecfg %0" : : "m"(config));
}
void release() {
  asm volatile("tilerelease");
}
template <int kTile>
void load(const void* from, size_t stride) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(stride), "i"(kTile) : "memory");
}
template <int kTile>
void store(void* to, size_t stride) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(stride), "i"(kTile) : "memory");
}

class TileEmulator : public testing::Test {
 protected:
  void SetUp() override {
    if (!cpu_backend_available(cpu::kAmx)) GTEST_SKIP() << "this CPU does not run avx512";
    testing::FLAGS_gtest_death_test_style = "threadsafe";
  }
};

/// Three rows of five double words, two by three of them as bytes: sums of signed times unsigned bytes.
TEST_F(TileEmulator, SizesOfTilesAreKept) {
  Config config;
  const auto set = [&](size_t i, size_t rows, size_t row_bytes) {
    config.rows[i] = static_cast<uint8_t>(rows);
    config.row_bytes[i] = static_cast<uint16_t>(row_bytes);
  };
  set(0, 3, 20);  // sums
  set(1, 3, 8);   // left
  set(2, 2, 20);  // right
  configure(config);
  Memory left{}, right{}, sums;
  for (size_t i = 0; i < left.size(); ++i) {
    left[i] = static_cast<uint8_t>(37 * i + 130);
    right[i] = static_cast<uint8_t>(91 * i + 7);
  }
  sums.fill(0x5a);
  load<1>(left.data(), 9);
  load<2>(right.data(), 64);
  asm volatile("tilezero %tmm0\n tdpbsud %tmm2, %tmm1, %tmm0\n tdpbsud %tmm2, %tmm1, %tmm0");
  store<0>(sums.data(), 64);
  release();
  for (size_t m = 0; m < 16; ++m) {
    for (size_t j = 0; j < 16; ++j) {
      int32_t got, want = 0;
      std::memcpy(&got, &sums[64 * m + 4 * j], sizeof got);
      for (size_t k = 0; k < 8; ++k)
        want += 2 * static_cast<int8_t>(left[9 * m + k]) * right[64 * (k / 4) + 4 * j + k % 4];
      EXPECT_EQ(got, m < 3 && j < 5 ? want : 0x5a5a5a5a) << m << ", " << j;
    }
  }
}

TEST_F(TileEmulator, AConfigurationClearsTiles) {
  Config config;
  config.rows[7] = 16;
  config.row_bytes[7] = 64;
  configure(config);
  Memory memory;
  memory.fill(1);
  load<7>(memory.data(), 64);
  configure(config);
  store<7>(memory.data(), 64);
  release();
  EXPECT_EQ(memory, Memory{});
}

TEST_F(TileEmulator, TheProgramTakesTheCodeForIntelsCpus) {
  EXPECT_TRUE(kCpuByIntel);
  EXPECT_FALSE(kCpuIsZen5);
}

/// On a CPU with tiles, the CPU itself refuses.
TEST_F(TileEmulator, RefusesWhatTheCpuRefuses) {
  const auto said = [](const char* text) { return cpu_features().amx() ? std::string() : std::string(text); };
  Memory memory{};
  EXPECT_DEATH(load<0>(memory.data(), 64), said("not configured"));
  Config config;
  for (size_t i = 0; i < 3; ++i) {
    config.rows[i] = 16;
    config.row_bytes[i] = static_cast<uint16_t>(64 - 4 * i);
  }
  configure(config);
  EXPECT_DEATH(load<3>(memory.data(), 64), said("no such tile"));
  EXPECT_DEATH(asm volatile("tdpbsud %tmm2, %tmm1, %tmm0"), said("a product's sizes"));
  EXPECT_DEATH(asm volatile("ud2"), said("none of the tiles'"));
  EXPECT_DEATH((release(), load<0>(memory.data(), 64)), said("not configured"));
  EXPECT_DEATH((config.rows[8] = 1, configure(config)), said("a reserved byte"));
  EXPECT_DEATH((config.palette = 2, configure(config)), said("the palette"));
  release();
}

}  // namespace
}  // namespace polykem
