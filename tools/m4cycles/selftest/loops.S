// SPDX-License-Identifier: Apache-2.0
// Functions whose cycles were counted by hand from [CM4TRM, 3.3]. The name of each ends in the count, return included;
// a return by BX takes 1 + 3 cycles, a taken branch 1 + 2.
  .syntax unified
  .cpu cortex-m4
  .fpu fpv4-sp-d16
  .thumb
  .text

  .macro function name
  .align 2
  .global \name
  .type \name, %function
  .thumb_func
\name:
  .endm

// 1 + 100 (1 + 1 + 1) + 99 (1 + 2) + 1 without the jump at the end = 599; 603 with the return
function loop_603
  movs r0, #100
1:
  eors r1, r2
  adds r1, #7
  subs r0, #1
  bne 1b
  bx lr

// LDR 2, then three that are pipelined, an addition, a first one again: 2 + 3 + 1 + 2
function loads_12
  ldr r1, [sp]
  ldr r2, [sp, #4]
  ldrh r3, [sp, #8]
  ldrb.w r1, [sp, #9]
  adds r1, #1
  ldr r1, [sp]
  bx lr

// SUB 1, stores take 1 and pipeline the load after them: 1 + 1 + 1, EORS 1, LDR 2, ADD 1
function stores_12
  sub sp, #16
  str r1, [sp]
  ldr r2, [sp]
  strh.w r1, [sp, #4]
  eors r1, r1
  ldr r2, [sp]
  add sp, #16
  bx lr

// PUSH 1 + 4, LDM 1 + 3, STM 1 + 3, LDRD and STRD 3, POP with the program counter 1 + 4 + 3
function multiples_27
  push {r4, r5, r6, lr}
  ldm.w sp, {r4, r5, r6}
  stm.w sp, {r4, r5, r6}
  ldrd r4, r5, [sp]
  strd r4, r5, [sp]
  pop {r4, r5, r6, pc}

// all of them 1
function products_13
  mul r1, r2, r3
  mla r1, r2, r3, r1
  umull r1, r2, r3, r0
  smlal r1, r2, r3, r0
  umaal r1, r2, r3, r0
  smlad r1, r2, r3, r0
  smuadx r1, r2, r3
  smmulr r1, r2, r3
  uadd16 r1, r2, r3
  bx lr

function division_18
  movs r1, #5
  movs r2, #3
  udiv r1, r1, r2
  bx lr

// two words and a half word that are not aligned: (2 + 1) + (1 + 1) + 1 (the aligned one) + (1 + 1)
function unaligned_12
  ldr.w r1, [sp, #1]
  ldr.w r1, [sp, #6]
  ldr.w r1, [sp, #8]
  ldrh.w r1, [sp, #3]
  bx lr

// PUSH 1 + 2, BL 1 + 2, the callee 1 + 4, LDR 2, BLX 1 + 3, the callee again, POP 1 + 2 + 3
function calls_28
  push {r4, lr}
  bl callee_5
  ldr r4, =callee_5
  blx r4
  pop {r4, pc}

function callee_5
  nop
  bx lr

// a jump to another function ends when that one returns: 1 + 2 + 5
function tail_8
  b.w callee_5

// not taken: CMP 1, BEQ 1, MOVS 1, CBZ 1; taken: CBNZ 1 + 2
function branches_11
  cmp sp, #0
  beq 1f
  movs r1, #1
  cbz r1, 1f
  cbnz r1, 1f
  nop
1:
  bx lr

// MOVS 1, TBB 2 + 3, then B 1 + 2
function table_13
  movs r1, #0
  tbb [pc, r1]
1:
  .byte (2f - 1b) / 2
  .byte (2f - 1b) / 2
2:
  b.n 3f
  nop
3:
  bx lr

// VMOV 1 each, of two registers 2, VLDR 2 and pipelined 1, VSTR 1, VPUSH and VPOP 1 + 2
function floats_18
  vmov s0, r1
  vmov r1, s0
  vmov s0, s1, r1, r2
  vpush {s0, s1}
  vldr s0, [sp]
  vldr s1, [sp, #4]
  vstr s1, [sp]
  vpop {s0, s1}
  bx lr

  .global run_all
  .type run_all, %function
  .thumb_func
run_all:
  push {r4, lr}
  bl loop_603
  bl loads_12
  bl stores_12
  bl multiples_27
  bl products_13
  bl division_18
  bl unaligned_12
  bl calls_28
  bl tail_8
  bl branches_11
  bl table_13
  bl floats_18
  pop {r4, pc}
