// SPDX-License-Identifier: Apache-2.0
// Counts checks on a board, and makes operands for them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "board/semihosting.h"

inline unsigned checks = 0, failures = 0;

inline void print_number(size_t number) {
  char digits[24];
  size_t at = sizeof digits - 1;
  digits[at] = 0;
  do {
    digits[--at] = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number != 0);
  semihosting_write(digits + at);
}

inline void expect(bool holds, const char* what, size_t size, unsigned pattern) {
  ++checks;
  if (holds) return;
  ++failures;
  semihosting_write(what);
  semihosting_write(", size ");
  print_number(size);
  semihosting_write(", pattern ");
  print_number(pattern);
  semihosting_write("\n");
}

/// Marsaglia's xorshift generator.
inline uint32_t random() {
  static uint32_t x = 2463534242u;
  x ^= x << 13;
  x ^= x >> 17;
  x ^= x << 5;
  return x;
}

enum Pattern : unsigned { kZeros, kFirst, kLast, kLargest, kAlternating, kFalling, kRandom, kPatterns = kRandom + 4 };

/// Value i of `count` in a pattern; the largest value is `largest`.
inline uint32_t value(unsigned pattern, size_t i, size_t count, uint32_t largest) {
  switch (pattern) {
    case kZeros:
      return 0;
    case kFirst:
      return i == 0 ? 1 : 0;
    case kLast:
      return i + 1 == count ? largest : 0;
    case kLargest:
      return largest;
    case kAlternating:
      return i % 2 == 0 ? largest : largest / 2 + 1;
    case kFalling:
      return largest - static_cast<uint32_t>(i) % (largest + (largest != UINT32_MAX));
    default:
      return largest == UINT32_MAX ? random() : random() % (largest + 1);
  }
}

/// Returns the exit status of main().
inline int report(const char* name) {
  semihosting_write(name);
  semihosting_write(": ");
  print_number(checks);
  semihosting_write(" checks, ");
  print_number(failures);
  semihosting_write(" failures\n");
  return failures == 0 && checks > 0 ? 0 : 1;
}
