// SPDX-License-Identifier: Apache-2.0
// semihosting.h for this machine, so that a board's program also runs here.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board/semihosting.h"

static FILE* opened;

void semihosting_write(const char* text) {
  fputs(text, stdout);
}

int semihosting_open(const char* path) {
  opened = fopen(path, "rb");
  return opened == NULL ? -1 : 0;
}

size_t semihosting_read(int file, void* out, size_t bytes) {
  (void)file;
  return fread(out, 1, bytes, opened);
}

void semihosting_arguments(char* out, size_t bytes) {
  const char* path = getenv("POLYKEM_CASES");
  snprintf(out, bytes, "%s", path == NULL ? "" : path);
}

void semihosting_exit(int status) {
  exit(status);
}
