// SPDX-License-Identifier: Apache-2.0
// Computes the transform of ntt.hpp and its inverse, two coefficients in a register. Eight registers go through three
// layers at a time; the layer of neighbouring words goes with the three above it, half of whose words wait in
// floating-point registers.
//
// Products with constants are Plantard's in the form for signed words: with z = -2^32 zeta / q mod 2^32, the upper half
// of ((z a mod 2^32) / 2^16 + 8) q is a zeta mod q, of size at most q / 2, for every 16-bit a. [Plantard21, HZZLCKC22]
//
// r0 points to the coefficients, of which r2 to r9 hold eight words. r1 is free, r10 holds a constant, r11 q and r12
// 8 q. lr points to the next constants.
  .syntax unified
  .cpu cortex-m4
  .fpu fpv4-sp-d16
  .thumb

  .equ kQ, 3329

// Sets \to to \x times \z mod q. \to and \x are not the same; \x is lost.
  .macro product to, x, z
  smulwb \to, \z, \x
  smulwt \x, \z, \x
  smlabb \to, \to, r11, r12
  smlabb \x, \x, r11, r12
  pkhtb \to, \x, \to, asr #16
  .endm

// Replaces a, b by a + z b, a - z b.
  .macro forward_step a, b
  product r1, \b, r10
  usub16 \b, \a, r1
  uadd16 \a, \a, r1
  .endm

// Replaces a, b by a + b, z (a - b).
  .macro inverse_step a, b
  usub16 r1, \a, \b
  uadd16 \a, \a, \b
  product \b, r1, r10
  .endm

  .macro four_steps step, z, a0, b0, a1, b1, a2, b2, a3, b3
  vmov r10, \z
  \step \a0, \b0
  \step \a1, \b1
  \step \a2, \b2
  \step \a3, \b3
  .endm

  .macro two_steps step, z, a0, b0, a1, b1
  vmov r10, \z
  \step \a0, \b0
  \step \a1, \b1
  .endm

  .macro one_step step, z, a, b
  vmov r10, \z
  \step \a, \b
  .endm

  .macro forward_layers
  four_steps forward_step, s0, r2, r6, r3, r7, r4, r8, r5, r9
  two_steps forward_step, s1, r2, r4, r3, r5
  two_steps forward_step, s2, r6, r8, r7, r9
  one_step forward_step, s3, r2, r3
  one_step forward_step, s4, r4, r5
  one_step forward_step, s5, r6, r7
  one_step forward_step, s6, r8, r9
  .endm

  .macro two_inverse_layers
  one_step inverse_step, s0, r2, r3
  one_step inverse_step, s1, r4, r5
  one_step inverse_step, s2, r6, r7
  one_step inverse_step, s3, r8, r9
  two_steps inverse_step, s4, r2, r4, r3, r5
  two_steps inverse_step, s5, r6, r8, r7, r9
  .endm

  .macro last_inverse_layer
  four_steps inverse_step, s6, r2, r6, r3, r7, r4, r8, r5, r9
  .endm

