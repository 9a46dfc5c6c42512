// SPDX-License-Identifier: Apache-2.0
// Words of two 16-bit coefficients, the lower one in the lower half.
#pragma once

#include <arm_acle.h>

#include <cstddef>
#include <cstdint>

namespace polykem::cortex_m4 {

using Word = uint32_t;

inline Word add(Word a, Word b) {
  return static_cast<Word>(__uadd16(a, b));
}
inline Word sub(Word a, Word b) {
  return static_cast<Word>(__usub16(a, b));
}

}  // namespace polykem::cortex_m4
