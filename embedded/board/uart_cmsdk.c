// SPDX-License-Identifier: Apache-2.0
// The UART of Arm's CMSDK, which the MPS2+ boards have. UART_BASE is its address.
#include "board/uart.h"

enum { kTransmitFull = 1 << 0, kReceiveFull = 1 << 1, kEnableBoth = 3, kDivisor = 217 /* 115,200 baud at 25 MHz */ };

static struct { uint32_t data, state, control, interrupts, divisor; } volatile* const uart = (void*)UART_BASE;

void uart_open(void) {
  uart->divisor = kDivisor;
  uart->control = kEnableBoth;
}

void uart_write(const uint8_t* data, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) {
    while (uart->state & kTransmitFull) {
    }
    uart->data = data[i];
  }
}

void uart_read(uint8_t* out, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) {
    while (!(uart->state & kReceiveFull)) {
    }
    out[i] = (uint8_t)uart->data;
  }
}
