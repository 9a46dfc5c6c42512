// SPDX-License-Identifier: Apache-2.0
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "core/cpu_features.hpp"
#include "rates.hpp"

namespace polykem::bench::cpu_rates {
namespace {

constexpr int kRows = 16, kBytes = 64, kColumns = 16;
constexpr uint32_t kLeftSeed = 1, kRightSeed = 2;

/// The operand of LDTILECFG with palette 1.
struct alignas(64) TileConfig {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};
};

/// The left factor's tile has its rows. Each row of the right factor's tile has four rows of the matrix, column by
/// column.
struct alignas(64) Tile {
  uint8_t bytes[kRows][kBytes];
};

struct alignas(64) Sums {
  int32_t of[kRows][kColumns];
};

void fill(Tile& tile, uint32_t state) {
  for (auto& row : tile.bytes) {
    for (uint8_t& byte : row) {
      state = state * 1664525u + 1013904223u;
      byte = static_cast<uint8_t>(state >> 24);
    }
  }
}

/// The accumulator after `rounds` products of unsigned by signed bytes.
bool is_product(const Sums& sums, const Tile& left, const Tile& right, uint64_t rounds) {
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kColumns; ++j) {
      int32_t product = 0;
      for (int k = 0; k < kBytes; ++k)
        product += left.bytes[i][k] * static_cast<int8_t>(right.bytes[k / 4][4 * j + k % 4]);
      if (static_cast<uint32_t>(sums.of[i][j]) != static_cast<uint32_t>(rounds) * static_cast<uint32_t>(product))
        return false;
    }
  }
  return true;
}

#define AES(n) "vaesenc %%zmm15, %%zmm" #n ", %%zmm" #n "\n\t"
#define AES_OF_TILE AES(0) AES(1) AES(2) AES(3) AES(4) AES(5) AES(6) AES(7) AES(8) AES(9) AES(10) AES(11)
#define TILE(n) "tdpbusd %%tmm5, %%tmm4, %%tmm" #n "\n\t"
#define ROUNDS(BODY) asm volatile("1:\n\t" BODY "dec %0\n\tjnz 1b" : "+r"(rounds) : : "cc", "memory")

void multiply(uint64_t rounds) {
  ROUNDS(TILE(0) TILE(1) TILE(2) TILE(3));
}

/// The registers of the AES rounds hold arbitrary values; their results are not read.
void multiply_beside_aes(uint64_t rounds) {
  ROUNDS(TILE(0) AES_OF_TILE TILE(1) AES_OF_TILE TILE(2) AES_OF_TILE TILE(3) AES_OF_TILE);
  asm volatile("vzeroall"
               :
               :
               : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
                 "xmm15");
}

}  // namespace

bool allow_tiles() {
  constexpr long kRequest = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM of Linux 5.16
  return cpu_features().has(CpuFeatures::kAmxInt8) && syscall(SYS_arch_prctl, kRequest, kTileData) == 0;
}

Tiles::Tiles() {
  TileConfig config;
  for (int i = 0; i < 8; ++i) {
    config.row_bytes[i] = kBytes;
    config.rows[i] = kRows;
  }
  Tile left, right;
  fill(left, kLeftSeed);
  fill(right, kRightSeed);
  const uint64_t stride = kBytes;
  asm volatile(
      "ldtilecfg %0\n\t"
      "tileloadd (%1,%3), %%tmm4\n\t"
      "tileloadd (%2,%3), %%tmm5\n\t"
      "tilezero %%tmm0\n\ttilezero %%tmm1\n\ttilezero %%tmm2\n\ttilezero %%tmm3"
      :
      : "m"(config), "r"(left.bytes), "r"(right.bytes), "r"(stride)
      : "memory");
}

Tiles::~Tiles() {
  asm volatile("tilerelease");
}

void Tiles::run(uint64_t rounds, bool with_aes) {
  rounds_ += rounds;
  with_aes ? multiply_beside_aes(rounds) : multiply(rounds);
}

bool Tiles::are_right() const {
  Tile left, right;
  fill(left, kLeftSeed);
  fill(right, kRightSeed);
  Sums sums[kTilesOfRound];
  const uint64_t stride = kBytes;
  asm volatile(
      "tilestored %%tmm0, (%0,%4)\n\ttilestored %%tmm1, (%1,%4)\n\t"
      "tilestored %%tmm2, (%2,%4)\n\ttilestored %%tmm3, (%3,%4)"
      :
      : "r"(sums[0].of), "r"(sums[1].of), "r"(sums[2].of), "r"(sums[3].of), "r"(stride)
      : "memory");
  for (const Sums& each : sums) {
    if (!is_product(each, left, right, rounds_)) return false;
  }
  return true;
}

}  // namespace polykem::bench::cpu_rates
