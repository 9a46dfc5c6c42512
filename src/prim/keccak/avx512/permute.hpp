// SPDX-License-Identifier: Apache-2.0
// Keccak-f[1600] on eight states, a state in each 64-bit lane, in the 32 registers of 512 bits. In assembly, since
// compilers spill where registers are exactly enough: see src/prim/keccak/README.md.
#pragma once

#include <cstddef>
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
#define POLYKEM_AT(word) POLYKEM_TEXT(word) "*64(%[to])"
#define POLYKEM_LOAD(n) "vmovdqa64 " POLYKEM_TEXT(n) "*64(%[from]), " POLYKEM_Z(n) "\n\t"
#define POLYKEM_LOAD_SUM(n) \
  POLYKEM_LOAD(n) "vpxorq " POLYKEM_TEXT(n) "*64(%[words]), " POLYKEM_Z(n) ", " POLYKEM_Z(n) "\n\t"
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
#define POLYKEM_STORE_WORD(n) POLYKEM_STORE(n, n)
/// The sum of a column whose words are n, which waits in memory, and a to d.
#define POLYKEM_SUM(LOAD, n, a, b, c, d) \
  LOAD(n) POLYKEM_STORE_WORD(n) POLYKEM_XOR3(n, a, b) POLYKEM_XOR3(n, c, d)
#define POLYKEM_SUMS(LOAD) \
  POLYKEM_SUM(LOAD, 15, 0, 5, 10, 20) POLYKEM_SUM(LOAD, 21, 1, 6, 11, 16) POLYKEM_SUM(LOAD, 2, 7, 12, 17, 22) \
  POLYKEM_SUM(LOAD, 8, 3, 13, 18, 23) POLYKEM_SUM(LOAD, 14, 4, 9, 19, 24)

/// Six turns of four rounds. Meanwhile BESIDE(l) does something for each state l, and NEXT leads it to its next words.
#define POLYKEM_PERMUTATION(LOAD, BESIDE, NEXT) \
  POLYKEM_EACH_WORD(LOAD) POLYKEM_SUMS(LOAD) \
  ".p2align 5\n" \
  "1:\n\t" POLYKEM_FOUR_ROUNDS(BESIDE) NEXT \
  "add $32, %[iota]\n\t" \
  "cmp %[end], %[iota]\n\t" \
  "jne 1b\n\t" POLYKEM_EACH_WORD(POLYKEM_STORE_WORD)
#define POLYKEM_VECTORS_CHANGED \
  "memory", "cc", "zmm0", "zmm1", "zmm2", "zmm3", "zmm4", "zmm5", "zmm6", "zmm7", "zmm8", "zmm9", "zmm10", "zmm11", \
  "zmm12", "zmm13", "zmm14", "zmm15", "zmm16", "zmm17", "zmm18", "zmm19", "zmm20", "zmm21", "zmm22", "zmm23", \
  "zmm24", "zmm25", "zmm26", "zmm27", "zmm28", "zmm29", "zmm30", "zmm31"
#define POLYKEM_NOTHING(l)
#define POLYKEM_EACH_STATE(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)

// Words w, w + 1 and w + 2 of state l to or from bytes of a row; what follows begins again if too few are left.
#define POLYKEM_ROW(l) "movq 8*" #l "(%[rows]), %[row]\n\t"
#define POLYKEM_WORD(l, n) "64*" #n "+8*" #l "(%[words])"
#define POLYKEM_COPY(from, to) "movq " from ", %[a]\n\t" "movq %[a], " to "\n\t"
#define POLYKEM_WORDS_TO_ROW(l) \
  POLYKEM_ROW(l) \
  POLYKEM_COPY(POLYKEM_WORD(l, 0), "(%[row],%[at])") \
  POLYKEM_COPY(POLYKEM_WORD(l, 1), "8(%[row],%[at])") \
  POLYKEM_COPY(POLYKEM_WORD(l, 2), "16(%[row],%[at])")
