// SPDX-License-Identifier: Apache-2.0
// Products mod x^n - 1 as sliding products: c[N - 1 - s] = the sum of u[s + j] b[j] with u[k] = a[(N - 1 - k) mod n],
// where N is n padded and b is followed by zeros.
#include "prim/polymul/cortex_m4/polymul_m4.hpp"

#include <cstring>

#include "prim/polymul/cortex_m4/toom4.hpp"

namespace polykem::cortex_m4 {

namespace {

/// u[k] = a[(first - k) mod n] for k < count.
void reverse_cyclically(uint16_t* u, const uint16_t* a, size_t n, size_t first, size_t count) {
  size_t at = first % n + 1;
  while (count > 0) {
    const size_t run = at < count ? at : count;
    const uint16_t* from = a + at;
#pragma GCC unroll 8
    for (size_t i = 0; i < run; ++i)
      u[i] = *--from;
    u += run;
    count -= run;
    at = n;
  }
}

}  // namespace

template <size_t n>
void mul_cyclic(uint16_t* c, const uint16_t* a, const uint16_t* b, uint32_t* workspace) {
  constexpr MulSizes kSizes = mul_sizes(n);
  constexpr size_t kPadded = kSizes.padded;
  Word* u = workspace;
  Word* v = u + kPadded;
  Word* y = v + kPadded / 2;
  static_assert(mul_workspace_words(n) == 2 * kPadded + toom4_scratch<kPadded, kSizes.base>());
  reverse_cyclically(reinterpret_cast<uint16_t*>(u), a, n, kPadded - 1, 2 * kPadded);
  std::memcpy(v, b, 2 * n);
  std::memset(reinterpret_cast<uint16_t*>(v) + n, 0, 2 * (kPadded - n));
  sliding_toom4<kPadded, kSizes.base>(y, u, v, y + kPadded / 2);
  reverse_cyclically(c, reinterpret_cast<uint16_t*>(y), kPadded, kPadded - 1, n);
}

template void mul_cyclic<509>(uint16_t*, const uint16_t*, const uint16_t*, uint32_t*);
template void mul_cyclic<677>(uint16_t*, const uint16_t*, const uint16_t*, uint32_t*);
template void mul_cyclic<701>(uint16_t*, const uint16_t*, const uint16_t*, uint32_t*);
template void mul_cyclic<821>(uint16_t*, const uint16_t*, const uint16_t*, uint32_t*);

}  // namespace polykem::cortex_m4
