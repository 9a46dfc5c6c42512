// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "core/isa.hpp"

namespace polykem {

// These are always inlined, since files that are compiled for different instruction sets call them.

/// a / b, rounded up.
POLYKEM_INLINE constexpr size_t divided_up(size_t a, size_t b) {
  return (a + b - 1) / b;
}

/// The least multiple of b that is not less than a.
POLYKEM_INLINE constexpr size_t rounded_up(size_t a, size_t b) {
  return divided_up(a, b) * b;
}

}  // namespace polykem