#define POLYKEM_ROW_TO_WORDS(l) \
  POLYKEM_ROW(l) \
  POLYKEM_COPY("(%[row],%[at])", POLYKEM_WORD(l, 0)) \
  POLYKEM_COPY("8(%[row],%[at])", POLYKEM_WORD(l, 1)) \
  POLYKEM_COPY("16(%[row],%[at])", POLYKEM_WORD(l, 2))
#define POLYKEM_NEXT_WORDS \
  "add $192, %[words]\n\t" \
  "cmp %[last], %[words]\n\t" \
  "cmova %[last], %[words]\n\t" \
  "add $24, %[at]\n\t" \
  "cmp %[last_at], %[at]\n\t" \
  "cmova %[last_at], %[at]\n\t"

/// Four times 48 bits of three words of state l at `words` to row l of those at `row`. The last ones are loaded from
/// where they begin.
#define POLYKEM_SPREAD(l, row, n, x, to) \
  "pdepq %[mask], %[" #x "], %[" #to "]\n\t" \
  "movq %[" #to "], 8*" #n "+" #l "*%c[row_bytes](%[" #row "])\n\t"
#define POLYKEM_WORD_OF(words, bytes, l, to) "movq " #bytes "+8*" #l "(%[" #words "]), %[" #to "]\n\t"
#define POLYKEM_TWELVES(words, row, l) \
  POLYKEM_WORD_OF(words, 0, l, a) POLYKEM_WORD_OF(words, 64, l, b) \
  POLYKEM_SPREAD(l, row, 0, a, c) \
  "shrdq $48, %[b], %[a]\n\t" POLYKEM_SPREAD(l, row, 1, a, a) \
  POLYKEM_WORD_OF(words, 128, l, c) \
  "shrdq $32, %[c], %[b]\n\t" POLYKEM_SPREAD(l, row, 2, b, b) \
  POLYKEM_WORD_OF(words, 130, l, c) POLYKEM_SPREAD(l, row, 3, c, c)
#define POLYKEM_TWELVES_TO_ROW(l) POLYKEM_TWELVES(words, rows, l)
#define POLYKEM_NEXT_FOUR \
  "add $192, %[words]\n\t" \
  "add $32, %[rows]\n\t"
/// In six turns, words 18 to 20 of the eight states are done in four, two states in each.
#define POLYKEM_NEXT_TWELVES \
  POLYKEM_NEXT_FOUR \
  "lea 64(%[iota]), %[a]\n\t" \
  "cmp %[end], %[a]\n\t" \
  "jae 2f\n\t" \
  POLYKEM_TWELVES(last, last_rows, 0) POLYKEM_TWELVES(last, last_rows, 1) \
  "add $16, %[last]\n\t" \
  "add $2*%c[row_bytes], %[last_rows]\n" \
  "2:\n\t"
// clang-format on

/// Keccak-f[1600] on eight states: word w of state i at from[8 w + i], and then at to[8 w + i], 64-byte aligned. `to`
/// may be `from`; iota: the 24 round constants. [FIPS202, 3.3]
POLYKEM_NOINLINE inline void keccak_permute8(uint64_t* to, const uint64_t* from, const uint64_t* iota) {
  const uint64_t* const end = iota + 24;
  asm volatile(POLYKEM_PERMUTATION(POLYKEM_LOAD, POLYKEM_NOTHING, "")
               : [iota] "+r"(iota)
               : [to] "r"(to), [from] "r"(from), [end] "r"(end)
               : POLYKEM_VECTORS_CHANGED);
}

// The same, and meanwhile general registers, whose units are idle, move what vectors would have to transpose: words of
// eight states at `words`, which are not `to`, to or from rows.
inline constexpr size_t kWordsBeside = 18;

