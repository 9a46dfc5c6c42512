// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace polykem {

/// a / b, rounded up.
constexpr size_t divided_up(size_t a, size_t b) {
  return (a + b - 1) / b;
}

/// The least multiple of b that is not less than a.
constexpr size_t rounded_up(size_t a, size_t b) {
  return divided_up(a, b) * b;
}

}  // namespace polykem
