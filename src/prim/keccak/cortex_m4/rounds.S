// SPDX-License-Identifier: Apache-2.0
// Computes the rounds of Keccak-f[1600] on a bit-interleaved state: lane (x, y) is a word of its even bits at
// 8 (x + 5 y) and one of its odd bits 4 further. A rotation of a lane by an even number rotates both words by half of
// it; by an odd number it also swaps them. [FIPS202, 3.2]
//
// No rotation of rho is executed. Logic instructions on this processor rotate one operand at no cost, so a lane is
// stored as chi leaves it, and the rotation that it lacks, its turn, is a constant of its place. These constants must
// be the same after every round. Rho and pi move 24 lanes along one cycle, on which each turn is the one before plus
// rho's offset, except at one place, where chi's result is rotated. The first round begins and the last one ends
// without turns.
//
// r0 and r1 point to the state before and after a round. r2 to r6 hold the lanes of a row, and r7 to r11 the parities
// of the columns, which grow as rows are stored. lr points to the next constant. s0 to s4 and s10 to s14 hold what
// theta adds to the even and the odd words of the columns, s5 to s9 the parities of the even words, and s15 the
// constant at which the loop ends.
  .syntax unified
  .cpu cortex-m4
  .fpu fpv4-sp-d16
  .thumb

  .equ kFrame, 200  // the state after every other round

// The turns along the cycle of pi, (x, y) -> (y, 2 x + 3 y), with the offsets of rho. [FIPS202, 3.2.2 and 3.2.3]
  .set turn_0_0, 0
  .set turn_1_0, 0
  .set turn_0_2, turn_1_0 + 1
  .set turn_2_1, turn_0_2 + 3
  .set turn_1_2, turn_2_1 + 6
  .set turn_2_3, turn_1_2 + 10
  .set turn_3_3, turn_2_3 + 15
  .set turn_3_0, turn_3_3 + 21
  .set turn_0_1, turn_3_0 + 28
  .set turn_1_3, turn_0_1 + 36
  .set turn_3_1, turn_1_3 + 45
  .set turn_1_4, turn_3_1 + 55
  .set turn_4_4, turn_1_4 + 2
  .set turn_4_0, turn_4_4 + 14
  .set turn_0_3, turn_4_0 + 27
  .set turn_3_4, turn_0_3 + 41
  .set turn_4_3, turn_3_4 + 56
  .set turn_3_2, turn_4_3 + 8
  .set turn_2_2, turn_3_2 + 25
  .set turn_2_0, turn_2_2 + 43
  .set turn_0_4, turn_2_0 + 62
  .set turn_4_2, turn_0_4 + 18
  .set turn_2_4, turn_4_2 + 39
  .set turn_4_1, turn_2_4 + 61
  .set turn_1_1, turn_4_1 + 20

// Executes \op \to, \a, \b with \b rotated to the right by \by.
  .macro rotated op, to, a, b, by
  .if ((\by) & 31) == 0
  \op \to, \a, \b
  .else
  \op \to, \a, \b, ror #((\by) & 31)
  .endif
  .endm

// Sets \name to the rotation to the left that half \h of a lane lacks if the lane lacks \by.
  .macro part name, by, h
  .set \name, (((\by) & 63) + 1 - \h) >> 1
  .endm

