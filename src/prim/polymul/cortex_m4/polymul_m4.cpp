// SPDX-License-Identifier: Apache-2.0
// Computes products mod x^n - 1 as sliding products: c[s] is the sum of u[s + j] v[j] with
// u[k] = a[(k - (N - 1)) mod n] and v[j] = b[N - 1 - j], where N is n padded and b is followed by zeros.
#include "prim/polymul/cortex_m4/polymul_m4.hpp"

#include <cstring>

#include "prim/polymul/cortex_m4/toom4.hpp"

namespace polykem::cortex_m4 {

namespace {

/// Sets u[k] to a[(first + k) mod n] for k < count.
void repeat_cyclically(uint16_t* u, const uint16_t* a, size_t n, size_t first, size_t count) {
  while (count > 0) {
    const size_t run = n - first < count ? n - first : count;
    std::memcpy(u, a + first, run * sizeof *u);
    u += run;
    count -= run;
    first = 0;
  }
}

/// Sets v[j] to b[2 words - 1 - j] for v's 2 words coefficients, of which b has n, an odd number; the others are 0.
void reverse(Word* v, size_t words, const uint16_t* b, size_t n) {
  const size_t zeros = words - (n - 1) / 2;
  std::memset(v, 0, zeros * sizeof *v);
  v += zeros;
  const uint16_t* from = b + n;
  v[-1] = Word{*--from} << 16;
#pragma GCC unroll 8
  for (size_t i = 0; i < (n - 1) / 2; ++i) {
    Word word;
    from -= 2;
    std::memcpy(&word, from, sizeof word);
    *v++ = word << 16 | word >> 16;
  }
}

}  // namespace

template <size_t n>
void mul_cyclic(uint16_t* c, const uint16_t* a, const uint16_t* b, uint32_t* workspace) {
  constexpr size_t kPadded = padded_size(n);
  using Product = Toom4<kPadded / 32>;
  static_assert(mul_workspace_words(n) == sizeof(Product) / sizeof(uint32_t));
  auto& product = *reinterpret_cast<Product*>(workspace);
  repeat_cyclically(reinterpret_cast<uint16_t*>(product.operands.u), a, n, 2 * n - (kPadded - 1), 2 * kPadded);
  reverse(product.operands.v, kPadded / 2, b, n);
  product.multiply();
  std::memcpy(c, product.y, n * sizeof *c);
}

template void mul_cyclic<509>(uint16_t*, const uint16_t*, const uint16_t*, uint32_t*);
template void mul_cyclic<677>(uint16_t*, const uint16_t*, const uint16_t*, uint32_t*);
template void mul_cyclic<701>(uint16_t*, const uint16_t*, const uint16_t*, uint32_t*);
template void mul_cyclic<821>(uint16_t*, const uint16_t*, const uint16_t*, uint32_t*);

}  // namespace polykem::cortex_m4
