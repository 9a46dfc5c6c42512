/* SPDX-License-Identifier: Apache-2.0
 * Preloaded into the program: simulates what a file system can do to it. Environment variables choose the fault.
 *   FAULT_NO_TMPFILE=1     there are no unnamed files
 *   FAULT_NO_EXCHANGE=1    two files cannot be exchanged
 *   FAULT_NO_LINK=1        there are no hard links
 *   FAULT_SIGNAL=N         signal N arrives at the first fsync, when all outputs are on the disk and none has its name
 *   FAULT_SIGNAL_AT=N      at the N-th fsync instead
 *   FAULT_LINK=N           the N-th linkat fails
 *   FAULT_FREE=N           file systems say that they have N bytes free
 *   FAULT_ROOM=N           after N bytes in files the disk is full
 *   FAULT_LOG=PATH         a line for each fsync: "file" or "folder" */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static int number(const char* name) {
  const char* value = getenv(name);
  return value == NULL ? 0 : atoi(value);
}

static int open_as(const char* symbol, const char* path, int flags, mode_t mode) {
  if ((flags & O_TMPFILE) == O_TMPFILE && number("FAULT_NO_TMPFILE")) {
    errno = EOPNOTSUPP;
    return -1;
  }
  int (*next)(const char*, int, ...) = (int (*)(const char*, int, ...))dlsym(RTLD_NEXT, symbol);
  return next(path, flags, mode);
}

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  return open_as("open", path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  return open_as("open64", path, flags, mode);
}

int fsync(int fd) {
  struct stat info;
  const char* log = getenv("FAULT_LOG");
  if (log != NULL && fstat(fd, &info) == 0) {
    FILE* out = fopen(log, "a");
    fprintf(out, "%s\n", S_ISDIR(info.st_mode) ? "folder" : "file");
    fclose(out);
  }
  static int calls;
  const int at = number("FAULT_SIGNAL_AT");
  const int signal_number = number("FAULT_SIGNAL");
  if (++calls == (at == 0 ? 1 : at) && signal_number != 0) kill(getpid(), signal_number);
  int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  return next(fd);
}

int fstatvfs(int fd, struct statvfs* info) {
  int (*next)(int, struct statvfs*) = (int (*)(int, struct statvfs*))dlsym(RTLD_NEXT, "fstatvfs");
  const int result = next(fd, info);
  if (getenv("FAULT_FREE") != NULL) {
    info->f_frsize = 1;
    info->f_bavail = (fsblkcnt_t)number("FAULT_FREE");
  }
  return result;
}

ssize_t write(int fd, const void* bytes, size_t size) {
  static size_t written;
  struct stat info;
  if (getenv("FAULT_ROOM") != NULL && fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) {
    const size_t room = (size_t)number("FAULT_ROOM");
    if (written == room) {
      errno = ENOSPC;
      return -1;
    }
    if (size > room - written) size = room - written;
    written += size;
  }
  ssize_t (*next)(int, const void*, size_t) = (ssize_t(*)(int, const void*, size_t))dlsym(RTLD_NEXT, "write");
  return next(fd, bytes, size);
}

int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) {
  static int calls;
  if (++calls == number("FAULT_LINK")) {
    errno = EIO;
    return -1;
  }
  if (number("FAULT_NO_LINK")) {
    errno = EPERM;
    return -1;
  }
  int (*next)(int, const char*, int, const char*, int) =
      (int (*)(int, const char*, int, const char*, int))dlsym(RTLD_NEXT, "linkat");
  return next(from_folder, from, to_folder, to, flags);
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  if (number("FAULT_NO_EXCHANGE") && flags != 0) {
    errno = EINVAL;
    return -1;
  }
  int (*next)(int, const char*, int, const char*, unsigned) =
      (int (*)(int, const char*, int, const char*, unsigned))dlsym(RTLD_NEXT, "renameat2");
  return next(from_folder, from, to_folder, to, flags);
}
