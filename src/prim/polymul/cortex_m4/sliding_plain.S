// SPDX-License-Identifier: Apache-2.0
// Sliding products by the definition, see sliding.hpp: y[s] = the sum of u[s + j] v[j]. SMLAD adds two of them.
//
// Four even results take pairs of v as they are, four odd ones take v from its second coefficient on: that copy lies on
// the stack. A pair of steps loads two words of v and two of u one after the other, which takes five cycles, and adds
// eight times: 13 cycles for 16 products.
  .syntax unified
  .cpu cortex-m4
  .thumb
  .text

// r3 to r6 += the products of the words at r0 + \first and at \v: \pairs pairs of steps from offset \at on. w0 to w2 are
// u[at / 4] and the next two. Where \from is 1, the sums begin with the first products.
  .macro steps pairs, first, v, at, from, w0, w1, w2, w3, w4
  ldr r2, [\v, #\at]
  ldr lr, [\v, #(\at + 4)]
  ldr \w3, [r0, #(\at + 12 + \first)]
  ldr \w4, [r0, #(\at + 16 + \first)]
  .if \from
  smuad r3, \w0, r2
  smuad r4, \w1, r2
  smuad r5, \w2, r2
  smuad r6, \w3, r2
  .else
  smlad r3, \w0, r2, r3
  smlad r4, \w1, r2, r4
  smlad r5, \w2, r2, r5
  smlad r6, \w3, r2, r6
  .endif
  smlad r3, \w1, lr, r3
  smlad r4, \w2, lr, r4
  smlad r5, \w3, lr, r5
  smlad r6, \w4, lr, r6
  .if \pairs > 1
  steps (\pairs - 1), \first, \v, (\at + 8), 0, \w2, \w3, \w4, \w0, \w1
  .endif
  .endm

// The same for r3 and r4 alone, in nine cycles.
  .macro two_steps pairs, first, v, at, from, w0, w1, w2, w3
  ldr r2, [\v, #\at]
  ldr lr, [\v, #(\at + 4)]
  ldr \w2, [r0, #(\at + 8 + \first)]
  ldr \w3, [r0, #(\at + 12 + \first)]
  .if \from
  smuad r3, \w0, r2
  smuad r4, \w1, r2
  .else
  smlad r3, \w0, r2, r3
  smlad r4, \w1, r2, r4
  .endif
  smlad r3, \w1, lr, r3
  smlad r4, \w2, lr, r4
  .if \pairs > 1
  two_steps (\pairs - 1), \first, \v, (\at + 8), 0, \w2, \w3, \w0, \w1
  .endif
  .endm

// The last two words of results.
  .macro half_tile words
  ldr r7, [r0]
  ldr r8, [r0, #4]
  two_steps (\words / 2), 0, r1, 0, 1, r7, r8, r9, r10
  strh r3, [r12]
  strh r4, [r12, #4]
  ldr r2, [r1]
  ldr r10, [r0]
  ldr r7, [r0, #4]
  ldr r8, [r0, #8]
  smultb r3, r10, r2
  smultb r4, r7, r2
  two_steps (\words / 2), 4, sp, 0, 0, r7, r8, r9, r10
  strh r3, [r12, #2]
  strh r4, [r12, #6]
  .endm

  .macro store first
  strh r3, [r12, #\first]
  strh r4, [r12, #(\first + 4)]
  strh r5, [r12, #(\first + 8)]
  strh r6, [r12, #(\first + 12)]
  .endm

// Four words of results, from u at r0, v at r1, y at r12, the copy at sp.
  .macro tile words
  ldr r7, [r0]
  ldr r8, [r0, #4]
  ldr r9, [r0, #8]
  steps (\words / 2), 0, r1, 0, 1, r7, r8, r9, r10, r11
  store 0
  ldr r2, [r1]
  ldr r10, [r0]
  ldr r7, [r0, #4]
  ldr r8, [r0, #8]
  ldr r9, [r0, #12]
  smultb r3, r10, r2
  smultb r4, r7, r2
  smultb r5, r8, r2
  smultb r6, r9, r2
  steps (\words / 2), 4, sp, 0, 0, r7, r8, r9, r10, r11
  store 2
  .endm

// void polykem_sliding_plain_M(uint32_t* y, const uint32_t* u, const uint32_t* v), M a multiple of 4.
  .macro sliding_plain m
  .section .text.polykem_sliding_plain_\m, "ax", %progbits
  .align 2
  .global polykem_sliding_plain_\m
  .type polykem_sliding_plain_\m, %function
  .thumb_func
polykem_sliding_plain_\m:
  push {r4, r5, r6, r7, r8, r9, r10, r11, lr}
  sub sp, #(2 * \m + 4)
  mov r12, r0
  mov r0, r1
  mov r1, r2
  copy_shifted (\m / 2)
  add r2, r12, #(2 * \m / 16 * 16)
  str r2, [sp, #(2 * \m)]
1:
  tile (\m / 2)
  add r0, #16
  add r12, #16
  ldr r2, [sp, #(2 * \m)]
  cmp r12, r2
  bne 1b
  .if \m % 8 != 0
  half_tile (\m / 2)
  .endif
  add sp, #(2 * \m + 4)
  pop {r4, r5, r6, r7, r8, r9, r10, r11, pc}
  .size polykem_sliding_plain_\m, . - polykem_sliding_plain_\m
  .endm

// Words of v from its second coefficient on, to sp, four at a time; zero follows the last one.
  .macro copy_shifted words
  mov r2, r1
  mov r3, sp
  ldr r4, [r2], #4
  .rept (\words - 1) / 4
  ldm r2!, {r5, r6, r7, r8}
  lsr r4, r4, #16
  orr r4, r4, r5, lsl #16
  lsr r5, r5, #16
  orr r5, r5, r6, lsl #16
  lsr r6, r6, #16
  orr r6, r6, r7, lsl #16
  lsr r7, r7, #16
  orr r7, r7, r8, lsl #16
  stm r3!, {r4, r5, r6, r7}
  mov r4, r8
  .endr
  .rept (\words - 1) % 4
  ldr r5, [r2], #4
  lsr r4, r4, #16
  orr r4, r4, r5, lsl #16
  str r4, [r3], #4
  mov r4, r5
  .endr
  lsr r4, r4, #16
  str r4, [r3]
  .endm

  sliding_plain 32
  sliding_plain 44
  sliding_plain 52
