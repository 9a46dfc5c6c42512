// SPDX-License-Identifier: Apache-2.0
// Keccak-f[1600] on eight states, a state in each 64-bit lane, in the 32 registers of 512 bits. It is in assembly,
// since compilers spill where registers are exactly enough: see src/prim/keccak/README.md.
#pragma once

#include <cstddef>
#include <cstdint>

#include "prim/keccak/avx512/rounds_intel.hpp"
#include "prim/keccak/avx512/rounds_zen5.hpp"
#include "prim/keccak/keccak_lanes.hpp"
#include "prim/simd/isa.hpp"

namespace polykem::keccak {
inline namespace POLYKEM_ISA {

// For Intel's CPUs: row r of a round takes its word t from word (X, t) of the state, X = t + 3 r mod 5, and leaves the
// words (x, r) of the new state. [FIPS202, 3.2.1 to 3.2.4] Each new word replaces the old word of its column, which is
// (x, x + 2 r), so that after four rounds all words are in the registers where they began: word (x, y) in register
// 5 y + x. The rotation that every word needs also moves it to where its row leaves a new word, so no other instruction
// moves words.
//
// The words (x, x + 3), which row 4 takes, wait in memory, and their registers hold the sums of their columns. Row 4
// builds its words in the registers of the rotated sums, 25 to 29, which are no longer needed then. Registers 30 and 31
// hold copies for chi. tools/keccak_order.py has the rounds row by row.
//
// For a Zen 5: no word waits in memory, since stores of 512 bits delay instructions of three operands there, and copies
// between registers cost nothing. A search chose order and registers (tools/keccak_order_zen5.cpp); after four rounds
// every word is back in its place.

// clang-format off
#define POLYKEM_TEXT(x) #x
#define POLYKEM_Z(n) "%%zmm" POLYKEM_TEXT(n)
#define POLYKEM_AT(word) POLYKEM_TEXT(word) "*64(%[to])"
#define POLYKEM_LOAD(n) "vmovdqa64 " POLYKEM_TEXT(n) "*64(%[from]), " POLYKEM_Z(n) "\n\t"
#define POLYKEM_LOAD_SUM(n) \
  POLYKEM_LOAD(n) "vpxorq " POLYKEM_TEXT(n) "*64(%[words]), " POLYKEM_Z(n) ", " POLYKEM_Z(n) "\n\t"
#define POLYKEM_STORE(n, word) "vmovdqa64 " POLYKEM_Z(n) ", " POLYKEM_AT(word) "\n\t"
#define POLYKEM_MOVE(to, from) "vmovdqa64 " POLYKEM_Z(from) ", " POLYKEM_Z(to) "\n\t"
#define POLYKEM_ROL(to, from, bits) "vprolq $" #bits ", " POLYKEM_Z(from) ", " POLYKEM_Z(to) "\n\t"
#define POLYKEM_IOTA(n, round) POLYKEM_IOTA_TO(n, n, round)
#define POLYKEM_IOTA_TO(to, n, round) \
  "vpxorq 8*" #round "(%[iota])%{1to8%}, " POLYKEM_Z(n) ", " POLYKEM_Z(to) "\n\t"
#define POLYKEM_XOR(to, a, b) "vpxorq " POLYKEM_Z(b) ", " POLYKEM_Z(a) ", " POLYKEM_Z(to) "\n\t"
/// Sets bit i of `to` to bit 4 to_i + 2 b_i + c_i of `table`.
#define POLYKEM_TERNARY(to, b, c, table) \
  "vpternlogq $" #table ", " POLYKEM_Z(c) ", " POLYKEM_Z(b) ", " POLYKEM_Z(to) "\n\t"
/// Computes to ^= b ^ c.
#define POLYKEM_XOR3(to, b, c) "vpternlogq $0x96, " POLYKEM_Z(c) ", " POLYKEM_Z(b) ", " POLYKEM_Z(to) "\n\t"
#define POLYKEM_XOR3_AT(to, b, word) "vpternlogq $0x96, " POLYKEM_AT(word) ", " POLYKEM_Z(b) ", " POLYKEM_Z(to) "\n\t"
/// Computes to ^= ~b & c.
#define POLYKEM_XOR_ANDNOT(to, b, c) "vpternlogq $0xd2, " POLYKEM_Z(c) ", " POLYKEM_Z(b) ", " POLYKEM_Z(to) "\n\t"

/// Repeats DO for the words that are in registers before and after four rounds.
#define POLYKEM_EACH_WORD(DO) \
  DO(0) DO(1) DO(3) DO(4) DO(5) DO(6) DO(7) DO(9) DO(10) DO(11) \
  DO(12) DO(13) DO(16) DO(17) DO(18) DO(19) DO(20) DO(22) DO(23) DO(24)
#define POLYKEM_STORE_WORD(n) POLYKEM_STORE(n, n)
#define POLYKEM_MOVE_WORD(n) POLYKEM_LOAD(n) POLYKEM_STORE_WORD(n)
#define POLYKEM_MOVE_SUM(n) POLYKEM_LOAD_SUM(n) POLYKEM_STORE_WORD(n)
/// Computes the sum of a column whose words are n, which waits in memory, and a to d.
#define POLYKEM_SUM(LOAD, n, a, b, c, d) LOAD(n) POLYKEM_XOR3(n, a, b) POLYKEM_XOR3(n, c, d)
#define POLYKEM_SUMS(LOAD) \
  POLYKEM_SUM(LOAD, 15, 0, 5, 10, 20) POLYKEM_SUM(LOAD, 21, 1, 6, 11, 16) POLYKEM_SUM(LOAD, 2, 7, 12, 17, 22) \
  POLYKEM_SUM(LOAD, 8, 3, 13, 18, 23) POLYKEM_SUM(LOAD, 14, 4, 9, 19, 24)

/// Repeats DO for the words that wait in memory before and after four rounds in the order for Intel's CPUs.
#define POLYKEM_EACH_WAITING_WORD(DO) DO(2) DO(8) DO(14) DO(15) DO(21)
#define POLYKEM_SUM_OF_FIVE(sum, a, b, c, d, e) \
  POLYKEM_XOR(sum, a, b) POLYKEM_XOR3(sum, c, d) POLYKEM_XOR(sum, sum, e)

/// Six iterations of four rounds. NEXT ends an iteration: it goes on to the next three words that are moved.
#define POLYKEM_ITERATIONS(ROUNDS, NEXT) \
  ".p2align 6\n" \
  "1:\n\t" ROUNDS NEXT \
  "add $32, %[iota]\n\t" \
  "cmp %[end], %[iota]\n\t" \
  "jne 1b\n\t"
/// Permutes in the order for Intel's CPUs. Meanwhile SCALAR(l) moves three words of each state l. LOAD is for words
/// that stay in registers, LOAD_WAITING for those that wait in memory.
#define POLYKEM_PERMUTE_INTEL(LOAD, LOAD_WAITING, SCALAR, NEXT) \
  POLYKEM_EACH_WORD(LOAD) POLYKEM_SUMS(LOAD_WAITING) \
  POLYKEM_ITERATIONS(POLYKEM_FOUR_ROUNDS_INTEL(SCALAR), NEXT) \
  POLYKEM_EACH_WORD(POLYKEM_STORE_WORD)
/// Permutes in the order for a Zen 5, where all words are in registers.
#define POLYKEM_PERMUTE_ZEN5(LOAD, SCALAR, NEXT) \
  POLYKEM_EACH_WORD(LOAD) POLYKEM_EACH_WAITING_WORD(LOAD) \
  POLYKEM_SUM_OF_FIVE(25, 0, 5, 10, 15, 20) POLYKEM_SUM_OF_FIVE(26, 1, 6, 11, 16, 21) \
  POLYKEM_SUM_OF_FIVE(27, 2, 7, 12, 17, 22) POLYKEM_SUM_OF_FIVE(28, 3, 8, 13, 18, 23) \
  POLYKEM_SUM_OF_FIVE(29, 4, 9, 14, 19, 24) \
  POLYKEM_ITERATIONS(POLYKEM_FOUR_ROUNDS_ZEN5(SCALAR), NEXT) \
  POLYKEM_EACH_WORD(POLYKEM_STORE_WORD) POLYKEM_EACH_WAITING_WORD(POLYKEM_STORE_WORD)
/// Permutes in the order for a Zen 5 if `form` is kZen5, otherwise in that for Intel's CPUs. The last arguments are the
/// operands of the assembly.
#define POLYKEM_PERMUTE(LOAD, LOAD_WAITING, SCALAR, NEXT, ...) \
  if (form == KeccakForm::kZen5) { \
    asm volatile(POLYKEM_PERMUTE_ZEN5(LOAD, SCALAR, NEXT) __VA_ARGS__); \
  } else { \
    asm volatile(POLYKEM_PERMUTE_INTEL(LOAD, LOAD_WAITING, SCALAR, NEXT) __VA_ARGS__); \
  }
#define POLYKEM_VECTORS_CHANGED \
  "memory", "cc", "zmm0", "zmm1", "zmm2", "zmm3", "zmm4", "zmm5", "zmm6", "zmm7", "zmm8", "zmm9", "zmm10", "zmm11", \
  "zmm12", "zmm13", "zmm14", "zmm15", "zmm16", "zmm17", "zmm18", "zmm19", "zmm20", "zmm21", "zmm22", "zmm23", \
  "zmm24", "zmm25", "zmm26", "zmm27", "zmm28", "zmm29", "zmm30", "zmm31"
#define POLYKEM_NOTHING(l)

/// The operand for the word of state l that is `offset` bytes from what `base` points to.
#define POLYKEM_WORD(base, offset, l) #offset "+8*" #l "(%[" #base "])"
#define POLYKEM_LOAD_WORD(base, offset, l, to) "movq " POLYKEM_WORD(base, offset, l) ", %[" #to "]\n\t"

// POLYKEM_TO_ROW and POLYKEM_FROM_ROW copy three words of state l to and from its row.
#define POLYKEM_COPY(from, to) "movq " from ", %[a]\n\t" "movq %[a], " to "\n\t"
#define POLYKEM_ROW(l) "movq 8*" #l "(%[rows]), %[row]\n\t"
#define POLYKEM_TO_ROW(l) \
  POLYKEM_ROW(l) \
  POLYKEM_COPY(POLYKEM_WORD(words, 0, l), "(%[row],%[at])") \
  POLYKEM_COPY(POLYKEM_WORD(words, 64, l), "8(%[row],%[at])") \
  POLYKEM_COPY(POLYKEM_WORD(words, 128, l), "16(%[row],%[at])")
#define POLYKEM_FROM_ROW(l) \
  POLYKEM_ROW(l) \
  POLYKEM_COPY("(%[row],%[at])", POLYKEM_WORD(words, 0, l)) \
  POLYKEM_COPY("8(%[row],%[at])", POLYKEM_WORD(words, 64, l)) \
  POLYKEM_COPY("16(%[row],%[at])", POLYKEM_WORD(words, 128, l))
/// Goes on to the next three words. The last iterations step back so that three words are left; they copy some again.
#define POLYKEM_NEXT_WORDS \
  "add $192, %[words]\n\t" \
  "cmp %[last], %[words]\n\t" \
  "cmova %[last], %[words]\n\t" \
  "add $24, %[at]\n\t" \
  "cmp %[last_at], %[at]\n\t" \
  "cmova %[last_at], %[at]\n\t"

// Three words of state l are four times 48 bits, which are 16 integers of 12 bits. PDEP spreads four of them and
// ignores the upper 16 bits of its input, so the last 48 bits are loaded with the two bytes that follow.
#define POLYKEM_SPREAD(from, to, out, n, l) \
  "pdepq %[mask], %[" #from "], %[" #to "]\n\t" \
  "movq %[" #to "], 8*" #n "+" #l "*%c[row_bytes](%[" #out "])\n\t"
#define POLYKEM_UNPACK_WORDS(base, out, l) \
  POLYKEM_LOAD_WORD(base, 0, l, a) POLYKEM_LOAD_WORD(base, 64, l, b) \
  POLYKEM_SPREAD(a, c, out, 0, l) \
  "shrdq $48, %[b], %[a]\n\t" POLYKEM_SPREAD(a, a, out, 1, l) \
  POLYKEM_LOAD_WORD(base, 128, l, c) \
  "shrdq $32, %[c], %[b]\n\t" POLYKEM_SPREAD(b, b, out, 2, l) \
  POLYKEM_LOAD_WORD(base, 128+2, l, c) POLYKEM_SPREAD(c, c, out, 3, l)
#define POLYKEM_UNPACK12(l) POLYKEM_UNPACK_WORDS(words, rows, l)
#define POLYKEM_NEXT_UNPACKED \
  "add $192, %[words]\n\t" \
  "add $32, %[rows]\n\t"
/// Goes on to the next three words. Words 18 to 20 do not fit into six iterations, so each of the first four iterations
/// also unpacks those of two states.
#define POLYKEM_NEXT_UNPACKED_AND_LAST \
  POLYKEM_NEXT_UNPACKED \
  "lea 64(%[iota]), %[a]\n\t" \
  "cmp %[end], %[a]\n\t" \
  "jae 2f\n\t" \
  POLYKEM_UNPACK_WORDS(last, last_rows, 0) POLYKEM_UNPACK_WORDS(last, last_rows, 1) \
  "add $16, %[last]\n\t" \
  "add $2*%c[row_bytes], %[last_rows]\n" \
  "2:\n\t"
// clang-format on

/// Permutes eight states in place by Keccak-f[1600]: word w of state i is states[8 w + i], 64-byte aligned. `iota`
/// points to the 24 round constants. [FIPS202, 3.3]
POLYKEM_NOINLINE inline void keccak_permute8(uint64_t* states, const uint64_t* iota, KeccakForm form = keccak_form()) {
  const uint64_t* const end = iota + 24;
  POLYKEM_PERMUTE(POLYKEM_LOAD, POLYKEM_LOAD, POLYKEM_NOTHING, "",
                  : [iota] "+&r"(iota)
                  : [to] "r"(states), [from] "r"(states), [end] "r"(end)
                  : POLYKEM_VECTORS_CHANGED)
}

/// The mask of four integers of 12 bits, in 16 bits each.
inline constexpr uint64_t kTwelveBits = 0x0fff0fff0fff0fff;
/// The number of words of a state that six iterations move, three in each.
inline constexpr size_t kOverlappedWords = 18;

// The following functions permute from `from` to `to`, which may be the same. Meanwhile general registers, whose units
// are idle, move what vectors would have to transpose: words of eight states at `words`, which are not `to`, to or from
// rows.

#define POLYKEM_PERMUTE_AND_COPY(LOAD, LOAD_WAITING, COPY)                                                         \
  const uint64_t *const end = iota + 24, *const last = words + (count - 3) * 8;                                    \
  const size_t last_at = at + (count - 3) * 8;                                                                     \
  uint64_t a;                                                                                                      \
  uint8_t* row;                                                                                                    \
  POLYKEM_PERMUTE(                                                                                                 \
      LOAD, LOAD_WAITING, COPY, POLYKEM_NEXT_WORDS,                                                                \
      : [iota] "+&r"(iota), [words] "+&r"(words), [at] "+&r"(at), [row] "=&r"(row), [a] "=&r"(a)                   \
      : [to] "r"(to), [from] "r"(from), [end] "r"(end), [rows] "r"(rows), [last] "r"(last), [last_at] "r"(last_at) \
      : POLYKEM_VECTORS_CHANGED)

/// Permutes, and copies words 0 to count - 1 of state l at `words` to row l, at rows[l] + at;
/// 3 <= count <= kOverlappedWords.
POLYKEM_NOINLINE inline void keccak_permute8_to_rows(uint64_t* to, const uint64_t* from, const uint64_t* iota,
                                                     const uint64_t* words, uint8_t* const* rows, size_t at,
                                                     size_t count, KeccakForm form = keccak_form()){
    POLYKEM_PERMUTE_AND_COPY(POLYKEM_LOAD, POLYKEM_MOVE_WORD, POLYKEM_TO_ROW)}

/// Adds what is at `words`, 25 words of each state, to the states and permutes them. Meanwhile copies row l, at
/// rows[l] + at, to words 0 to count - 1 of state l at `words`; 3 <= count <= kOverlappedWords.
POLYKEM_NOINLINE inline void keccak_permute8_from_rows(uint64_t* to, const uint64_t* from, const uint64_t* iota,
                                                       uint64_t* words, const uint8_t* const* rows, size_t at,
                                                       size_t count, KeccakForm form = keccak_form()) {
  POLYKEM_PERMUTE_AND_COPY(POLYKEM_LOAD_SUM, POLYKEM_MOVE_SUM, POLYKEM_FROM_ROW)
}

/// Permutes, and writes the 112 integers of 12 bits in words 0 to 20 of state l at `words` to row l, at
/// rows + l * kRowBytes, in 16 bits each.
template <size_t kRowBytes>
POLYKEM_NOINLINE void keccak_permute8_unpack12(uint64_t* to, const uint64_t* from, const uint64_t* iota,
                                               const uint64_t* words, uint8_t* rows, KeccakForm form = keccak_form()) {
  const uint64_t* const end = iota + 24;
  const uint64_t* last = words + kOverlappedWords * 8;
  uint8_t* last_rows = rows + kOverlappedWords / 3 * 32;
  uint64_t a, b, c;
  POLYKEM_PERMUTE(POLYKEM_LOAD, POLYKEM_MOVE_WORD, POLYKEM_UNPACK12, POLYKEM_NEXT_UNPACKED_AND_LAST,
                  : [iota] "+&r"(iota), [words] "+&r"(words), [rows] "+&r"(rows), [last] "+&r"(last),
                    [last_rows] "+&r"(last_rows), [a] "=&r"(a), [b] "=&r"(b), [c] "=&r"(c)
                  : [to] "r"(to), [from] "r"(from), [end] "r"(end), [mask] "r"(kTwelveBits), [row_bytes] "i"(kRowBytes)
                  : POLYKEM_VECTORS_CHANGED)
}

/// Writes the rows of keccak_permute8_unpack12() without a permutation.
template <size_t kRowBytes>
void unpack12(const uint64_t* words, uint8_t* rows) {
  const uint64_t* const end = words + size_t{21 * 8};
  uint64_t a, b, c;
  asm volatile("1:\n\t"                                                                         //
               POLYKEM_UNPACK12(0) POLYKEM_UNPACK12(1) POLYKEM_UNPACK12(2) POLYKEM_UNPACK12(3)  //
               POLYKEM_UNPACK12(4) POLYKEM_UNPACK12(5) POLYKEM_UNPACK12(6) POLYKEM_UNPACK12(7)  //
               POLYKEM_NEXT_UNPACKED
               "cmp %[end], %[words]\n\t"
               "jne 1b\n\t"
               : [words] "+&r"(words), [rows] "+&r"(rows), [a] "=&r"(a), [b] "=&r"(b), [c] "=&r"(c)
               : [end] "r"(end), [mask] "r"(kTwelveBits), [row_bytes] "i"(kRowBytes)
               : "memory", "cc");
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::keccak
