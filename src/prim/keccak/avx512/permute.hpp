// SPDX-License-Identifier: Apache-2.0
// Keccak-f[1600] on eight states, a state in each 64-bit lane, in the 32 registers of 512 bits. In assembly, since
// compilers spill where registers are exactly enough: see src/prim/keccak/README.md.
#pragma once

#include <cstdint>

#include "prim/simd/isa.hpp"

namespace polykem::lanes {
inline namespace POLYKEM_ISA {

// Row r of a round takes its word x from word (X, x) of the state, X = x + 3 r mod 5, and leaves word (x, r) of the new
// state in the same register. [FIPS202, 3.2.1 to 3.2.4] So registers hold other words before every other round:
//
//   round A   5 r + x: what row r < 4 takes as its word x; 20 + X: the sum of column X
//   round B   5 y + x: word (x, y), y < 4; 20 + (x + 1) mod 5: word (x, 4); but 15, 22, 2, 8, 14: the sums of columns 0
//             to 4, in the registers of the words of those columns that row 4 will take
//
// The words that row 4 takes wait in memory, and it builds its own in the registers of the sums, which have done their
// work then. 25 + X: the sum of column X, rotated; 30 and 31: free.

#define POLYKEM_BEFORE_A0 24  // the sum of column X - 1, by X
#define POLYKEM_BEFORE_A1 20
#define POLYKEM_BEFORE_A2 21
#define POLYKEM_BEFORE_A3 22
#define POLYKEM_BEFORE_A4 23
#define POLYKEM_BEFORE_B0 14
#define POLYKEM_BEFORE_B1 15
#define POLYKEM_BEFORE_B2 22
#define POLYKEM_BEFORE_B3 2
#define POLYKEM_BEFORE_B4 8
#define POLYKEM_AFTER0 26  // the rotated sum of column X + 1
#define POLYKEM_AFTER1 27
#define POLYKEM_AFTER2 28
#define POLYKEM_AFTER3 29
#define POLYKEM_AFTER4 25

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

#define POLYKEM_ROTATE_SUMS(c0, c1, c2, c3, c4) \
  POLYKEM_ROL(25, c0, 1) POLYKEM_ROL(26, c1, 1) POLYKEM_ROL(27, c2, 1) POLYKEM_ROL(28, c3, 1) POLYKEM_ROL(29, c4, 1)

// clang-format off

/// Theta and rho of a word of column X in register b. S: A or B.
#define POLYKEM_WORD(S, b, X, bits) \
  POLYKEM_XOR3(b, POLYKEM_BEFORE_##S##X, POLYKEM_AFTER##X) POLYKEM_ROL(b, b, bits)
/// The same for a word in memory.
#define POLYKEM_PARKED(S, word, X, bits) \
  POLYKEM_XOR3_AT(POLYKEM_BEFORE_##S##X, POLYKEM_AFTER##X, word) \
  POLYKEM_ROL(POLYKEM_BEFORE_##S##X, POLYKEM_BEFORE_##S##X, bits)
#define POLYKEM_CHI(b0, b1, b2, b3, b4) \
  POLYKEM_MOVE(30, b0) POLYKEM_XOR_ANDNOT(b0, b1, b2) \
  POLYKEM_MOVE(31, b1) POLYKEM_XOR_ANDNOT(b1, b2, b3) \
  POLYKEM_XOR_ANDNOT(b2, b3, b4) POLYKEM_XOR_ANDNOT(b3, b4, 30) POLYKEM_XOR_ANDNOT(b4, 30, 31)

#define POLYKEM_ROW0(S, b0, b1, b2, b3, b4) \
  POLYKEM_XOR3(b0, POLYKEM_BEFORE_##S##0, POLYKEM_AFTER0) POLYKEM_WORD(S, b1, 1, 44) POLYKEM_WORD(S, b2, 2, 43) \
  POLYKEM_WORD(S, b3, 3, 21) POLYKEM_WORD(S, b4, 4, 14) POLYKEM_CHI(b0, b1, b2, b3, b4)
#define POLYKEM_ROW1(S, b0, b1, b2, b3, b4) \
  POLYKEM_WORD(S, b0, 3, 28) POLYKEM_WORD(S, b1, 4, 20) POLYKEM_WORD(S, b2, 0, 3) \
  POLYKEM_WORD(S, b3, 1, 45) POLYKEM_WORD(S, b4, 2, 61) POLYKEM_CHI(b0, b1, b2, b3, b4)
#define POLYKEM_ROW2(S, b0, b1, b2, b3, b4) \
  POLYKEM_WORD(S, b0, 1, 1) POLYKEM_WORD(S, b1, 2, 6) POLYKEM_WORD(S, b2, 3, 25) \
  POLYKEM_WORD(S, b3, 4, 8) POLYKEM_WORD(S, b4, 0, 18) POLYKEM_CHI(b0, b1, b2, b3, b4)
#define POLYKEM_ROW3(S, b0, b1, b2, b3, b4) \
  POLYKEM_WORD(S, b0, 4, 27) POLYKEM_WORD(S, b1, 0, 36) POLYKEM_WORD(S, b2, 1, 10) \
  POLYKEM_WORD(S, b3, 2, 15) POLYKEM_WORD(S, b4, 3, 56) POLYKEM_CHI(b0, b1, b2, b3, b4)
#define POLYKEM_ROW4(S, w0, w1, w2, w3, w4, b0, b1, b2, b3, b4) \
  POLYKEM_PARKED(S, w0, 2, 62) POLYKEM_PARKED(S, w1, 3, 55) POLYKEM_PARKED(S, w2, 4, 39) \
  POLYKEM_PARKED(S, w3, 0, 41) POLYKEM_PARKED(S, w4, 1, 2) POLYKEM_CHI(b0, b1, b2, b3, b4)

// Words 2, 8, 14, 15 and 21 wait in their own places and, between rounds A and B, in those of words 0, 1, 3, 4 and 5.
#define POLYKEM_ROUND_A \
  POLYKEM_ROTATE_SUMS(20, 21, 22, 23, 24) \
  POLYKEM_ROW0(A, 0, 1, 2, 3, 4) POLYKEM_IOTA(0, 0) POLYKEM_STORE(2, 0) \
  POLYKEM_ROW1(A, 5, 6, 7, 8, 9) POLYKEM_STORE(8, 1) \
  POLYKEM_ROW2(A, 10, 11, 12, 13, 14) POLYKEM_STORE(14, 3) \
  POLYKEM_XOR3(2, 7, 12) POLYKEM_XOR3(8, 3, 13) POLYKEM_XOR3(14, 4, 9) \
  POLYKEM_ROW3(A, 15, 16, 17, 18, 19) POLYKEM_STORE(15, 4) POLYKEM_XOR3(15, 0, 5) \
  POLYKEM_ROW4(A, 2, 8, 14, 15, 21, 21, 22, 23, 24, 20) POLYKEM_STORE(22, 5) \
  POLYKEM_XOR3(22, 1, 6) POLYKEM_XOR3(15, 10, 21) POLYKEM_XOR3(22, 11, 16) \
  POLYKEM_XOR3(2, 17, 23) POLYKEM_XOR3(8, 18, 24) POLYKEM_XOR3(14, 19, 20)
#define POLYKEM_ROUND_B \
  POLYKEM_ROTATE_SUMS(15, 22, 2, 8, 14) \
  POLYKEM_ROW0(B, 0, 6, 12, 18, 20) POLYKEM_IOTA(0, 1) POLYKEM_STORE(12, 2) \
  POLYKEM_ROW1(B, 3, 9, 10, 16, 23) POLYKEM_STORE(16, 8) \
  POLYKEM_ROW2(B, 1, 7, 13, 19, 21) POLYKEM_STORE(21, 14) \
  POLYKEM_XOR3(12, 10, 13) POLYKEM_XOR3(16, 18, 19) POLYKEM_XOR3(21, 20, 23) \
  POLYKEM_ROW3(B, 4, 5, 11, 17, 24) POLYKEM_STORE(4, 15) POLYKEM_XOR3(4, 0, 3) \
  POLYKEM_ROW4(B, 0, 1, 3, 4, 5, 22, 2, 8, 14, 15) POLYKEM_STORE(2, 21) \
  POLYKEM_XOR3(2, 6, 9) POLYKEM_XOR3(4, 1, 22) POLYKEM_XOR3(2, 7, 5) \
  POLYKEM_XOR3(12, 11, 8) POLYKEM_XOR3(16, 17, 14) POLYKEM_XOR3(21, 24, 15)
/// Puts the words where round A expects them.
#define POLYKEM_AGAIN_A \
  POLYKEM_MOVE(25, 1) POLYKEM_MOVE(1, 9) POLYKEM_MOVE(9, 8) POLYKEM_MOVE(8, 5) POLYKEM_MOVE(5, 18) \
  POLYKEM_MOVE(18, 11) POLYKEM_MOVE(11, 10) POLYKEM_MOVE(10, 6) POLYKEM_MOVE(6, 23) POLYKEM_MOVE(23, 16) \
  POLYKEM_MOVE(16, 3) POLYKEM_MOVE(3, 17) POLYKEM_MOVE(17, 7) POLYKEM_MOVE(7, 25) \
  POLYKEM_MOVE(25, 2) POLYKEM_MOVE(2, 13) POLYKEM_MOVE(13, 24) POLYKEM_MOVE(24, 21) POLYKEM_MOVE(21, 25) \
  POLYKEM_MOVE(25, 4) POLYKEM_MOVE(4, 15) POLYKEM_MOVE(15, 20) POLYKEM_MOVE(20, 25) \
  POLYKEM_MOVE(25, 12) POLYKEM_MOVE(12, 19) POLYKEM_MOVE(19, 14) POLYKEM_MOVE(14, 22) POLYKEM_MOVE(22, 25)

/// The registers before round A and their words.
#define POLYKEM_EACH_WORD(DO) \
  DO(0, 0) DO(1, 6) DO(2, 12) DO(3, 18) DO(4, 24) DO(5, 3) DO(6, 9) DO(7, 10) DO(8, 16) DO(9, 22) \
  DO(10, 1) DO(11, 7) DO(12, 13) DO(13, 19) DO(14, 20) DO(15, 4) DO(16, 5) DO(17, 11) DO(18, 17) DO(19, 23)
/// The sum of a column, of which word `parked` is in memory and the others are in registers b to e.
#define POLYKEM_SUM(n, parked, b, c, d, e) \
  POLYKEM_LOAD(n, parked) POLYKEM_XOR3(n, b, c) POLYKEM_XOR3(n, d, e)
#define POLYKEM_SUMS \
  POLYKEM_SUM(20, 15, 0, 16, 7, 14) POLYKEM_SUM(21, 21, 10, 1, 17, 8) POLYKEM_SUM(22, 2, 11, 2, 18, 9) \
  POLYKEM_SUM(23, 8, 5, 12, 3, 19) POLYKEM_SUM(24, 14, 15, 6, 13, 4)

// clang-format on

/// Keccak-f[1600] in place on eight states: word w of state i at states[8 w + i], 64-byte aligned; iota: the 24 round
/// constants. [FIPS202, 3.3]
POLYKEM_NOINLINE inline void keccak_permute8(uint64_t* states, const uint64_t* iota) {
  const uint64_t* const end = iota + 24;
  asm volatile(POLYKEM_EACH_WORD(POLYKEM_LOAD) POLYKEM_SUMS
               ".p2align 5\n"
               "1:\n\t" POLYKEM_ROUND_A POLYKEM_ROUND_B POLYKEM_AGAIN_A
               "add $16, %[iota]\n\t"
               "cmp %[end], %[iota]\n\t"
               "jne 1b\n\t" POLYKEM_EACH_WORD(POLYKEM_STORE)
               : [iota] "+r"(iota)
               : [states] "r"(states), [end] "r"(end)
               : "memory", "cc", "zmm0", "zmm1", "zmm2", "zmm3", "zmm4", "zmm5", "zmm6", "zmm7", "zmm8", "zmm9",
                 "zmm10", "zmm11", "zmm12", "zmm13", "zmm14", "zmm15", "zmm16", "zmm17", "zmm18", "zmm19", "zmm20",
                 "zmm21", "zmm22", "zmm23", "zmm24", "zmm25", "zmm26", "zmm27", "zmm28", "zmm29", "zmm30", "zmm31");
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::lanes