// Loads eight words, \stride bytes apart, from \first on.
  .macro load_eight first, stride
  ldr r2, [r0, #(\first)]
  ldr r3, [r0, #(\first + \stride)]
  ldr r4, [r0, #(\first + 2 * \stride)]
  ldr r5, [r0, #(\first + 3 * \stride)]
  ldr r6, [r0, #(\first + 4 * \stride)]
  ldr r7, [r0, #(\first + 5 * \stride)]
  ldr r8, [r0, #(\first + 6 * \stride)]
  ldr r9, [r0, #(\first + 7 * \stride)]
  .endm

  .macro store_eight first, stride
  str r3, [r0, #(\first + \stride)]
  str r4, [r0, #(\first + 2 * \stride)]
  str r5, [r0, #(\first + 3 * \stride)]
  str r6, [r0, #(\first + 4 * \stride)]
  str r7, [r0, #(\first + 5 * \stride)]
  str r8, [r0, #(\first + 6 * \stride)]
  str r9, [r0, #(\first + 7 * \stride)]
  str r2, [r0, #(\first)]
  .endm

// Computes the last layer on words \j and \j + 1 of a group and stores them; the first one waits in \even.
  .macro forward_neighbours j, even, odd
  ldr r10, [lr], #4
  product r1, \odd, r10
  vmov r10, \even
  usub16 \odd, r10, r1
  uadd16 r10, r10, r1
  str r10, [r0, #(4 * \j)]
  str \odd, [r0, #(4 * \j + 4)]
  .endm

  .macro inverse_neighbours j, even, odd
  ldr r10, [r0, #(4 * \j)]
  ldr \odd, [r0, #(4 * \j + 4)]
  uadd16 r1, r10, \odd
  vmov \even, r1
  usub16 r1, r10, \odd
  ldr r10, [lr], #4
  product \odd, r1, r10
  .endm

// Multiplies \x by the constant in r10.
  .macro scale x
  smulwb r1, r10, \x
  smulwt \x, r10, \x
  smlabb r1, r1, r11, r12
  smlabb \x, \x, r11, r12
  pkhtb \x, \x, r1, asr #16
  .endm

  .macro begin name
  .section .text.\name, "ax", %progbits
  .align 2
  .global \name
  .type \name, %function
  .thumb_func
\name:
  push {r4, r5, r6, r7, r8, r9, r10, r11, lr}
  mov lr, r1
  movw r11, #kQ
  lsl r12, r11, #3
  .endm

// Clears the floating-point registers that held coefficients, and returns.
  .macro end name
  mov r2, #0
  mov r3, #0
  vmov d4, r2, r3
  vmov d5, r2, r3
  vmov d6, r2, r3
  vmov d7, r2, r3
  pop {r4, r5, r6, r7, r8, r9, r10, r11, pc}
  .size \name, . - \name
  .endm

// void polykem_ntt_forward(uint16_t a[256], const int32_t zetas[127])
  begin polykem_ntt_forward
  vldm lr!, {s0-s6}
  add r1, r0, #64
  vmov s7, r1
1:
  load_eight 0, 64
  forward_layers
  store_eight 0, 64
  add r0, #4
  vmov r1, s7
  cmp r0, r1
  bne.w 1b
  sub r0, #64
  add r1, r0, #512
  vmov s7, r1
2:
  vldm lr!, {s0-s6}
  load_eight 0, 8
  forward_layers
  vmov s8, r2
  vmov s9, r3
  vmov s10, r4
  vmov s11, r5
  vmov s12, r6
  vmov s13, r7
  vmov s14, r8
  vmov s15, r9
  load_eight 4, 8
  forward_layers
  forward_neighbours 0, s8, r2
  forward_neighbours 2, s9, r3
  forward_neighbours 4, s10, r4
  forward_neighbours 6, s11, r5
  forward_neighbours 8, s12, r6
  forward_neighbours 10, s13, r7
  forward_neighbours 12, s14, r8
  forward_neighbours 14, s15, r9
  add r0, #64
  vmov r1, s7
  cmp r0, r1
  bne.w 2b
  end polykem_ntt_forward

// void polykem_ntt_inverse(uint16_t a[256], const int32_t zetas[129])
// Sums double in each layer; what could leave 16 bits is multiplied by 1. The comments say how many times q / 2 the
// word may be, if the operands are at most 1.51 q / 2.
  begin polykem_ntt_inverse
  vldm lr!, {s7}
  add r1, r0, #512
  push {r1}
1:
  inverse_neighbours 0, s8, r2
  inverse_neighbours 2, s9, r3
  inverse_neighbours 4, s10, r4
  inverse_neighbours 6, s11, r5
  inverse_neighbours 8, s12, r6
  inverse_neighbours 10, s13, r7
  inverse_neighbours 12, s14, r8
  inverse_neighbours 14, s15, r9
  vldm lr!, {s0-s6}
  two_inverse_layers
  last_inverse_layer
  vmov r10, s7
  scale r2  // 8
  scale r3  // 4
  store_eight 4, 8
  vmov r2, s8
  vmov r3, s9
  vmov r4, s10
  vmov r5, s11
  vmov r6, s12
  vmov r7, s13
  vmov r8, s14
  vmov r9, s15
  two_inverse_layers
  vmov r10, s7
  scale r2  // 12
  scale r6
  last_inverse_layer
  vmov r10, s7
  scale r3  // 4
  store_eight 0, 8
  add r0, #64
  ldr r1, [sp]
  cmp r0, r1
  bne.w 1b
  vldm lr!, {s0-s7}
  sub r0, #512
  add r1, r0, #64
  str r1, [sp]
2:
  load_eight 0, 64
  two_inverse_layers
  last_inverse_layer
  vmov r10, s7
  scale r2  // 16, and the factor 1 / 128, which the others have
  scale r3
  scale r4
  scale r5
  store_eight 0, 64
  add r0, #4
  ldr r1, [sp]
  cmp r0, r1
  bne.w 2b
  add sp, #4
  end polykem_ntt_inverse
