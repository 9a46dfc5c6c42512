// SPDX-License-Identifier: Apache-2.0
#include "prim/polymul/ref/schoolbook.hpp"

namespace polykem {

namespace {

/// Adds factor * a[j] to c[j], in a plain loop that every compiler turns into vector code.
void accumulate(uint16_t* __restrict c, const uint16_t* __restrict a, uint32_t factor, size_t count) {
  for (size_t j = 0; j < count; ++j)
    c[j] = static_cast<uint16_t>(c[j] + factor * a[j]);
}

}  // namespace

void poly_mul_cyclic(uint16_t* c, const uint16_t* a, const uint16_t* b, size_t n) {
  for (size_t k = 0; k < n; ++k)
    c[k] = 0;
  for (size_t i = 0; i < n; ++i) {
    accumulate(c + i, a, b[i], n - i);
    accumulate(c, a + (n - i), b[i], i);
  }
}

}  // namespace polykem
