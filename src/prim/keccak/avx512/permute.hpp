// SPDX-License-Identifier: Apache-2.0
// Keccak-f[1600] on eight states, a state in each 64-bit lane, in the 32 registers of 512 bits. In assembly, since
// compilers spill where registers are exactly enough: see src/prim/keccak/README.md.
#pragma once

#include <cstdint>

#include "prim/simd/isa.hpp"

namespace polykem::lanes {
inline namespace POLYKEM_ISA {

// Row r of a round takes its word t from word (X, t) of the state, X = t + 3 r mod 5, and leaves words (x, r) of the new
// state. [FIPS202, 3.2.1 to 3.2.4] Each replaces the old word of its column, (x, x + 2 r), so that after four rounds
// all words are in the registers where they began: word (x, y) in 5 y + x. The rotations that every word needs move it
// to where its row will leave another, hence no other instruction moves words.
//
// The words (x, x + 3), which row 4 takes, wait in memory, and in their registers are the sums of their columns. Row 4
// builds its words in the registers of the rotated sums, 25 to 29, which have done their work then. 30 and 31: free.

#define POLYKEM_BEFORE_A0 14  // the sum of column X - 1, by round and X
#define POLYKEM_BEFORE_A1 15
#define POLYKEM_BEFORE_A2 21
#define POLYKEM_BEFORE_A3 2
#define POLYKEM_BEFORE_A4 8
#define POLYKEM_BEFORE_B0 19
#define POLYKEM_BEFORE_B1 5
#define POLYKEM_BEFORE_B2 21
#define POLYKEM_BEFORE_B3 12
#define POLYKEM_BEFORE_B4 3
#define POLYKEM_BEFORE_C0 4
#define POLYKEM_BEFORE_C1 10
#define POLYKEM_BEFORE_C2 21
#define POLYKEM_BEFORE_C3 7
#define POLYKEM_BEFORE_C4 18
#define POLYKEM_BEFORE_D0 24
#define POLYKEM_BEFORE_D1 20
#define POLYKEM_BEFORE_D2 21
#define POLYKEM_BEFORE_D3 22
#define POLYKEM_BEFORE_D4 23
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

/// Theta and rho of a word of column X from register b to `to`. S: the round, A to D.
#define POLYKEM_WORD(S, to, b, X, bits) \
  POLYKEM_XOR3(b, POLYKEM_BEFORE_##S##X, POLYKEM_AFTER##X) POLYKEM_ROL(to, b, bits)
/// Theta of a word in memory.
#define POLYKEM_PARKED(S, word, X) POLYKEM_XOR3_AT(POLYKEM_AFTER##X, POLYKEM_BEFORE_##S##X, word)
/// Chi of a row whose word 0 is in register 30 too.
#define POLYKEM_CHI(b0, b1, b2, b3, b4) \
  POLYKEM_XOR_ANDNOT(b0, b1, b2) POLYKEM_MOVE(31, b1) POLYKEM_XOR_ANDNOT(b1, b2, b3) \
  POLYKEM_XOR_ANDNOT(b2, b3, b4) POLYKEM_XOR_ANDNOT(b3, b4, 30) POLYKEM_XOR_ANDNOT(b4, 30, 31)

// From registers s0 to s4, word by word, to the registers of the new words: those of row r are 2 r places further.
#define POLYKEM_ROW0(S, s0, s1, s2, s3, s4) \
  POLYKEM_XOR3(s0, POLYKEM_BEFORE_##S##0, POLYKEM_AFTER0) POLYKEM_MOVE(30, s0) POLYKEM_WORD(S, s1, s1, 1, 44) \
  POLYKEM_WORD(S, s2, s2, 2, 43) POLYKEM_WORD(S, s3, s3, 3, 21) POLYKEM_WORD(S, s4, s4, 4, 14) \
  POLYKEM_CHI(s0, s1, s2, s3, s4)
#define POLYKEM_ROW1(S, s0, s1, s2, s3, s4) \
  POLYKEM_WORD(S, 30, s0, 3, 28) POLYKEM_WORD(S, s0, s3, 1, 45) POLYKEM_WORD(S, s3, s1, 4, 20) \
  POLYKEM_WORD(S, s1, s4, 2, 61) POLYKEM_WORD(S, s4, s2, 0, 3) POLYKEM_MOVE(s2, 30) POLYKEM_CHI(s2, s3, s4, s0, s1)
#define POLYKEM_ROW2(S, s0, s1, s2, s3, s4) \
  POLYKEM_WORD(S, 30, s0, 1, 1) POLYKEM_WORD(S, s0, s1, 2, 6) POLYKEM_WORD(S, s1, s2, 3, 25) \
  POLYKEM_WORD(S, s2, s3, 4, 8) POLYKEM_WORD(S, s3, s4, 0, 18) POLYKEM_MOVE(s4, 30) POLYKEM_CHI(s4, s0, s1, s2, s3)
#define POLYKEM_ROW3(S, s0, s1, s2, s3, s4) \
  POLYKEM_WORD(S, 30, s0, 4, 27) POLYKEM_WORD(S, s0, s4, 3, 56) POLYKEM_WORD(S, s4, s3, 2, 15) \
  POLYKEM_WORD(S, s3, s2, 1, 10) POLYKEM_WORD(S, s2, s1, 0, 36) POLYKEM_MOVE(s1, 30) POLYKEM_CHI(s1, s2, s3, s4, s0)
#define POLYKEM_ROW4(S, w0, w1, w2, w3, w4, b0, b1, b2, b3, b4) \
  POLYKEM_PARKED(S, w0, 2) POLYKEM_PARKED(S, w1, 3) POLYKEM_PARKED(S, w2, 4) POLYKEM_PARKED(S, w3, 0) \
  POLYKEM_PARKED(S, w4, 1) POLYKEM_ROL(b0, POLYKEM_AFTER2, 62) POLYKEM_MOVE(30, b0) \
  POLYKEM_ROL(b1, POLYKEM_AFTER3, 55) POLYKEM_ROL(b2, POLYKEM_AFTER4, 39) POLYKEM_ROL(b3, POLYKEM_AFTER0, 41) \
  POLYKEM_ROL(b4, POLYKEM_AFTER1, 2) POLYKEM_CHI(b0, b1, b2, b3, b4)

// Words wait in their own places before rounds A and C, and in those of words 0, 1, 3, 4 and 5 before the others.
#define POLYKEM_ROUND_A \
  POLYKEM_ROTATE_SUMS(15, 21, 2, 8, 14) \
  POLYKEM_ROW0(A, 0, 6, 12, 18, 24) POLYKEM_IOTA(0, 0) POLYKEM_STORE(12, 0) \
  POLYKEM_ROW1(A, 3, 9, 10, 16, 22) POLYKEM_STORE(3, 1) \
  POLYKEM_ROW2(A, 1, 7, 13, 19, 20) POLYKEM_STORE(19, 3) \
  POLYKEM_XOR3(12, 22, 7) POLYKEM_XOR3(3, 18, 13) POLYKEM_XOR3(19, 24, 9) \
  POLYKEM_ROW3(A, 4, 5, 11, 17, 23) POLYKEM_STORE(5, 4) POLYKEM_XOR3(5, 0, 10) \
  POLYKEM_ROW4(A, 2, 8, 14, 15, 21, 15, 21, 2, 8, 14) POLYKEM_STORE(21, 5) \
  POLYKEM_XOR3(21, 6, 16) POLYKEM_XOR3(5, 20, 15) POLYKEM_XOR3(21, 1, 11) \
  POLYKEM_XOR3(12, 17, 2) POLYKEM_XOR3(3, 23, 8) POLYKEM_XOR3(19, 4, 14)
#define POLYKEM_ROUND_B \
  POLYKEM_ROTATE_SUMS(5, 21, 12, 3, 19) \
  POLYKEM_ROW0(B, 0, 16, 7, 23, 14) POLYKEM_IOTA(0, 1) POLYKEM_STORE(7, 2) \
  POLYKEM_ROW1(B, 18, 9, 20, 11, 2) POLYKEM_STORE(18, 8) \
  POLYKEM_ROW2(B, 6, 22, 13, 4, 15) POLYKEM_STORE(4, 14) \
  POLYKEM_XOR3(7, 2, 22) POLYKEM_XOR3(18, 23, 13) POLYKEM_XOR3(4, 14, 9) \
  POLYKEM_ROW3(B, 24, 10, 1, 17, 8) POLYKEM_STORE(10, 15) POLYKEM_XOR3(10, 0, 20) \
  POLYKEM_ROW4(B, 0, 1, 3, 4, 5, 5, 21, 12, 3, 19) POLYKEM_STORE(21, 21) \
  POLYKEM_XOR3(21, 16, 11) POLYKEM_XOR3(10, 15, 5) POLYKEM_XOR3(21, 6, 1) \
  POLYKEM_XOR3(7, 17, 12) POLYKEM_XOR3(18, 8, 3) POLYKEM_XOR3(4, 24, 19)
#define POLYKEM_ROUND_C \
  POLYKEM_ROTATE_SUMS(10, 21, 7, 18, 4) \
  POLYKEM_ROW0(C, 0, 11, 22, 8, 19) POLYKEM_IOTA(0, 2) POLYKEM_STORE(22, 0) \
  POLYKEM_ROW1(C, 23, 9, 15, 1, 12) POLYKEM_STORE(23, 1) \
  POLYKEM_ROW2(C, 16, 2, 13, 24, 5) POLYKEM_STORE(24, 3) \
  POLYKEM_XOR3(22, 12, 2) POLYKEM_XOR3(23, 8, 13) POLYKEM_XOR3(24, 19, 9) \
  POLYKEM_ROW3(C, 14, 20, 6, 17, 3) POLYKEM_STORE(20, 4) POLYKEM_XOR3(20, 0, 15) \
  POLYKEM_ROW4(C, 2, 8, 14, 15, 21, 10, 21, 7, 18, 4) POLYKEM_STORE(21, 5) \
  POLYKEM_XOR3(21, 11, 1) POLYKEM_XOR3(20, 5, 10) POLYKEM_XOR3(21, 16, 6) \
  POLYKEM_XOR3(22, 17, 7) POLYKEM_XOR3(23, 3, 18) POLYKEM_XOR3(24, 14, 4)
#define POLYKEM_ROUND_D \
  POLYKEM_ROTATE_SUMS(20, 21, 22, 23, 24) \
  POLYKEM_ROW0(D, 0, 1, 2, 3, 4) POLYKEM_IOTA(0, 3) POLYKEM_STORE(2, 2) \
  POLYKEM_ROW1(D, 8, 9, 5, 6, 7) POLYKEM_STORE(8, 8) \
  POLYKEM_ROW2(D, 11, 12, 13, 14, 10) POLYKEM_STORE(14, 14) \
  POLYKEM_XOR3(2, 7, 12) POLYKEM_XOR3(8, 3, 13) POLYKEM_XOR3(14, 4, 9) \
  POLYKEM_ROW3(D, 19, 15, 16, 17, 18) POLYKEM_STORE(15, 15) POLYKEM_XOR3(15, 0, 5) \
  POLYKEM_ROW4(D, 0, 1, 3, 4, 5, 20, 21, 22, 23, 24) POLYKEM_STORE(21, 21) \
  POLYKEM_XOR3(21, 1, 6) POLYKEM_XOR3(15, 10, 20) POLYKEM_XOR3(21, 11, 16) \
  POLYKEM_XOR3(2, 17, 22) POLYKEM_XOR3(8, 18, 23) POLYKEM_XOR3(14, 19, 24)


/// The words in registers before round A.
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
               "1:\n\t" POLYKEM_ROUND_A POLYKEM_ROUND_B POLYKEM_ROUND_C POLYKEM_ROUND_D
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
