// SPDX-License-Identifier: Apache-2.0
// Computes sliding products by the definition, see sliding.hpp: y[s] is the sum of u[s + j] v[j]. SMLAD adds two terms.
//
// Even results take pairs of v as they are. Odd results take the pairs that begin at odd coefficients, and v's first
// and last coefficient by themselves; PKHBT makes such a pair with its halves exchanged, which SMLADX undoes. All pairs
// wait in floating-point registers, from where VMOV takes one cycle. The sums of a tile of five or six results and as
// many words of u are in registers, so that instructions other than products take half a cycle for each SMLAD.
  .syntax unified
  .cpu cortex-m4
  .fpu fpv4-sp-d16
  .thumb
  .text
  .altmacro

// SMUAD and SMULTB begin a sum, the others add to it.
  .macro multiply op, sum, a, b
  .ifc \op, smuad
  smuad \sum, \a, \b
  .else
  .ifc \op, smultb
  smultb \sum, \a, \b
  .else
  \op \sum, \a, \b, \sum
  .endif
  .endif
  .endm

// Computes one step of six sums, r3 to r8, with the pair in s\k. \next is the offset of the word of u that follows, 0
// if there is none.
  .macro step6 op, k, next, w0, w1, w2, w3, w4, w5
  vmov r1, s\k
  multiply \op, r3, \w0, r1
  multiply \op, r4, \w1, r1
  .if \next
  ldr \w0, [r0, #(\next)]
  .endif
  multiply \op, r5, \w2, r1
  multiply \op, r6, \w3, r1
  multiply \op, r7, \w4, r1
  multiply \op, r8, \w5, r1
  .endm

// Computes steps \k to \last - 1, then one with the operation \end.
  .macro steps6 op, then, end, k, last, next, w0, w1, w2, w3, w4, w5
  .if \k < \last
  step6 \op, \k, \next, \w0, \w1, \w2, \w3, \w4, \w5
  steps6 \then, \then, \end, %(\k + 1), \last, %(\next + 4), \w1, \w2, \w3, \w4, \w5, \w0
  .else
  step6 \end, \k, 0, \w0, \w1, \w2, \w3, \w4, \w5
  .endif
  .endm

// Computes two steps of five sums, r3 to r7.
  .macro pair5 op, then, k, k1, next, is_last, w0, w1, w2, w3, w4
  vmov r1, s\k
  vmov r2, s\k1
  multiply \op, r3, \w0, r1
  multiply \op, r4, \w1, r1
  multiply \then, r3, \w1, r2
  ldr \w0, [r0, #(\next)]
  .if !\is_last
  ldr \w1, [r0, #(\next + 4)]
  .endif
  multiply \then, r4, \w2, r2
  multiply \op, r5, \w2, r1
  multiply \then, r5, \w3, r2
  multiply \op, r6, \w3, r1
  multiply \then, r6, \w4, r2
  multiply \op, r7, \w4, r1
  multiply \then, r7, \w0, r2
  .endm

// Computes steps \k to \last, of which the last one has the operation \end.
  .macro pairs5 op, then, end, k, last, next, w0, w1, w2, w3, w4
  .if \k + 1 < \last
  pair5 \op, \then, \k, %(\k + 1), \next, 0, \w0, \w1, \w2, \w3, \w4
  pairs5 \then, \then, \end, %(\k + 2), \last, %(\next + 8), \w2, \w3, \w4, \w0, \w1
  .else
  pair5 \op, \end, \k, %(\k + 1), \next, 1, \w0, \w1, \w2, \w3, \w4
  .endif
  .endm

  .macro load_window words, at
  ldr r9, [r0, #(\at)]
  ldr r10, [r0, #(\at + 4)]
  ldr r11, [r0, #(\at + 8)]
  ldr r12, [r0, #(\at + 12)]
  ldr lr, [r0, #(\at + 16)]
  .if \words == 6
  ldr r2, [r0, #(\at + 20)]
  .endif
  .endm

  .macro store words, at
  ldr r1, [sp]
  strh r3, [r1, #(\at)]
  strh r4, [r1, #(\at + 4)]
  strh r5, [r1, #(\at + 8)]
  strh r6, [r1, #(\at + 12)]
  strh r7, [r1, #(\at + 16)]
  .if \words == 6
  strh r8, [r1, #(\at + 20)]
  .endif
  .endm

// even6 and even5 compute the even results of six or five words from offset \at on; v has \last + 1 words.
  .macro even6 last, at
  load_window 6, \at
  steps6 smuad, smlad, smlad, 0, \last, %(\at + 24), r9, r10, r11, r12, lr, r2
  store 6, \at
  .endm

  .macro even5 last, at
  load_window 5, \at
  pairs5 smuad, smlad, smlad, 0, \last, %(\at + 20), r9, r10, r11, r12, lr
  store 5, \at
  .endm

// odd6 and odd5 compute the odd results. s\last has v's first coefficient in its lower half and the last one in its
// upper half.
  .macro odd6 last, at
  load_window 6, \at
  step6 smultb, \last, %(\at + 24), r9, r10, r11, r12, lr, r2
  steps6 smladx, smladx, smlabt, 0, \last, %(\at + 28), r10, r11, r12, lr, r2, r9
  store 6, %(\at + 2)
  .endm

  .macro odd5 last, at
  load_window 5, \at
  vmov r1, s\last
  smultb r3, r9, r1
  smultb r4, r10, r1
  smultb r5, r11, r1
  smultb r6, r12, r1
  smultb r7, lr, r1
  ldr r9, [r0, #(\at + 20)]
  pairs5 smladx, smladx, smlabt, 0, \last, %(\at + 24), r10, r11, r12, lr, r9
  store 5, %(\at + 2)
  .endm

  .macro tiles parity, last, at, sixes, fives
  .if \sixes
  \parity\()6 \last, \at
  tiles \parity, \last, %(\at + 24), %(\sixes - 1), \fives
  .else
  .if \fives
  \parity\()5 \last, \at
  tiles \parity, \last, %(\at + 20), 0, %(\fives - 1)
  .endif
  .endif
  .endm

// Moves the pairs at odd coefficients from words \k to \last of v to s\k and the following registers, then to s\last
// what odd6 and odd5 expect there. r2 points to word \k + 1; r3 is word \k, r12 is word 0.
  .macro load_odd k, last
  .if \k + 4 <= \last
  ldm r2!, {r4, r5, r6, r7}
  odd_pair \k, r3, r4
  odd_pair %(\k + 1), r4, r5
  odd_pair %(\k + 2), r5, r6
  odd_pair %(\k + 3), r6, r7
  mov r3, r7
  load_odd %(\k + 4), \last
  .else
  .if \k < \last
  ldr r4, [r2], #4
  odd_pair \k, r3, r4
  mov r3, r4
  load_odd %(\k + 1), \last
  .else
  pkhbt r12, r12, r3
  vmov s\k, r12
  .endif
  .endif
  .endm

  .macro odd_pair k, word, next
  pkhbt \word, \next, \word
  vmov s\k, \word
  .endm

// void polykem_sliding_plain_M(uint32_t* y, const uint32_t* u, const uint32_t* v)
// \last is M / 2 - 1. The function leaves pairs of v in s0 to s15.
  .macro sliding_plain m, last, sixes, fives
  .section .text.polykem_sliding_plain_\m, "ax", %progbits
  .align 2
  .global polykem_sliding_plain_\m
  .type polykem_sliding_plain_\m, %function
  .thumb_func
polykem_sliding_plain_\m:
  .if \last > 15
  vpush {s16-s\last}
  .endif
  push {r0, r2, r4, r5, r6, r7, r8, r9, r10, r11, r12, lr}
  mov r0, r1
  vldm r2, {s0-s\last}
  tiles even, \last, 0, \sixes, \fives
  ldr r2, [sp, #4]
  ldr r3, [r2], #4
  mov r12, r3
  load_odd 0, \last
  tiles odd, \last, 0, \sixes, \fives
  pop {r0, r2, r4, r5, r6, r7, r8, r9, r10, r11, r12, lr}
  .if \last > 15
  vpop {s16-s\last}
  .endif
  bx lr
  .size polykem_sliding_plain_\m, . - polykem_sliding_plain_\m
  .endm

  sliding_plain 32, 15, 1, 2
  sliding_plain 44, 21, 2, 2
  sliding_plain 52, 25, 1, 4
