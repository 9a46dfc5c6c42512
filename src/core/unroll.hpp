// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "core/isa.hpp"

namespace polykem {
inline namespace POLYKEM_ISA {

/// Calls f(0), f(1), .. f(kCount - 1) with compile-time indices, in this order.
template <size_t kCount, class F>
POLYKEM_INLINE void unroll(F&& f) {
  [&]<size_t... I>(std::index_sequence<I...>) __attribute__((always_inline)) {
    (f(std::integral_constant<size_t, I>{}), ...);
  }
  (std::make_index_sequence<kCount>{});
}

}  // namespace POLYKEM_ISA
}  // namespace polykem
