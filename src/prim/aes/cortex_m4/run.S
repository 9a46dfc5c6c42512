// SPDX-License-Identifier: Apache-2.0
// Encrypts blocks that differ in one byte with AES-128, by a look-up table: see aes128_m4.cpp. [FIPS197, 5.1]
//
// r3 points to the table, r12 to the run's SharedRounds. r4 to r7 and r8 to r11 hold the columns before and after a
// round, in turn. s0 holds the output pointer, s1 the byte in which the blocks differ, s2 the value at which it ends.
// All of it is public.
  .syntax unified
  .cpu cortex-m4
  .fpu fpv4-sp-d16
  .thumb

  .equ kColumn2, 16
  .equ kKeyByte, 20
  .equ kKeys, 24

// Sets \to to the word of the round keys at offset \key, plus (xor) what row 0 of \c0, row 1 of \c1, row 2 of \c2 and
// row 3 of \c3 add.
  .macro column to, key, c0, c1, c2, c3
  uxtb r0, \c0
  ubfx r1, \c1, #8, #8
  ubfx r2, \c2, #16, #8
  lsr lr, \c3, #24
  ldr \to, [r12, #(kKeys + \key)]
  ldr r0, [r3, r0, lsl #2]
  ldr r1, [r3, r1, lsl #2]
  ldr r2, [r3, r2, lsl #2]
  ldr lr, [r3, lr, lsl #2]
  eor \to, \to, r0
  eor \to, \to, r1, ror #24
  eor \to, \to, r2, ror #16
  eor \to, \to, lr, ror #8
  .endm

  .macro round key, t0, t1, t2, t3, c0, c1, c2, c3
  column \t0, \key, \c0, \c1, \c2, \c3
  column \t1, (\key + 4), \c1, \c2, \c3, \c0
  column \t2, (\key + 8), \c2, \c3, \c0, \c1
  column \t3, (\key + 12), \c3, \c0, \c1, \c2
  .endm

  .macro two_rounds key
  round \key, r4, r5, r6, r7, r8, r9, r10, r11
  round (\key + 16), r8, r9, r10, r11, r4, r5, r6, r7
  .endm

// Computes a column of the last round, which has no MixColumns. The second byte of a word of the table is the S-box's
// value itself; r3 points to that byte.
  .macro last_column to, key, c0, c1, c2, c3
  uxtb r0, \c0
  ubfx r1, \c1, #8, #8
  ubfx r2, \c2, #16, #8
  lsr lr, \c3, #24
  ldr \to, [r12, #(kKeys + \key)]
  ldrb r0, [r3, r0, lsl #2]
  ldrb r1, [r3, r1, lsl #2]
  ldrb r2, [r3, r2, lsl #2]
  ldrb lr, [r3, lr, lsl #2]
  eor \to, \to, r0
  eor \to, \to, r1, lsl #8
  eor \to, \to, r2, lsl #16
  eor \to, \to, lr, lsl #24
  .endm

// void polykem_aes128_run(uint16_t* out, const Run* run, uint32_t end, const uint32_t* table)
  .section .text.polykem_aes128_run, "ax", %progbits
  .align 2
  .global polykem_aes128_run
  .type polykem_aes128_run, %function
  .thumb_func
polykem_aes128_run:
  push {r4, r5, r6, r7, r8, r9, r10, r11, lr}
  mov r12, r1
  vmov s0, r0
  mov r0, #0
  vmov s1, r0
  vmov s2, r2
1:
  vmov r0, s1
  ldr r1, [r12, #kKeyByte]
  ldr r2, [r12, #kColumn2]
  eor r1, r1, r0
  ldr r1, [r3, r1, lsl #2]
  eor r2, r2, r1, ror #16
  uxtb r0, r2
  ubfx r1, r2, #8, #8
  ubfx lr, r2, #16, #8
  lsr r2, r2, #24
  ldr r8, [r12]
  ldr r9, [r12, #4]
  ldr r10, [r12, #8]
  ldr r11, [r12, #12]
  ldr r0, [r3, r0, lsl #2]
  ldr r1, [r3, r1, lsl #2]
  ldr lr, [r3, lr, lsl #2]
  ldr r2, [r3, r2, lsl #2]
  eor r10, r10, r0
  eor r9, r9, r1, ror #24
  eor r8, r8, lr, ror #16
  eor r11, r11, r2, ror #8
  two_rounds 0
  two_rounds 32
  two_rounds 64
  round 96, r4, r5, r6, r7, r8, r9, r10, r11
  add r3, #1
  last_column r8, 112, r4, r5, r6, r7
  last_column r9, 116, r5, r6, r7, r4
  last_column r10, 120, r6, r7, r4, r5
  last_column r11, 124, r7, r4, r5, r6
  sub r3, #1
  vmov r0, s0
  str r8, [r0], #4
  str r9, [r0], #4
  str r10, [r0], #4
  str r11, [r0], #4
  vmov s0, r0
  vmov r1, s1
  vmov r2, s2
  add r1, #8
  vmov s1, r1
  cmp r1, r2
  bne.w 1b
  pop {r4, r5, r6, r7, r8, r9, r10, r11, pc}
  .size polykem_aes128_run, . - polykem_aes128_run
