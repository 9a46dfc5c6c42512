// SPDX-License-Identifier: Apache-2.0
// Constant-time building blocks, and the hooks of the constant-time check.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/isa.hpp"

#ifdef POLYKEM_CT_CHECK
#include <valgrind/memcheck.h>
#endif

namespace polykem::ct {
inline namespace POLYKEM_ISA {

/// Hides from the optimiser where a value comes from, so that it cannot turn masks back into branches.
template <class T>
inline T barrier(T value) {
  asm volatile("" : "+r"(value));
  return value;
}

/// Returns all ones if x != 0, else 0.
inline uint32_t mask_nonzero(uint32_t x) {
  return barrier(0u - ((x | (0u - x)) >> 31));
}

/// Sets `out` to `b` if the mask is all ones, and to `a` if it is 0. `out` may be `a` or `b`.
inline void select_bytes(uint8_t* out, const uint8_t* a, const uint8_t* b, size_t bytes, uint32_t mask) {
  const auto every_bit = static_cast<uint8_t>(barrier(mask));
  for (size_t i = 0; i < bytes; ++i)
    out[i] = static_cast<uint8_t>(a[i] ^ (every_bit & (a[i] ^ b[i])));
}

/// Returns all ones if the bytes differ, else 0.
inline uint32_t mask_different(const uint8_t* a, const uint8_t* b, size_t bytes) {
  uint8_t differences = 0;
  for (size_t i = 0; i < bytes; ++i)
    differences = static_cast<uint8_t>(differences | (a[i] ^ b[i]));
  return mask_nonzero(differences);
}

/// Returns x mod 3 for x < 2^15, without a division. (check-magic: 21846 == ceil(2^16 / 3))
inline uint16_t mod3(uint32_t x) {
  return static_cast<uint16_t>(x - 3 * ((x * 21846u) >> 16));
}

/// Marks memory as secret for the constant-time check. It has no effect in a normal build.
inline void poison([[maybe_unused]] const void* memory, [[maybe_unused]] size_t bytes) {
#ifdef POLYKEM_CT_CHECK
  (void)VALGRIND_MAKE_MEM_UNDEFINED(memory, bytes);
#endif
}

/// Marks memory as public for the constant-time check. It has no effect in a normal build.
inline void declassify([[maybe_unused]] const void* memory, [[maybe_unused]] size_t bytes) {
#ifdef POLYKEM_CT_CHECK
  (void)VALGRIND_MAKE_MEM_DEFINED(memory, bytes);
#endif
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::ct
