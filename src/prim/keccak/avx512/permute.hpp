// SPDX-License-Identifier: Apache-2.0
// Keccak-f[1600] on eight states, a state in each 64-bit lane, in the 32 registers of 512 bits. In assembly, since
// compilers spill where registers are exactly enough: see src/prim/keccak/README.md.
#pragma once

#include <cstdint>

#include "prim/keccak/avx512/rounds.hpp"
#include "prim/simd/isa.hpp"

namespace polykem::lanes {
inline namespace POLYKEM_ISA {

// Row r of a round takes its word t from word (X, t) of the state, X = t + 3 r mod 5, and leaves words (x, r) of the
// new state. [FIPS202, 3.2.1 to 3.2.4] Each replaces the old word of its column, (x, x + 2 r), so that after four
// rounds all words are in the registers where they began: word (x, y) in 5 y + x. The rotations that every word needs
// move it to where its row will leave another, hence no other instruction moves words.
//
// The words (x, x + 3), which row 4 takes, wait in memory, and in their registers are the sums of their columns. Row 4
// builds its words in the registers of the rotated sums, 25 to 29, which have done their work then. 30 and 31 hold
// copies for chi. tools/keccak_order.py has the rounds row by row.

// clang-format off
#define POLYKEM_TEXT(x) #x
#define POLYKEM_Z(n) "%%zmm" POLYKEM_TEXT(n)
#define POLYKEM_AT(word) POLYKEM_TEXT(word) "*64(%[states])"
#define POLYKEM_LOAD(n, word) "vmovdqa64 " POLYKEM_AT(word) ", " POLYKEM_Z(n) "\n\t"
#define POLYKEM_STORE(n, word) "vmovdqa64 " POLYKEM_Z(n) ", " POLYKEM_AT(word) "\n\t"
#define POLYKEM_MOVE(to, from) "vmovdqa64 " POLYKEM_Z(from) ", " POLYKEM_Z(to) "\n\t"
#define POLYKEM_ROL(to, from, bits) "vprolq $" #bits ", " POLYKEM_Z(from) ", " POLYKEM_Z(to) "\n\t"
#define POLYKEM_IOTA(n, round) "vpxorq 8*" #round "(%[iota])%{1to8%}, " POLYKEM_Z(n) ", " POLYKEM_Z(n) "\n\t"
/// to ^= b ^ c
#define POLYKEM_XOR3(to, b, c) "vpternlogq $0x96, " POLYKEM_Z(c) ", " POLYKEM_Z(b) ", " POLYKEM_Z(to) "\n\t"
#define POLYKEM_XOR3_AT(to, b, word) "vpternlogq $0x96, " POLYKEM_AT(word) ", " POLYKEM_Z(b) ", " POLYKEM_Z(to) "\n\t"
/// to ^= ~b & c
#define POLYKEM_XOR_ANDNOT(to, b, c) "vpternlogq $0xd2, " POLYKEM_Z(c) ", " POLYKEM_Z(b) ", " POLYKEM_Z(to) "\n\t"

/// The words in registers before and after four rounds.
#define POLYKEM_EACH_WORD(DO) \
  DO(0) DO(1) DO(3) DO(4) DO(5) DO(6) DO(7) DO(9) DO(10) DO(11) \
  DO(12) DO(13) DO(16) DO(17) DO(18) DO(19) DO(20) DO(22) DO(23) DO(24)
#define POLYKEM_LOAD_WORD(n) POLYKEM_LOAD(n, n)
#define POLYKEM_STORE_WORD(n) POLYKEM_STORE(n, n)
/// The sum of a column whose words are n, in memory, and a to d.
#define POLYKEM_SUM(n, a, b, c, d) POLYKEM_LOAD_WORD(n) POLYKEM_XOR3(n, a, b) POLYKEM_XOR3(n, c, d)
#define POLYKEM_SUMS \
  POLYKEM_SUM(15, 0, 5, 10, 20) POLYKEM_SUM(21, 1, 6, 11, 16) POLYKEM_SUM(2, 7, 12, 17, 22) \
  POLYKEM_SUM(8, 3, 13, 18, 23) POLYKEM_SUM(14, 4, 9, 19, 24)

// clang-format on

/// Keccak-f[1600] in place on eight states: word w of state i at states[8 w + i], 64-byte aligned; iota: the 24 round
/// constants. [FIPS202, 3.3]
POLYKEM_NOINLINE inline void keccak_permute8(uint64_t* states, const uint64_t* iota) {
  const uint64_t* const end = iota + 24;
  asm volatile(POLYKEM_EACH_WORD(POLYKEM_LOAD_WORD) POLYKEM_SUMS
               ".p2align 5\n"
               "1:\n\t" POLYKEM_FOUR_ROUNDS
               "add $32, %[iota]\n\t"
               "cmp %[end], %[iota]\n\t"
               "jne 1b\n\t" POLYKEM_EACH_WORD(POLYKEM_STORE_WORD)
               : [iota] "+r"(iota)
               : [states] "r"(states), [end] "r"(end)
               : "memory", "cc", "zmm0", "zmm1", "zmm2", "zmm3", "zmm4", "zmm5", "zmm6", "zmm7", "zmm8", "zmm9",
                 "zmm10", "zmm11", "zmm12", "zmm13", "zmm14", "zmm15", "zmm16", "zmm17", "zmm18", "zmm19", "zmm20",
                 "zmm21", "zmm22", "zmm23", "zmm24", "zmm25", "zmm26", "zmm27", "zmm28", "zmm29", "zmm30", "zmm31");
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::lanes
