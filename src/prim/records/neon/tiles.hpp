// SPDX-License-Identifier: Apache-2.0
// Transposes tiles of eight words of eight rows. The two registers of a V16 are in tiles of their own.
#pragma once

#include "prim/simd/vec16.hpp"

namespace polykem::records {
inline namespace POLYKEM_ISA {

/// Transposes eight vectors: word j of vector i becomes word i of vector j.
POLYKEM_INLINE void transpose8(uint16x8_t (&v)[8]) {
  uint32x4_t a[8];
  uint64x2_t b[8];
  const auto words32 = [](uint16x8_t x) __attribute__((always_inline)) {
    return vreinterpretq_u32_u16(x);
  };
  const auto words64 = [](uint32x4_t x) __attribute__((always_inline)) {
    return vreinterpretq_u64_u32(x);
  };
  for (size_t i = 0; i < 8; i += 2) {
    a[i] = words32(vtrn1q_u16(v[i], v[i + 1]));
    a[i + 1] = words32(vtrn2q_u16(v[i], v[i + 1]));
  }
  for (size_t i = 0; i < 8; i += 4) {
    for (size_t j = i; j < i + 2; ++j) {
      b[j] = words64(vtrn1q_u32(a[j], a[j + 2]));
      b[j + 2] = words64(vtrn2q_u32(a[j], a[j + 2]));
    }
  }
  for (size_t j = 0; j < 4; ++j) {
    v[j] = vreinterpretq_u16_u64(vzip1q_u64(b[j], b[j + 4]));
    v[j + 4] = vreinterpretq_u16_u64(vzip2q_u64(b[j], b[j + 4]));
  }
}

/// Transposes a tile of the rows at row[0] + offset, .. to words interleaved[i * step + l].
POLYKEM_INLINE void load_half_tile(uint16_t* interleaved, size_t step, uint8_t* const* row, size_t offset) {
  uint16x8_t v[8];
  for (size_t l = 0; l < 8; ++l)
    v[l] = vreinterpretq_u16_u8(vld1q_u8(row[l] + offset));
  transpose8(v);
  for (size_t i = 0; i < 8; ++i)
    vst1q_u16(interleaved + i * step, v[i]);
}

/// Transposes words interleaved[i * step + l] to the tile of the rows at row[0] + offset, ..: the inverse of
/// load_half_tile().
POLYKEM_INLINE void store_half_tile(uint8_t* const* row, size_t offset, const uint16_t* interleaved, size_t step) {
  uint16x8_t v[8];
  for (size_t i = 0; i < 8; ++i)
    v[i] = vld1q_u16(interleaved + i * step);
  transpose8(v);
  for (size_t l = 0; l < 8; ++l)
    vst1q_u8(row[l] + offset, vreinterpretq_u8_u16(v[l]));
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::records
