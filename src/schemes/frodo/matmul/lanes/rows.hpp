// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "prim/simd/isa.hpp"
#include "schemes/frodo/matmul/matmul.hpp"

namespace polykem::matmul {
inline namespace POLYKEM_ISA {

/// kCount rows of an operand from `first` on. If it has fewer, its last one is repeated.
template <size_t kCount>
struct Rows {
  const uint16_t* at[kCount];
  POLYKEM_INLINE Rows(ConstMatrix16 m, size_t first, size_t rows) {
    for (size_t i = 0; i < kCount; ++i)
      at[i] = m.row(std::min(first + i, rows - 1));
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::matmul
