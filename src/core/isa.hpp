// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Names the inline namespace of code that is compiled once per instruction set. Every inline function or template that
/// translation units with different flags share lives in it, so that the linker never takes one's for the other's.
#if defined(__AVX512BW__) && defined(__AVX512VL__)
#define POLYKEM_ISA_AVX512 1
#define POLYKEM_ISA avx512
#elif defined(__AVX2__)
#define POLYKEM_ISA_AVX2 1
#define POLYKEM_ISA avx2
#else
#define POLYKEM_ISA portable
#endif
