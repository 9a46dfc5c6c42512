// SPDX-License-Identifier: Apache-2.0
// Random bytes of the machine that emulates the board.
#include "board/semihosting.h"
#include "example/random.h"

int random_bytes(void* context, uint8_t* out, size_t bytes) {
  (void)context;
  static int source = -1;
  if (source < 0) source = semihosting_open("/dev/urandom");
  return source < 0 || semihosting_read(source, out, bytes) != bytes;
}
