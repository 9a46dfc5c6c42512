// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Names the inline namespace of code that is compiled once per instruction set. Translation units that are compiled
/// with different flags share inline functions and templates; these live in that namespace, so that the linker never
/// takes the copy of one instruction set for that of another.
#if defined(__AVX512BW__) && defined(__AVX512VL__)
#define POLYKEM_ISA_AVX512 1
#define POLYKEM_ISA avx512
#elif defined(__AVX2__)
#define POLYKEM_ISA_AVX2 1
#define POLYKEM_ISA avx2
#else
#define POLYKEM_ISA portable
#endif
