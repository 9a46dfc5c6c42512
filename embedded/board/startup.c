// SPDX-License-Identifier: Apache-2.0
// Brings a Cortex-M from reset to main: floating point on, variables copied and zeroed.
#include <stdint.h>

#include "board/semihosting.h"

extern uint32_t data_begin[], data_end[], data_load[], bss_begin[], bss_end[], stack_top[];

int main(void);
void reset_handler(void);

/* The handler of unexpected exceptions. */
static void unexpected(void) {
  semihosting_write("unexpected exception\n");
  semihosting_exit(1);
}

__attribute__((section(".vectors"), used)) static const void* const vectors[16] = {stack_top,
                                                                                   (void*)reset_handler,
                                                                                   (void*)unexpected,
                                                                                   (void*)unexpected,
                                                                                   (void*)unexpected,
                                                                                   (void*)unexpected,
                                                                                   (void*)unexpected,
                                                                                   0,
                                                                                   0,
                                                                                   0,
                                                                                   0,
                                                                                   (void*)unexpected,
                                                                                   (void*)unexpected,
                                                                                   0,
                                                                                   (void*)unexpected,
                                                                                   (void*)unexpected};

void reset_handler(void) {
  volatile uint32_t* const coprocessor_access = (volatile uint32_t*)0xe000ed88;
  *coprocessor_access |= 0xfu << 20;  // the floating-point registers
  __asm volatile("dsb\n isb" ::: "memory");
  const uint32_t* from = data_load;
  for (uint32_t* to = data_begin; to < data_end; ++to)
    *to = *from++;
  for (uint32_t* to = bss_begin; to < bss_end; ++to)
    *to = 0;
  semihosting_exit(main());
}
