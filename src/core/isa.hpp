// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Names the inline namespace of code that is compiled once per instruction set. Translation units that are compiled
/// with different flags share inline functions and templates; these live in that namespace, so that the linker never
/// takes the copy of one instruction set for that of another. `amx` is AVX-512 on CPUs that have matrix tiles,
/// `avx2_vaes` AVX2 on CPUs with AES instructions for its registers. Every AArch64 CPU has NEON, so the build defines
/// POLYKEM_COMPILE_NEON where it is to be used.
#if defined(__AMX_INT8__) || defined(__AMXINT8__)  // the latter: Clang 14
#define POLYKEM_ISA_AMX 1
#define POLYKEM_ISA_AVX512 1
#define POLYKEM_ISA amx
#elif defined(__AVX512BW__) && defined(__AVX512VL__)
#define POLYKEM_ISA_AVX512 1
#define POLYKEM_ISA avx512
#elif defined(__AVX2__) && defined(__VAES__)
#define POLYKEM_ISA_AVX2 1
#define POLYKEM_ISA avx2_vaes
#elif defined(__AVX2__)
#define POLYKEM_ISA_AVX2 1
#define POLYKEM_ISA avx2
#elif defined(POLYKEM_COMPILE_NEON) && defined(__ARM_FEATURE_SHA3)
#define POLYKEM_ISA_NEON_SHA3 1
#define POLYKEM_ISA_NEON 1
#define POLYKEM_ISA neon_sha3
#elif defined(POLYKEM_COMPILE_NEON) && defined(__ARM_FEATURE_AES)
#define POLYKEM_ISA_NEON 1
#define POLYKEM_ISA neon_aes
#elif defined(POLYKEM_COMPILE_NEON)
#define POLYKEM_ISA_NEON 1
#define POLYKEM_ISA neon
#else
#define POLYKEM_ISA portable
#endif

#define POLYKEM_INLINE inline __attribute__((always_inline))
#define POLYKEM_NOINLINE __attribute__((noinline))
