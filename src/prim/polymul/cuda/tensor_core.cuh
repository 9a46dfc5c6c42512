// SPDX-License-Identifier: Apache-2.0
// The instructions for int8 tensor cores that products are made of.
#pragma once

#include <cstdint>

namespace polykem::cuda {

// POLYKEM_MMA multiplies tiles of two types of bytes. Compute capability 7.5 only has the instruction for 8 x 8 x 16;
// four of those replace one, register by register.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define POLYKEM_TILE(d0, d1, p, r, p_type, r_type)                                                   \
  asm("mma.sync.aligned.m8n8k16.row.col.s32." p_type "." r_type ".s32 {%0,%1}, {%2}, {%3}, {%0,%1};" \
      : "+r"(d0), "+r"(d1)                                                                           \
      : "r"(p), "r"(r))
#define POLYKEM_MMA(p_type, r_type)                     \
  POLYKEM_TILE(d[0], d[1], p[0], r[0], p_type, r_type); \
  POLYKEM_TILE(d[2], d[3], p[1], r[0], p_type, r_type); \
  POLYKEM_TILE(d[0], d[1], p[2], r[1], p_type, r_type); \
  POLYKEM_TILE(d[2], d[3], p[3], r[1], p_type, r_type)
#else
#define POLYKEM_MMA(p_type, r_type)                                \
  asm("mma.sync.aligned.m16n8k32.row.col.s32." p_type "." r_type   \
      ".s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" \
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])             \
      : "r"(p[0]), "r"(p[1]), "r"(p[2]), "r"(p[3]), "r"(r[0]), "r"(r[1]))
#endif

/// Adds p * r to d for one 16 x 8 tile and 32 values of u: 16 rows of p, 8 columns of r, bytes signed or not.
template <bool kSignedP, bool kSignedR = false>
__device__ __forceinline__ void mma_16x8x32(int (&d)[4], const uint32_t (&p)[4], const uint32_t (&r)[2]) {
  if constexpr (kSignedP && kSignedR) {
    POLYKEM_MMA("s8", "s8");
  } else if constexpr (kSignedP) {
    POLYKEM_MMA("s8", "u8");
  } else if constexpr (kSignedR) {
    POLYKEM_MMA("u8", "s8");
  } else {
    POLYKEM_MMA("u8", "u8");
  }
}

#undef POLYKEM_MMA
#undef POLYKEM_TILE

/// Loads four 8 x 16-byte matrices; each lane gives the address of a row.
__device__ __forceinline__ void load_matrices(uint32_t (&fragment)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(fragment[0]), "=r"(fragment[1]), "=r"(fragment[2]), "=r"(fragment[3])
               : "r"(address)
               : "memory");
}

}  // namespace polykem::cuda
