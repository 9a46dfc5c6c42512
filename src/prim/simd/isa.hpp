// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Names the inline namespace of code that is compiled once per instruction set. Every template that depends on the
/// instruction set lives in it, so that two translation units built with different flags never share a symbol.
#if defined(__AVX512BW__) && defined(__AVX512VL__)
#define POLYKEM_ISA_AVX512 1
#define POLYKEM_ISA avx512
#elif defined(__AVX2__)
#define POLYKEM_ISA avx2
#else
#error "this header needs AVX2 or AVX-512BW; compile the file with the flags of its instruction set"
#endif

#define POLYKEM_INLINE inline __attribute__((always_inline))
#define POLYKEM_NOINLINE __attribute__((noinline))
