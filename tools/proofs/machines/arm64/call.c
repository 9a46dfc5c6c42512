// SPDX-License-Identifier: Apache-2.0
// Calls a function of a library for AArch64, with arrays at given addresses: native.py. All numbers have 64 bits.
// Input: the size of the path, the path, the function's address in the file, the number of arguments and the arguments,
// the address and size of the memory that holds all arrays, the number of pieces, and for each its address, size and
// bytes; then the number of pieces to be written, and for each its address and size. Output: the bytes of these.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

static void take(void* to, size_t size) {
  if (size && fread(to, size, 1, stdin) != 1) exit(2);
}

static uint64_t number(void) {
  uint64_t value;
  take(&value, sizeof value);
  return value;
}

int main(void) {
  char path[4096] = {0};
  const uint64_t length = number();
  if (length >= sizeof path) return 2;
  take(path, length);
  const struct link_map* library = dlopen(path, RTLD_NOW);
  if (!library) return fprintf(stderr, "%s\n", dlerror()), 3;
  const uint64_t function = library->l_addr + number();
  uint64_t a[14] = {0};
  const uint64_t count = number();
  if (count > sizeof a / sizeof *a) return 2;
  take(a, count * sizeof *a);
  void* const at = (void*)number();
  const uint64_t size = number();
  if (mmap(at, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != at) return 4;
  for (uint64_t pieces = number(); pieces; --pieces) {
    void* const to = (void*)number();
    take(to, number());
  }
  ((void (*)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
             uint64_t, uint64_t, uint64_t, uint64_t))function)(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8],
                                                               a[9], a[10], a[11], a[12], a[13]);
  for (uint64_t pieces = number(); pieces; --pieces) {
    const void* const from = (const void*)number();
    fwrite(from, number(), 1, stdout);
  }
  return 0;
}
