// SPDX-License-Identifier: Apache-2.0
// Semihosting: console, files and exit of a program under a debugger or an emulator.
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes a string to the debugger's console. */
void semihosting_write(const char* text);
/* Opens a file of the host to read its bytes; negative: there is none. */
int semihosting_open(const char* path);
/* Reads at most `bytes` bytes and returns how many. */
size_t semihosting_read(int file, void* out, size_t bytes);
/* The arguments that the emulator was given, separated by spaces; `out` is empty if they do not fit. */
void semihosting_arguments(char* out, size_t bytes);
/* Ends the emulation; 0 is success. */
void semihosting_exit(int status) __attribute__((noreturn));

#ifdef __cplusplus
}
#endif
