// SPDX-License-Identifier: Apache-2.0
#include "board/semihosting.h"

#include <stdint.h>

enum { kOpen = 0x01, kWrite0 = 0x04, kRead = 0x06, kGetCommandLine = 0x15, kExitExtended = 0x20 };
enum { kOpenBinary = 1, kApplicationExit = 0x20026 };

static int32_t call(uint32_t operation, const void* parameters) {
  register uint32_t r0 __asm("r0") = operation;
  register const void* r1 __asm("r1") = parameters;
  __asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return (int32_t)r0;
}

static size_t length(const char* text) {
  size_t bytes = 0;
  while (text[bytes] != 0)
    ++bytes;
  return bytes;
}

void semihosting_write(const char* text) {
  call(kWrite0, text);
}

int semihosting_open(const char* path) {
  const uint32_t parameters[] = {(uint32_t)path, kOpenBinary, length(path)};
  return call(kOpen, parameters);
}

size_t semihosting_read(int file, void* out, size_t bytes) {
  const uint32_t parameters[] = {(uint32_t)file, (uint32_t)out, bytes};
  return bytes - (size_t)call(kRead, parameters);
}

void semihosting_arguments(char* out, size_t bytes) {
  uint32_t parameters[] = {(uint32_t)out, bytes};
  if (call(kGetCommandLine, parameters) != 0) out[0] = 0;
}

void semihosting_exit(int status) {
  const uint32_t parameters[] = {kApplicationExit, (uint32_t)status};
  call(kExitExtended, parameters);
  while (1) {
  }
}
