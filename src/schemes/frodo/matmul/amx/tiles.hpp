// SPDX-License-Identifier: Apache-2.0
// The CPU's matrix tiles: eight registers of 16 rows of 64 bytes, and products of bytes with 32-bit sums.
// [Intel SDM vol. 1, 18]
#pragma once

#include <cstddef>
#include <cstdint>

#include "prim/simd/isa.hpp"

namespace polykem::matmul::tiles {
inline namespace POLYKEM_ISA {

inline constexpr size_t kRows = 16, kRowBytes = 64, kBytes = kRows * kRowBytes;

/// The configuration with all eight tiles, whole. [Intel SDM vol. 1, 18.2.1]
struct alignas(64) Config {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {kRowBytes, kRowBytes, kRowBytes, kRowBytes, kRowBytes, kRowBytes, kRowBytes, kRowBytes};
  uint8_t rows[16] = {kRows, kRows, kRows, kRows, kRows, kRows, kRows, kRows};
};
inline constexpr Config kConfig{};

/// While a TileScope lives, the thread may use the tiles. At its end, they are back in their initial state, which is
/// zero, and the operating system need not save them.
class TileScope {
 public:
  POLYKEM_INLINE TileScope() { asm volatile("ldtilecfg %0" : : "m"(kConfig)); }
  POLYKEM_INLINE ~TileScope() { asm volatile("tilerelease" : : : "memory"); }
  TileScope(const TileScope&) = delete;
  TileScope& operator=(const TileScope&) = delete;
};

// The compiler's own intrinsics do not say that they read and write memory.

template <int kTile>
POLYKEM_INLINE void clear() {
  asm volatile("tilezero %%tmm%c0" : : "i"(kTile));
}
/// Returns kRowBytes, set anew for each instruction: where registers are few, compilers would keep it in a vector
/// register, and each load would wait for the port that moves it back, which AES keeps busy.
POLYKEM_INLINE size_t row_stride() {
  size_t stride;
  asm volatile("mov %1, %k0" : "=r"(stride) : "i"(kRowBytes));
  return stride;
}

template <int kTile>
POLYKEM_INLINE void load(const void* from) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(row_stride()), "i"(kTile) : "memory");
}
/// Loads a tile of data that is read once.
template <int kTile>
POLYKEM_INLINE void load_once(const void* from) {
  asm volatile("tileloaddt1 (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(row_stride()), "i"(kTile) : "memory");
}
template <int kTile>
POLYKEM_INLINE void store(int32_t* to) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(row_stride()), "i"(kTile) : "memory");
}

/// Adds to row m, column j of the 32-bit sums the sum over k < 16 and b < 4 of byte 4 k + b of row m of kLeft, times
/// byte 4 j + b of row k of kRight.
template <int kSums, int kLeft, int kRight>
POLYKEM_INLINE void add_unsigned_signed() {
  asm volatile("tdpbusd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSums), "i"(kLeft), "i"(kRight));
}
template <int kSums, int kLeft, int kRight>
POLYKEM_INLINE void add_signed_unsigned() {
  asm volatile("tdpbsud %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSums), "i"(kLeft), "i"(kRight));
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::matmul::tiles
