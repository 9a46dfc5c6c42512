// SPDX-License-Identifier: Apache-2.0
// The first UART of the board, eight bits a character.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

void uart_open(void);
/* Waits until all bytes have been taken. */
void uart_write(const uint8_t* data, size_t bytes);
/* Waits until all bytes have come. */
void uart_read(uint8_t* out, size_t bytes);

#ifdef __cplusplus
}
#endif