// Loads the word that pi brings to column \i: of lane (\x, \i), which rho rotates by \by, the word that becomes half
// \h.
  .macro load to, in, i, x, by, h, from
  .set before_\i, \from * turn_\x\()_\i + \by
  part lacks_\i, before_\i, \h
  ldr \to, [\in, #(8 * (\x + 5 * \i) + 4 * ((before_\i + \h) & 1))]
  .endm

// Adds to \word what theta adds to column \x.
  .macro add_theta word, i, x, by, h
  part moved, \by, \h
  .if ((\by + \h) & 1) == 0
  vmov r12, s\x
  rotated eor, \word, \word, r12, (lacks_\i - theta_\x\()_0 - moved)
  .else
  vmov r12, s1\x
  rotated eor, \word, \word, r12, (lacks_\i - theta_\x\()_1 - moved)
  .endif
  .endm

// Computes half \h of lane (\i, \y) of the new state from the words of columns \i, \j and \k; \to is the register of
// chi's result.
  .macro chi out, y, h, to, sum, i, b0, j, b1, k, b2, x, by, to_turns, sums
  rotated bic, r12, \b2, \b1, (lacks_\k - lacks_\j)
  rotated eor, \to, \b0, r12, (lacks_\i - lacks_\k)
  .if \y == 0 && \i == 0
  ldr r12, [lr], #4
  eor \to, \to, r12
  .endif
  .if \y == 0 && \i == 1
  .set after, 0
  .else
  .set after, \to_turns * (turn_\x\()_\i + \by)
  .endif
  part still, after, \h
  .if ((still - lacks_\i) & 31) != 0
  ror \to, \to, #((still - lacks_\i) & 31)
  .endif
  str \to, [\out, #(8 * (\i + 5 * \y) + 4 * ((after + \h) & 1))]
  .if \y == 0
  .set sum_\i\()_\h, still
  .elseif \sums
  rotated eor, \sum, \sum, \to, (sum_\i\()_\h - still)
  .endif
  .endm

  .macro half_row in, out, y, h, from, to, sums, t0, t1, t2, t3, t4, x0, b0, x1, b1, x2, b2, x3, b3, x4, b4
  load r2, \in, 0, \x0, \b0, \h, \from
  load r3, \in, 1, \x1, \b1, \h, \from
  load r4, \in, 2, \x2, \b2, \h, \from
  load r5, \in, 3, \x3, \b3, \h, \from
  load r6, \in, 4, \x4, \b4, \h, \from
  add_theta r2, 0, \x0, \b0, \h
  add_theta r3, 1, \x1, \b1, \h
  add_theta r4, 2, \x2, \b2, \h
  add_theta r5, 3, \x3, \b3, \h
  add_theta r6, 4, \x4, \b4, \h
  chi \out, \y, \h, \t0, r7, 0, r2, 1, r3, 2, r4, \x0, \b0, \to, \sums
  chi \out, \y, \h, \t1, r8, 1, r3, 2, r4, 3, r5, \x1, \b1, \to, \sums
  chi \out, \y, \h, \t2, r9, 2, r4, 3, r5, 4, r6, \x2, \b2, \to, \sums
  chi \out, \y, \h, \t3, r10, 3, r5, 4, r6, 0, r2, \x3, \b3, \to, \sums
  chi \out, \y, \h, \t4, r11, 4, r6, 0, r2, 1, r3, \x4, \b4, \to, \sums
  .endm

  .macro half_round in, out, h, from, to, sums
  half_row \in, \out, 0, \h, \from, \to, \sums, r7, r8, r9, r10, r11, 0, 0, 1, 44, 2, 43, 3, 21, 4, 14
  half_row \in, \out, 1, \h, \from, \to, \sums, r12, r12, r12, r12, r12, 3, 28, 4, 20, 0, 3, 1, 45, 2, 61
  half_row \in, \out, 2, \h, \from, \to, \sums, r12, r12, r12, r12, r12, 1, 1, 2, 6, 3, 25, 4, 8, 0, 18
  half_row \in, \out, 3, \h, \from, \to, \sums, r12, r12, r12, r12, r12, 4, 27, 0, 36, 1, 10, 2, 15, 3, 56
  half_row \in, \out, 4, \h, \from, \to, \sums, r12, r12, r12, r12, r12, 2, 62, 3, 55, 4, 39, 0, 41, 1, 2
  .endm

  .macro keep_even_parities
  vmov s5, r7
  vmov s6, r8
  vmov s7, r9
  vmov s8, r10
  vmov s9, r11
  .endm

// Computes what theta adds to column \x, from the parities of columns \w to its left and \y to its right.
  .macro theta x, w, y, even_w, odd_w, even_y, odd_y
  rotated eor, r12, \even_w, \odd_y, (sum_\w\()_0 - sum_\y\()_1 - 1)
  vmov s\x, r12
  rotated eor, r12, \odd_w, \even_y, (sum_\w\()_1 - sum_\y\()_0)
  vmov s1\x, r12
  .set theta_\x\()_0, sum_\w\()_0
  .set theta_\x\()_1, sum_\w\()_1
  .endm

  .macro thetas
  vmov r2, s5
  vmov r3, s6
  vmov r4, s7
  vmov r5, s8
  vmov r6, s9
  theta 0, 4, 1, r6, r11, r3, r8
  theta 1, 0, 2, r2, r7, r4, r9
  theta 2, 1, 3, r3, r8, r5, r10
  theta 3, 2, 4, r4, r9, r6, r11
  theta 4, 3, 0, r5, r10, r2, r7
  .endm

// Computes a round. \from and \to are 1 if lanes have turns before and after it; \sums is 1 if a round follows.
  .macro round in, out, from, to, sums
  half_round \in, \out, 0, \from, \to, \sums
  .if \sums
  keep_even_parities
  .endif
  half_round \in, \out, 1, \from, \to, \sums
  .if \sums
  thetas
  .endif
  .endm

// Computes half \h of the parity of column \x of a state without turns.
  .macro parity sum, x, h
  ldr \sum, [r0, #(8 * \x + 4 * \h)]
  ldr r2, [r0, #(8 * \x + 40 + 4 * \h)]
  ldr r3, [r0, #(8 * \x + 80 + 4 * \h)]
  ldr r4, [r0, #(8 * \x + 120 + 4 * \h)]
  ldr r5, [r0, #(8 * \x + 160 + 4 * \h)]
  eor \sum, \sum, r2
  eor r3, r3, r4
  eor \sum, \sum, r5
  eor \sum, \sum, r3
  .set sum_\x\()_\h, 0
  .endm

  .macro parities h
  parity r7, 0, \h
  parity r8, 1, \h
  parity r9, 2, \h
  parity r10, 3, \h
  parity r11, 4, \h
  .endm

// Clears the floating-point registers, which held parities.
  .macro clear_parities
  mov r2, #0
  mov r3, #0
  vmov d0, r2, r3
  vmov d1, r2, r3
  vmov d2, r2, r3
  vmov d3, r2, r3
  vmov d4, r2, r3
  vmov d5, r2, r3
  vmov d6, r2, r3
  vmov d7, r2, r3
  .endm

// void polykem_keccak_rounds(uint32_t state[50], const uint32_t* constants, const uint32_t* end)
// The constants are two words for each of 24 rounds.
  .section .text.polykem_keccak_rounds, "ax", %progbits
  .align 2
  .global polykem_keccak_rounds
  .type polykem_keccak_rounds, %function
  .thumb_func
polykem_keccak_rounds:
  push {r4, r5, r6, r7, r8, r9, r10, r11, lr}
  sub sp, #kFrame
  mov lr, r1
  sub r2, r2, #8
  vmov s15, r2
  mov r1, sp
  parities 0
  keep_even_parities
  parities 1
  thetas
  round r0, r1, 0, 1, 1
1:
  round r1, r0, 1, 1, 1
  round r0, r1, 1, 1, 1
  vmov r12, s15
  cmp lr, r12
  bne.w 1b
  round r1, r0, 1, 0, 0
  clear_parities
  add sp, #kFrame
  pop {r4, r5, r6, r7, r8, r9, r10, r11, pc}
  .size polykem_keccak_rounds, . - polykem_keccak_rounds
