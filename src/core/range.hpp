// SPDX-License-Identifier: Apache-2.0
// POLYKEM_ASSERT_RANGE(x, low, high) checks that x is in [low, high): an integer, or each 16-bit lane of a vector,
// which are signed if low is negative. POLYKEM_ASSERT_WITHIN(x, bound) checks that |x| < bound. Only builds with
// POLYKEM_CHECK_RANGES check (the presets debug and sanitize): values are secret, so nothing else may branch on them.
// Code on a device never checks.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#if defined(POLYKEM_CHECK_RANGES) && !defined(__CUDACC__)
#define POLYKEM_ASSERT_RANGE(x, low, high) ::polykem::assert_range(x, low, high, #x, __FILE__, __LINE__)
#else
#define POLYKEM_ASSERT_RANGE(x, low, high) static_cast<void>(sizeof(x))
#endif

#define POLYKEM_ASSERT_WITHIN(x, bound) POLYKEM_ASSERT_RANGE(x, 1LL - (bound), bound)

#ifdef POLYKEM_CHECK_RANGES

namespace polykem {

[[noreturn]] inline void out_of_range(const char* name, long long value, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: %s is out of its range: %lld\n", file, line, name, value);
  std::abort();
}

template <std::integral T>
constexpr void assert_range(T x, long long low, long long high, const char* name, const char* file, int line) {
  if (static_cast<long long>(x) < low || static_cast<long long>(x) >= high) out_of_range(name, x, file, line);
}

template <class Vector>
requires(Vector::kLanes > 0) void assert_range(const Vector& x, long long low, long long high, const char* name,
                                               const char* file, int line) {
  alignas(64) uint16_t lanes[Vector::kLanes];
  x.store(lanes);
  for (const uint16_t lane : lanes)
    assert_range(low < 0 ? int{static_cast<int16_t>(lane)} : int{lane}, low, high, name, file, line);
}

}  // namespace polykem

#endif
