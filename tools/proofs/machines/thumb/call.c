// SPDX-License-Identifier: Apache-2.0
// Calls a function of a program for Thumb, with arrays at given addresses: native.py. All numbers have 32 bits. Input:
// the number of ranges that are mapped, and for each its address and size; the number of pieces, and for each its
// address, size and bytes; the function's address, the number of arguments and the arguments; the number of pieces to
// be written, and for each its address and size. Output: the bytes of these.
#include "linux.h"

static uint32_t number(void) {
  uint32_t value;
  if (!take(&value, sizeof value)) leave(2);
  return value;
}

void _start(void) {
  for (uint32_t ranges = number(); ranges; --ranges) {
    const uint32_t at = number();
    map(at, number());
  }
  for (uint32_t pieces = number(); pieces; --pieces) {
    char* const to = (char*)number();
    if (!take(to, number())) leave(2);
  }
  const uint32_t function = number();
  static uint32_t a[14];
  const uint32_t count = number();
  if (count > sizeof a / sizeof *a) leave(2);
  if (!take(a, count * sizeof *a)) leave(2);
  ((void (*)(uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,
             uint32_t, uint32_t, uint32_t, uint32_t))function)(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8],
                                                               a[9], a[10], a[11], a[12], a[13]);
  for (uint32_t pieces = number(); pieces; --pieces) {
    const char* const from = (const char*)number();
    give(from, number());
  }
  leave(0);
}
