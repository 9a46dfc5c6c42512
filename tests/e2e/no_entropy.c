/* SPDX-License-Identifier: Apache-2.0
 * For LD_PRELOAD: getrandom fails as long as the file named by NO_ENTROPY_WHILE exists. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

__attribute__((visibility("default"))) ssize_t getrandom(void* buffer, size_t size, unsigned flags) {
  const char* file = getenv("NO_ENTROPY_WHILE");
  if (file != NULL && access(file, F_OK) == 0) {
    errno = EIO;
    return -1;
  }
  return syscall(SYS_getrandom, buffer, size, flags);
}
