// SPDX-License-Identifier: Apache-2.0
#include "stack.hpp"

#include <cstdint>

extern "C" uint32_t stack_bottom[];

namespace {

constexpr uint32_t kPattern = 0x5eed5eed;
/// The frames of the API's functions, which hold addresses and no secrets, and of this file's.
constexpr uintptr_t kOwnFrames = 256;

uintptr_t top = 0;
size_t deepest = 0;

}  // namespace

[[gnu::noinline]] void paint_stack() {
  uint32_t here;
  asm volatile("mov %0, sp" : "=r"(here));
  top = here;
  for (volatile uint32_t* word = stack_bottom; reinterpret_cast<uintptr_t>(word) < top; ++word)
    *word = kPattern;
}

[[gnu::noinline]] bool read_stack() {
  volatile uint32_t* word = stack_bottom;
  while (reinterpret_cast<uintptr_t>(word) < top && *word == kPattern)
    ++word;
  const size_t depth = top - reinterpret_cast<uintptr_t>(word);
  if (depth > deepest) deepest = depth;
  bool wiped = true;
  for (; reinterpret_cast<uintptr_t>(word) < top - kOwnFrames; ++word)
    wiped = wiped && (*word == 0 || *word == kPattern);
  return wiped;
}

size_t deepest_stack() {
  return deepest;
}

[[gnu::noinline]] bool floating_point_is_zero() {
  uint32_t words[16];
  asm volatile("vstm %0, {s0-s15}" : : "r"(words) : "memory");
  uint32_t any = 0;
  for (const uint32_t word : words)
    any |= word;
  return any == 0;
}
