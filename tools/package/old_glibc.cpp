// SPDX-License-Identifier: Apache-2.0
//
// What glibc has only since 2.29 and newer headers and libraries call nevertheless, for libraries that are linked for
// an older one (cmake/link_stubs.cmake). It stays inside each of them. On x86-64 only.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>

extern "C" {

/// Since 2.32: not zero while the process has one thread. Zero only costs an atomic operation.
char __libc_single_threaded = 0;

// Until 2.33 stat() was in headers, and called these with the version of `struct stat`.
int __xstat(int version, const char* path, struct stat* result);
int __lxstat(int version, const char* path, struct stat* result);
int __fxstat(int version, int descriptor, struct stat* result);
int __fxstat64(int version, int descriptor, struct stat64* result);

constexpr int kStatVersion = 1;  // of x86-64

int stat(const char* path, struct stat* result) {
  return __xstat(kStatVersion, path, result);
}
int lstat(const char* path, struct stat* result) {
  return __lxstat(kStatVersion, path, result);
}
int fstat(int descriptor, struct stat* result) {
  return __fxstat(kStatVersion, descriptor, result);
}
int fstat64(int descriptor, struct stat64* result) {
  return __fxstat64(kStatVersion, descriptor, result);
}

/// Since 2.36, for std::random_device. It cannot fail, and nor can getrandom() for so few bytes but on Linux
/// before 3.17.
uint32_t arc4random() {
  uint32_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number) abort();
  return number;
}

/// Since 2.30. Before, a wait could not go by the monotonic clock: the C++ library also took the wall clock then, and
/// asks the clock again when it wakes up.
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock, const timespec* end) {
  using Wait = decltype(&pthread_cond_clockwait);
  static const auto system_wait = reinterpret_cast<Wait>(dlsym(RTLD_DEFAULT, "pthread_cond_clockwait"));
  if (system_wait != nullptr) return system_wait(condition, mutex, clock, end);
  constexpr long kSecond = 1'000'000'000;
  timespec now{};
  timespec wall{};
  if (clock_gettime(clock, &now) != 0 || clock_gettime(CLOCK_REALTIME, &wall) != 0) return EINVAL;
  wall.tv_sec += end->tv_sec - now.tv_sec;
  wall.tv_nsec += end->tv_nsec - now.tv_nsec;
  if (wall.tv_nsec < 0) {
    wall.tv_nsec += kSecond;
    --wall.tv_sec;
  } else if (wall.tv_nsec >= kSecond) {
    wall.tv_nsec -= kSecond;
    ++wall.tv_sec;
  }
  if (wall.tv_sec < 0) return ETIMEDOUT;
  return pthread_cond_timedwait(condition, mutex, &wall);
}
}
