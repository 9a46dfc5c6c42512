// SPDX-License-Identifier: Apache-2.0
// The rounds of Keccak-f[1600] on a bit-interleaved state: lane i is a word of its even bits at 8 i and one of its odd
// bits at 8 i + 4. A rotation of a lane by an even number rotates both words by half of it; by an odd number it also
// swaps them. [FIPS202, 3.2]
  .syntax unified
  .cpu cortex-m4
  .thumb

  .equ kConstants, 40  // on the stack: after the ten words that theta adds to the columns
  .equ kOther, 48      // and the state after every other round
  .equ kFrame, 248

// \sum = the parity of column \x, words of half \half.
  .macro parity sum, in, x, half
  ldr \sum, [\in, #(8 * \x + 4 * \half)]
  ldr r12, [\in, #(8 * \x + 40 + 4 * \half)]
  ldr lr, [\in, #(8 * \x + 80 + 4 * \half)]
  eor \sum, \sum, r12
  eor \sum, \sum, lr
  ldr r12, [\in, #(8 * \x + 120 + 4 * \half)]
  ldr lr, [\in, #(8 * \x + 160 + 4 * \half)]
  eor \sum, \sum, r12
  eor \sum, \sum, lr
  .endm

// What theta adds to column \x, from the parities of its neighbours.
  .macro change x, even_before, odd_before, even_after, odd_after
  eor r12, \even_before, \odd_after, ror #31
  eor lr, \odd_before, \even_after
  strd r12, lr, [sp, #(8 * \x)]
  .endm

  .macro theta in
  parity r2, \in, 0, 0
  parity r3, \in, 1, 0
  parity r4, \in, 2, 0
  parity r5, \in, 3, 0
  parity r6, \in, 4, 0
  parity r7, \in, 0, 1
  parity r8, \in, 1, 1
  parity r9, \in, 2, 1
  parity r10, \in, 3, 1
  parity r11, \in, 4, 1
  change 0, r6, r11, r3, r8
  change 1, r2, r7, r4, r9
  change 2, r3, r8, r5, r10
  change 3, r4, r9, r6, r11
  change 4, r5, r10, r2, r7
  .endm

// The word of lane \lane that becomes half \half of it after a rotation to the left by \by.
  .macro load to, base, lane, by, half
  .if \by % 2 == 0
  ldr \to, [\base, #(8 * (\lane) + 4 * \half)]
  .else
  ldr \to, [\base, #(8 * (\lane) + 4 - 4 * \half)]
  .endif
  .endm

// Adds what theta changes, and rotates.
  .macro rotate word, change, by, half
  eor \word, \word, \change
  .if \by % 2 == 0
  .if \by > 0
  ror \word, \word, #(32 - \by / 2)
  .endif
  .elseif \half == 0
  ror \word, \word, #(32 - (\by + 1) / 2)
  .elseif \by > 1
  ror \word, \word, #(32 - (\by - 1) / 2)
  .endif
  .endm

  .macro chi out, at, b0, b1, b2
  bic r12, \b2, \b1
  eor r12, r12, \b0
  str r12, [\out, #\at]
  .endm

  .macro half_row in, out, y, half, l0, b0, l1, b1, l2, b2, l3, b3, l4, b4
  load r2, \in, \l0, \b0, \half
  load r3, \in, \l1, \b1, \half
  load r4, \in, \l2, \b2, \half
  load r5, \in, \l3, \b3, \half
  load r6, \in, \l4, \b4, \half
  load r7, sp, (\l0 % 5), \b0, \half
  load r8, sp, (\l1 % 5), \b1, \half
  load r9, sp, (\l2 % 5), \b2, \half
  load r10, sp, (\l3 % 5), \b3, \half
  load r11, sp, (\l4 % 5), \b4, \half
  rotate r2, r7, \b0, \half
  rotate r3, r8, \b1, \half
  rotate r4, r9, \b2, \half
  rotate r5, r10, \b3, \half
  rotate r6, r11, \b4, \half
  .if \y == 0
  ldr lr, [sp, #kConstants]
  ldr r7, [lr], #4
  str lr, [sp, #kConstants]
  bic r12, r4, r3
  eor r12, r12, r2
  eor r12, r12, r7
  str r12, [\out, #(4 * \half)]
  .else
  chi \out, (40 * \y + 4 * \half), r2, r3, r4
  .endif
  chi \out, (40 * \y + 8 + 4 * \half), r3, r4, r5
  chi \out, (40 * \y + 16 + 4 * \half), r4, r5, r6
  chi \out, (40 * \y + 24 + 4 * \half), r5, r6, r2
  chi \out, (40 * \y + 32 + 4 * \half), r6, r2, r3
  .endm

// Row \y after rho and pi: the lanes that come there and their rotations. [FIPS202, 3.2.2 and 3.2.3]
  .macro row in, out, y, l0, b0, l1, b1, l2, b2, l3, b3, l4, b4
  half_row \in, \out, \y, 0, \l0, \b0, \l1, \b1, \l2, \b2, \l3, \b3, \l4, \b4
  half_row \in, \out, \y, 1, \l0, \b0, \l1, \b1, \l2, \b2, \l3, \b3, \l4, \b4
  .endm

  .macro round in, out
  theta \in
  row \in, \out, 0, 0, 0, 6, 44, 12, 43, 18, 21, 24, 14
  row \in, \out, 1, 3, 28, 9, 20, 10, 3, 16, 45, 22, 61
  row \in, \out, 2, 1, 1, 7, 6, 13, 25, 19, 8, 20, 18
  row \in, \out, 3, 4, 27, 5, 36, 11, 10, 17, 15, 23, 56
  row \in, \out, 4, 2, 62, 8, 55, 14, 39, 15, 41, 21, 2
  .endm

// void polykem_keccak_rounds(uint32_t state[50], const uint32_t* constants, const uint32_t* end): two words of a constant
// for each round, an even number of rounds.
  .section .text.polykem_keccak_rounds, "ax", %progbits
  .align 2
  .global polykem_keccak_rounds
  .type polykem_keccak_rounds, %function
  .thumb_func
polykem_keccak_rounds:
  push {r4, r5, r6, r7, r8, r9, r10, r11, lr}
  sub sp, #kFrame
  str r1, [sp, #kConstants]
  str r2, [sp, #(kConstants + 4)]
  add r1, sp, #kOther
1:
  round r0, r1
  round r1, r0
  ldrd r2, r3, [sp, #kConstants]
  cmp r2, r3
  bne 1b
  add sp, #kFrame
  pop {r4, r5, r6, r7, r8, r9, r10, r11, pc}
  .size polykem_keccak_rounds, . - polykem_keccak_rounds
