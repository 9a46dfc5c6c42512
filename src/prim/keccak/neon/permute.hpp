// SPDX-License-Identifier: Apache-2.0
// Keccak-f[1600] on two states at a time: 25 of the 32 registers hold a word of both states. [FIPS202, 3.3]
#pragma once

#include <arm_neon.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "prim/keccak/constants.hpp"
#include "prim/simd/isa.hpp"

namespace polykem::keccak {
inline namespace POLYKEM_ISA {

// Each operation is a volatile asm, so that compilers keep their order, which needs all 32 registers and no more. Where
// a value is used for the last time, the result takes its register.
#ifdef POLYKEM_ISA_NEON_SHA3

POLYKEM_INLINE uint64x2_t xor_of_five(uint64x2_t a, uint64x2_t b, uint64x2_t c, uint64x2_t d, uint64x2_t e) {
  uint64x2_t sum;
  asm volatile("eor3 %0.16b, %1.16b, %2.16b, %3.16b" : "=w"(sum) : "w"(a), "w"(b), "w"(c));
  asm volatile("eor3 %0.16b, %0.16b, %1.16b, %2.16b" : "+w"(sum) : "w"(d), "w"(e));
  return sum;
}
/// Returns a ^ (~b & c).
POLYKEM_INLINE uint64x2_t xor_andnot(uint64x2_t a, uint64x2_t b, uint64x2_t c) {
  uint64x2_t result;
  asm volatile("bcax %0.16b, %1.16b, %2.16b, %3.16b" : "=w"(result) : "w"(a), "w"(c), "w"(b));
  return result;
}
/// Returns a ^ (b rotated to the left by one).
POLYKEM_INLINE uint64x2_t xor_rol1(uint64x2_t a, uint64x2_t b) {
  uint64x2_t result;
  asm volatile("rax1 %0.2d, %1.2d, %2.2d" : "=w"(result) : "w"(a), "w"(b));
  return result;
}
/// Adds b to a and rotates a to the left by kBits.
template <int kBits>
POLYKEM_INLINE void xor_and_rol(uint64x2_t& a, uint64x2_t b) {
  if constexpr (kBits == 0) {
    asm volatile("eor %0.16b, %0.16b, %1.16b" : "+w"(a) : "w"(b));
  } else {
    asm volatile("xar %0.2d, %0.2d, %1.2d, #%2" : "+w"(a) : "w"(b), "n"(64 - kBits));
  }
}

#else

/// Returns a rotated to the left by kBits, in another register.
template <int kBits>
POLYKEM_INLINE uint64x2_t rol(uint64x2_t a) {
  uint64x2_t result;
  asm volatile("shl %0.2d, %1.2d, #%2" : "=&w"(result) : "w"(a), "n"(kBits));
  asm volatile("sri %0.2d, %1.2d, #%2" : "+w"(result) : "w"(a), "n"(64 - kBits));
  return result;
}
POLYKEM_INLINE void add(uint64x2_t& a, uint64x2_t b) {
  asm volatile("eor %0.16b, %0.16b, %1.16b" : "+w"(a) : "w"(b));
}

POLYKEM_INLINE uint64x2_t xor_of_five(uint64x2_t a, uint64x2_t b, uint64x2_t c, uint64x2_t d, uint64x2_t e) {
  uint64x2_t sum;
  asm volatile("eor %0.16b, %1.16b, %2.16b" : "=w"(sum) : "w"(a), "w"(b));
  add(sum, c);
  add(sum, d);
  add(sum, e);
  return sum;
}
POLYKEM_INLINE uint64x2_t xor_andnot(uint64x2_t a, uint64x2_t b, uint64x2_t c) {
  uint64x2_t result;
  asm volatile("bic %0.16b, %1.16b, %2.16b" : "=w"(result) : "w"(c), "w"(b));
  add(result, a);
  return result;
}
POLYKEM_INLINE uint64x2_t xor_rol1(uint64x2_t a, uint64x2_t b) {
  uint64x2_t result = rol<1>(b);
  add(result, a);
  return result;
}
template <int kBits>
POLYKEM_INLINE void xor_and_rol(uint64x2_t& a, uint64x2_t b) {
  add(a, b);
  if constexpr (kBits > 0) a = rol<kBits>(a);
}

#endif

/// Computes row kRow of a round for two states, as theta_rho_pi_chi_row() does.
template <size_t kRow>
POLYKEM_INLINE void pair_row(uint64x2_t* out, uint64x2_t* in, const uint64x2_t* change) {
  uint64x2_t b[5];
  [&]<size_t... kX>(std::index_sequence<kX...>) __attribute__((always_inline)) {
    ((b[kX] = in[(kX + 3 * kRow) % 5 + 5 * kX],
      xor_and_rol<kRho.at[(kX + 3 * kRow) % 5 + 5 * kX]>(b[kX], change[(kX + 3 * kRow) % 5])),
     ...);
    ((out[kX + 5 * kRow] = xor_andnot(b[kX], b[(kX + 1) % 5], b[(kX + 2) % 5])), ...);
  }
  (std::make_index_sequence<5>());
}

/// Computes one round from `in`, whose words are not needed afterwards, to `out`. `iota` points to the round constant
/// and moves on to the next one. [FIPS202, 3.2]
POLYKEM_INLINE void pair_round(uint64x2_t* out, uint64x2_t* in, const uint64_t*& iota) {
  uint64x2_t column[5], change[5];
  for (size_t x = 0; x < 5; ++x)
    column[x] = xor_of_five(in[x], in[x + 5], in[x + 10], in[x + 15], in[x + 20]);
  change[0] = xor_rol1(column[4], column[1]);
  change[2] = xor_rol1(column[1], column[3]);
  change[4] = xor_rol1(column[3], column[0]);
  change[1] = xor_rol1(column[0], column[2]);
  change[3] = xor_rol1(column[2], column[4]);
  pair_row<0>(out, in, change);
  pair_row<1>(out, in, change);
  pair_row<2>(out, in, change);
  pair_row<3>(out, in, change);
  pair_row<4>(out, in, change);
  uint64x2_t constant;
  asm volatile("ld1r {%0.2d}, [%1], #8" : "=w"(constant), "+r"(iota) : : "memory");
  asm volatile("eor %0.16b, %0.16b, %1.16b" : "+w"(out[0]) : "w"(constant));
}

/// Permutes two states: word w of both is at words + 4 w.
template <size_t... kWord>
POLYKEM_INLINE void keccak_permute2(uint64_t* words, std::index_sequence<kWord...>) {
  uint64x2_t even[kStateWords] = {vld1q_u64(words + 4 * kWord)...}, odd[kStateWords];
  const uint64_t* iota = kIota.at;
#pragma GCC unroll 12  // leaves out all moves between registers
  for (size_t round = 0; round < 24; round += 2) {
    pair_round(odd, even, iota);
    pair_round(even, odd, iota);
  }
  (vst1q_u64(words + 4 * kWord, even[kWord]), ...);
}

POLYKEM_NOINLINE inline void keccak_permute2(uint64_t* words) {
  keccak_permute2(words, std::make_index_sequence<kStateWords>());
}

/// Permutes four states: word w of state i is words[4 w + i].
POLYKEM_INLINE void keccak_permute4(uint64_t* words) {
  keccak_permute2(words);
  keccak_permute2(words + 2);
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::keccak
