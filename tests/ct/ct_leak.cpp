// SPDX-License-Identifier: Apache-2.0
// Planted leaks. Memcheck must report `branch` and `index`, and must not report `none`.
#include <cstdint>
#include <cstdio>
#include <cstring>

#include <valgrind/memcheck.h>

namespace {

/// A constant-time select as in the library.
__attribute__((noinline)) uint8_t select_by_mask(uint8_t secret) {
  const uint8_t mask = static_cast<uint8_t>(0u - (secret & 1u));
  return static_cast<uint8_t>((mask & 0x17) | (~mask & 0x42));
}

/// A branch on a secret. No compiler turns it into a select, since the assembly may run only if the branch is taken.
__attribute__((noinline)) uint8_t select_by_branch(uint8_t secret) {
  if (secret & 1) {
    asm volatile("");
    return 0x17;
  }
  return 0x42;
}

/// An address that depends on a secret.
__attribute__((noinline)) uint8_t select_by_index(uint8_t secret) {
  static volatile uint8_t table[256] = {0x42, 0x17};
  return table[secret];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: ct_leak branch|index|none\n");
    return 2;
  }
  uint8_t secret = 1;
  (void)VALGRIND_MAKE_MEM_UNDEFINED(&secret, sizeof secret);
  uint8_t result = 0;
  if (std::strcmp(argv[1], "branch") == 0) {
    result = select_by_branch(secret);
  } else if (std::strcmp(argv[1], "index") == 0) {
    result = select_by_index(secret);
  } else {
    result = select_by_mask(secret);
  }
  (void)VALGRIND_MAKE_MEM_DEFINED(&result, sizeof result);
  return result == 0x17 ? 0 : 1;
}
