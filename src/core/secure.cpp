// SPDX-License-Identifier: Apache-2.0
#include "core/secure.hpp"

#include <cstring>

#include "core/cpu_features.hpp"

namespace polykem {

namespace {

#ifdef __x86_64__

// With AVX-512 the compiler uses these registers itself and must know that they change; otherwise it has no names for
// them.
#ifdef __AVX512F__
#define POLYKEM_UPPER_REGISTERS                                                                                        \
  "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", "xmm27", "xmm28", \
      "xmm29", "xmm30", "xmm31", "k1", "k2", "k3", "k4", "k5", "k6", "k7",
#else
#define POLYKEM_UPPER_REGISTERS
#endif

/// Clears zmm16 to zmm31 and the masks.
void clear_upper_registers() noexcept {
  asm volatile(
      "vpxorq %%zmm16, %%zmm16, %%zmm16\n vpxorq %%zmm17, %%zmm17, %%zmm17\n"
      "vpxorq %%zmm18, %%zmm18, %%zmm18\n vpxorq %%zmm19, %%zmm19, %%zmm19\n"
      "vpxorq %%zmm20, %%zmm20, %%zmm20\n vpxorq %%zmm21, %%zmm21, %%zmm21\n"
      "vpxorq %%zmm22, %%zmm22, %%zmm22\n vpxorq %%zmm23, %%zmm23, %%zmm23\n"
      "vpxorq %%zmm24, %%zmm24, %%zmm24\n vpxorq %%zmm25, %%zmm25, %%zmm25\n"
      "vpxorq %%zmm26, %%zmm26, %%zmm26\n vpxorq %%zmm27, %%zmm27, %%zmm27\n"
      "vpxorq %%zmm28, %%zmm28, %%zmm28\n vpxorq %%zmm29, %%zmm29, %%zmm29\n"
      "vpxorq %%zmm30, %%zmm30, %%zmm30\n vpxorq %%zmm31, %%zmm31, %%zmm31\n"
      "kxorw %%k0, %%k0, %%k0\n kxorw %%k1, %%k1, %%k1\n kxorw %%k2, %%k2, %%k2\n kxorw %%k3, %%k3, %%k3\n"
      "kxorw %%k4, %%k4, %%k4\n kxorw %%k5, %%k5, %%k5\n kxorw %%k6, %%k6, %%k6\n kxorw %%k7, %%k7, %%k7"
      :
      :
      : POLYKEM_UPPER_REGISTERS "memory");
}

#define POLYKEM_LOWER_REGISTERS                                                                                       \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", \
      "xmm14", "xmm15"

/// Clears all of zmm0 to zmm15 or ymm0 to ymm15.
void clear_avx_registers() noexcept {
  asm volatile("vzeroall" : : : POLYKEM_LOWER_REGISTERS);
}

void clear_sse_registers() noexcept {
  asm volatile(
      "pxor %%xmm0, %%xmm0\n pxor %%xmm1, %%xmm1\n pxor %%xmm2, %%xmm2\n pxor %%xmm3, %%xmm3\n"
      "pxor %%xmm4, %%xmm4\n pxor %%xmm5, %%xmm5\n pxor %%xmm6, %%xmm6\n pxor %%xmm7, %%xmm7\n"
      "pxor %%xmm8, %%xmm8\n pxor %%xmm9, %%xmm9\n pxor %%xmm10, %%xmm10\n pxor %%xmm11, %%xmm11\n"
      "pxor %%xmm12, %%xmm12\n pxor %%xmm13, %%xmm13\n pxor %%xmm14, %%xmm14\n pxor %%xmm15, %%xmm15"
      :
      :
      : POLYKEM_LOWER_REGISTERS);
}

#endif

#ifdef __aarch64__

void clear_simd_registers() noexcept {
  asm volatile(
      "movi v0.2d, #0\n movi v1.2d, #0\n movi v2.2d, #0\n movi v3.2d, #0\n movi v4.2d, #0\n movi v5.2d, #0\n"
      "movi v6.2d, #0\n movi v7.2d, #0\n movi v8.2d, #0\n movi v9.2d, #0\n movi v10.2d, #0\n movi v11.2d, #0\n"
      "movi v12.2d, #0\n movi v13.2d, #0\n movi v14.2d, #0\n movi v15.2d, #0\n movi v16.2d, #0\n"
      "movi v17.2d, #0\n movi v18.2d, #0\n movi v19.2d, #0\n movi v20.2d, #0\n movi v21.2d, #0\n"
      "movi v22.2d, #0\n movi v23.2d, #0\n movi v24.2d, #0\n movi v25.2d, #0\n movi v26.2d, #0\n"
      "movi v27.2d, #0\n movi v28.2d, #0\n movi v29.2d, #0\n movi v30.2d, #0\n movi v31.2d, #0"
      :
      :
      : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16",
        "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31");
}

#endif

/// Clears all vector registers, because a later function that saves them would copy their contents to the stack. This
/// includes registers that no backend uses, because the C library copies memory through the widest registers of the
/// CPU.
void clear_vector_registers() noexcept {
#ifdef __x86_64__
  const VectorRegisters widest = vector_registers();
  if (widest == VectorRegisters::kAvx512) clear_upper_registers();
  widest == VectorRegisters::kSse ? clear_sse_registers() : clear_avx_registers();
#elif defined(__aarch64__)
  clear_simd_registers();
#endif
}

}  // namespace

void copy_secret(void* to, const void* from, size_t bytes) noexcept {
  if (bytes == 0) return;
  std::memcpy(to, from, bytes);
  clear_vector_registers();
}

namespace {

template <size_t kBytes>
__attribute__((noinline)) void zeroize_below() noexcept {
  std::byte below[kBytes];
  zeroize(below, sizeof below);
}

}  // namespace

/// Clears the registers first, so that the stack frames of that call are zeroized too.
void zeroize_stack() noexcept {
  clear_vector_registers();
  zeroize_below<kZeroizedStackBytes>();
}

void zeroize_stack_of_single_item() noexcept {
  clear_vector_registers();
  zeroize_below<kZeroizedStackOfSingleItem>();
}

void zeroize_stack_with_tiles() noexcept {
  clear_vector_registers();
  zeroize_below<kZeroizedStackWithTiles>();
}

}  // namespace polykem
