// SPDX-License-Identifier: Apache-2.0
// Executes instructions of Thumb, one or a block of IT at a time, each on a state of its own: test_proofs_thumb.py.
// Input: for each the code, twelve bytes, and the state before it; output: the states after them.
#include "linux.h"

// General registers 0 to 10 and 12, flags, 32 floating-point registers of 32 bits, and memory, in the middle of which
// register 9 points. Register 11 has the address of the state.
enum { kStateBytes = 448, kCodeBytes = 12, kStateAddress = 0x20000000, kCodeAddress = 0x21000000 };

void execute(void* state, uintptr_t code);
__asm__(
    ".syntax unified\n.thumb\n.thumb_func\n.globl execute\nexecute:\n"
    "push {r4-r11, lr}\n vpush {s16-s31}\n mov r11, r0\n mov lr, r1\n"
    "ldr r0, [r11, #48]\n msr APSR_nzcvqg, r0\n add r0, r11, #64\n vldmia r0, {s0-s31}\n"
    "ldr r12, [r11, #44]\n ldmia r11, {r0-r10}\n blx lr\n"
    "stmia r11, {r0-r10}\n str r12, [r11, #44]\n mrs r0, APSR\n str r0, [r11, #48]\n add r0, r11, #64\n"
    "vstmia r0, {s0-s31}\n vpop {s16-s31}\n pop {r4-r11, pc}\n");

void _start(void) {
  char* const state = (char*)kStateAddress;
  char* const code = (char*)kCodeAddress;
  map(kStateAddress, 4096);
  map(kCodeAddress, 4096);
  while (take(code, kCodeBytes) && take(state, kStateBytes)) {
    *(uint16_t*)(code + kCodeBytes) = 0x4770;  // bx lr
    clear_cache(kCodeAddress, kCodeAddress + kCodeBytes + 2);
    execute(state, kCodeAddress | 1);
    give(state, kStateBytes);
  }
  leave(0);
}
