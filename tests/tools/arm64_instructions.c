// SPDX-License-Identifier: Apache-2.0
// Executes instructions for AArch64, one at a time, each on a state of its own: test_proofs_arm64.py. Input: for each
// the instruction's code, 4 bytes, and the state before it; output: the states after them.
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

// Vector registers, general registers 0 to 29, flags, and memory, in the middle of which register 27 points.
enum { kStateBytes = 1280 };
#define STATE_ADDRESS 0x20000000ul

// Register 28 has the address of the state, and 30 that of the code.
void execute(void* state, void* code);
__asm__(
    ".globl execute\nexecute:\n"
    "stp x29, x30, [sp, #-176]!\n stp x19, x20, [sp, #16]\n stp x21, x22, [sp, #32]\n stp x23, x24, [sp, #48]\n"
    "stp x25, x26, [sp, #64]\n stp x27, x28, [sp, #80]\n stp d8, d9, [sp, #96]\n stp d10, d11, [sp, #112]\n"
    "stp d12, d13, [sp, #128]\n stp d14, d15, [sp, #144]\n mov x28, x0\n mov x30, x1\n"
    "ldr x0, [x28, #752]\n msr nzcv, x0\n"
    ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, "
    "29, 30, 31\n ldr q\\n, [x28, #16 * \\n]\n .endr\n"
    ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 29\n"
    "ldr x\\n, [x28, #512 + 8 * \\n]\n .endr\n"
    "blr x30\n"
    ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 29\n"
    "str x\\n, [x28, #512 + 8 * \\n]\n .endr\n"
    ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, "
    "29, 30, 31\n str q\\n, [x28, #16 * \\n]\n .endr\n"
    "mrs x0, nzcv\n str x0, [x28, #752]\n"
    "ldp x19, x20, [sp, #16]\n ldp x21, x22, [sp, #32]\n ldp x23, x24, [sp, #48]\n ldp x25, x26, [sp, #64]\n"
    "ldp x27, x28, [sp, #80]\n ldp d8, d9, [sp, #96]\n ldp d10, d11, [sp, #112]\n ldp d12, d13, [sp, #128]\n"
    "ldp d14, d15, [sp, #144]\n ldp x29, x30, [sp], #176\n ret\n");

static void* mapped(unsigned long at, int executable) {
  return mmap((void*)at, 1 << 16, PROT_READ | PROT_WRITE | (executable ? PROT_EXEC : 0),
              MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED_NOREPLACE : 0), -1, 0);
}

int main(void) {
  char* const state = mapped(STATE_ADDRESS, 0);
  uint32_t* const code = mapped(0, 1);
  if ((unsigned long)state != STATE_ADDRESS || code == MAP_FAILED) return 1;
  code[1] = 0xd65f03c0;  // ret
  while (fread(code, sizeof *code, 1, stdin) == 1 && fread(state, kStateBytes, 1, stdin) == 1) {
    __builtin___clear_cache((char*)code, (char*)(code + 2));
    execute(state, code);
    fwrite(state, kStateBytes, 1, stdout);
  }
  return 0;
}