#define POLYKEM_PERMUTE_BESIDE_COPIES(LOAD, COPY)                                                                  \
  const uint64_t *const end = iota + 24, *const last = words + (count - 3) * 8;                                    \
  const size_t last_at = at + (count - 3) * 8;                                                                     \
  uint64_t a;                                                                                                      \
  uint8_t* row;                                                                                                    \
  asm volatile(                                                                                                    \
      POLYKEM_PERMUTATION(LOAD, COPY, POLYKEM_NEXT_WORDS)                                                          \
      : [iota] "+r"(iota), [words] "+r"(words), [at] "+r"(at), [row] "=&r"(row), [a] "=&r"(a)                      \
      : [to] "r"(to), [from] "r"(from), [end] "r"(end), [rows] "r"(rows), [last] "r"(last), [last_at] "r"(last_at) \
      : POLYKEM_VECTORS_CHANGED)

/// Row l, at rows[l] + at, = words 0 to count - 1 of state l, 3 <= count <= kWordsBeside.
POLYKEM_NOINLINE inline void keccak_permute8_to_rows(uint64_t* to, const uint64_t* from, const uint64_t* iota,
                                                     const uint64_t* words, uint8_t* const* rows, size_t at,
                                                     size_t count) {
  POLYKEM_PERMUTE_BESIDE_COPIES(POLYKEM_LOAD, POLYKEM_WORDS_TO_ROW);
}

/// The states absorb what is at `words`, 25 words of each, before they are permuted. Then words 0 to count - 1 of state
/// l there = row l, at rows[l] + at, 3 <= count <= kWordsBeside.
POLYKEM_NOINLINE inline void keccak_permute8_from_rows(uint64_t* to, const uint64_t* from, const uint64_t* iota,
                                                       uint64_t* words, const uint8_t* const* rows, size_t at,
                                                       size_t count) {
  POLYKEM_PERMUTE_BESIDE_COPIES(POLYKEM_LOAD_SUM, POLYKEM_ROW_TO_WORDS);
}

/// Row l, at rows + l * kRowBytes, = the 112 integers of 12 bits in words 0 to 20 of state l, in 16 bits each.
template <size_t kRowBytes>
POLYKEM_NOINLINE void keccak_permute8_to_twelves(uint64_t* to, const uint64_t* from, const uint64_t* iota,
                                                 const uint64_t* words, uint8_t* rows) {
  const uint64_t* const end = iota + 24;
  const uint64_t* last = words + size_t{18 * 8};
  uint8_t* last_rows = rows + 6 * 32;
  uint64_t a, b, c;
  asm volatile(POLYKEM_PERMUTATION(POLYKEM_LOAD, POLYKEM_TWELVES_TO_ROW, POLYKEM_NEXT_TWELVES)
               : [iota] "+r"(iota), [words] "+r"(words), [rows] "+r"(rows), [last] "+r"(last),
                 [last_rows] "+r"(last_rows), [a] "=&r"(a), [b] "=&r"(b), [c] "=&r"(c)
               : [to] "r"(to), [from] "r"(from), [end] "r"(end), [mask] "r"(uint64_t{0x0fff0fff0fff0fff}),
                 [row_bytes] "i"(kRowBytes)
               : POLYKEM_VECTORS_CHANGED);
}

/// The rows without a permutation.
template <size_t kRowBytes>
void words_to_twelves(const uint64_t* words, uint8_t* rows) {
  const uint64_t* const end = words + size_t{21 * 8};
  uint64_t a, b, c;
  asm volatile("1:\n\t" POLYKEM_EACH_STATE(POLYKEM_TWELVES_TO_ROW) POLYKEM_NEXT_FOUR
               "cmp %[end], %[words]\n\t"
               "jne 1b\n\t"
               : [words] "+r"(words), [rows] "+r"(rows), [a] "=&r"(a), [b] "=&r"(b), [c] "=&r"(c)
               : [end] "r"(end), [mask] "r"(uint64_t{0x0fff0fff0fff0fff}), [row_bytes] "i"(kRowBytes)
               : "memory", "cc");
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::lanes
