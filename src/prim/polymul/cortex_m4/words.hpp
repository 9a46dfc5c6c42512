// SPDX-License-Identifier: Apache-2.0
// Words of two 16-bit coefficients, the lower one in the lower half.
#pragma once

#include <cstddef>
#include <cstdint>

namespace polykem::cortex_m4 {

using Word = uint32_t;

inline Word add(Word a, Word b) {
  Word sum;
  asm("uadd16 %0, %1, %2" : "=r"(sum) : "r"(a), "r"(b));
  return sum;
}
inline Word sub(Word a, Word b) {
  Word difference;
  asm("usub16 %0, %1, %2" : "=r"(difference) : "r"(a), "r"(b));
  return difference;
}
inline Word twice(Word x) {
  return add(x, x);
}

/// Multiplies both halves of x by `factor`.
inline Word times(Word x, uint16_t factor) {
  Word upper, both;
  asm("smultb %0, %1, %2" : "=r"(upper) : "r"(x), "r"(Word{factor}));
  asm("pkhbt %0, %1, %2, lsl #16" : "=r"(both) : "r"(x * factor), "r"(upper));
  return both;
}

}  // namespace polykem::cortex_m4
