// SPDX-License-Identifier: Apache-2.0
// What programs for Thumb need of Linux, without a C library.
#pragma once

#include <stddef.h>
#include <stdint.h>

static long system_call(long number, long a, long b, long c, long d, long e) {
  register long r0 __asm__("r0") = a, r1 __asm__("r1") = b, r2 __asm__("r2") = c, r3 __asm__("r3") = d;
  register long r4 __asm__("r4") = e, r5 __asm__("r5") = 0, r7 __asm__("r7") = number;
  __asm__ volatile("svc 0" : "+r"(r0) : "r"(r1), "r"(r2), "r"(r3), "r"(r4), "r"(r5), "r"(r7) : "memory");
  return r0;
}

__attribute__((noreturn)) static void leave(int status) {
  for (;;)
    system_call(1, status, 0, 0, 0, 0);
}

/// Returns whether all bytes could be read.
static int take(void* to, size_t size) {
  for (char* at = to; size;) {
    const long count = system_call(3, 0, (long)at, (long)size, 0, 0);
    if (count <= 0) return 0;
    at += count;
    size -= (size_t)count;
  }
  return 1;
}

static void give(const void* from, size_t size) {
  for (const char* at = from; size;) {
    const long count = system_call(4, 1, (long)at, (long)size, 0, 0);
    if (count <= 0) leave(2);
    at += count;
    size -= (size_t)count;
  }
}

/// Maps the pages of so many bytes at an address, to read, write and execute.
static void map(uintptr_t at, size_t size) {
  enum { kPage = 4096, kAll = 7, kPrivateAnonymousFixedNoReserve = 0x2 | 0x20 | 0x10 | 0x4000 };
  const uintptr_t first = at & ~(uintptr_t)(kPage - 1), end = (at + size + kPage - 1) & ~(uintptr_t)(kPage - 1);
  if (system_call(192, (long)first, (long)(end - first), kAll, kPrivateAnonymousFixedNoReserve, -1) != (long)first)
    leave(4);
}

/// Makes new instructions visible.
static void clear_cache(uintptr_t begin, uintptr_t end) {
  system_call(0xf0002, (long)begin, (long)end, 0, 0, 0);
}
