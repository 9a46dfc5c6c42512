// SPDX-License-Identifier: Apache-2.0
// The S-box as a circuit of 73 operations on three operands each, as LOP3 computes them. The decomposition of the field
// is that of Boyar and Peralta; here a sum of three terms, a product that is added, and a choice cost the same.
// [FIPS197, 5.1.1]
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "prim/aes/ref/sbox.hpp"

namespace polykem::cuda {

/// Computes f(a, b, c), three operands of a logic function, by one instruction. The compiler alone, which rearranges
/// terms, takes a quarter more of them for the S-box.
template <class F>
constexpr uint32_t lop3(F f, uint32_t a, uint32_t b, uint32_t c) {
#if defined(__CUDA_ARCH__)
  if (!std::is_constant_evaluated()) {
    constexpr uint32_t kTable = F{}(0xf0u, 0xccu, 0xaau) & 0xff;
    uint32_t result;
    asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(result) : "r"(a), "r"(b), "r"(c), "n"(kTable));
    return result;
  }
#endif
  return f(a, b, c);
}

constexpr uint32_t sum_of_three(uint32_t a, uint32_t b, uint32_t c) {
  return lop3([](uint32_t u, uint32_t v, uint32_t w) { return u ^ v ^ w; }, a, b, c);
}

/// Applies the S-box without its constant, 0x63, to every byte, like aes::sub_bytes_linear().
constexpr aes::Bits<uint32_t> sub_bytes_lop3(const aes::Bits<uint32_t>& x) {
  using W = uint32_t;
  const auto sum = [](W a, W b, W c) { return sum_of_three(a, b, c); };
  const auto add_and = [](W a, W b, W c) { return lop3([](W u, W v, W w) { return u ^ (v & w); }, a, b, c); };
  const auto add_or = [](W a, W b, W c) { return lop3([](W u, W v, W w) { return u ^ (v | w); }, a, b, c); };
  const auto add_less = [](W a, W b, W c) { return lop3([](W u, W v, W w) { return u ^ (v & ~w); }, a, b, c); };
  const auto choose = [](W a, W b, W c) { return lop3([](W u, W v, W w) { return (u & v) | (~u & w); }, a, b, c); };
  const W x0 = x[7], x1 = x[6], x2 = x[5], x3 = x[4], x4 = x[3], x5 = x[2], x6 = x[1], x7 = x[0];
  // Linear forms of the input.
  const W y14 = x3 ^ x5, y13 = x0 ^ x6, y9 = x0 ^ x3, y8 = x0 ^ x5, y12 = y13 ^ y14;
  const W y1 = sum(x1, x2, x7), y4 = y1 ^ x3, y2 = y1 ^ x0, y5 = y1 ^ x6, y3 = y5 ^ y8;
  const W y15 = sum(x4, x5, y12), y6 = y15 ^ x7, y10 = sum(y15, x1, x2), y17 = sum(x2, x5, y9), y11 = y10 ^ y17;
  const W y7 = x7 ^ y11, y16 = sum(x1, x2, y11);
  // The norm in GF(16). Products a & ~b and a | b instead of a & b add a part of the linear forms for nothing.
  const W p2 = y12 & y15, p7 = ~y13 & y16, p12 = y9 & y11;
  const W q1 = add_or(p12, y14, y17), q2 = add_less(p12, y8, y10);
  const W a = sum(add_or(p2, y3, y6), q1, x6), b = sum(add_and(p2, y4, x7), q2, y10);
  const W c = sum(add_or(p7, y5, y1), q1, x2), d = sum(add_and(p7, y2, y7), q2, x5);
  // Its inverse, and sums of the inverse's bits.
  const W i = add_and(d, a, c), j = add_and(b, a, c);
  const W k = lop3([](W u, W v, W w) { return ~((u ^ v) | (v & w)); }, d, i, b);
  const W f29 = choose(i, a, b), f33 = choose(j, c, d), f43 = choose(k, a, j), f44 = choose(k, c, i);
  const W f40 = f29 ^ f43, f37 = f33 ^ f44, f42 = f29 ^ f33, f41 = f40 ^ f37, f45 = f42 ^ f41;
  // The products with the linear forms, added up to the output.
  const W z2 = f33 & x7, z3 = f43 & y16, z4 = f40 & y1, z5 = f29 & y7, z7 = f45 & y17, z12 = f43 & y13;
  const W z16 = f45 & y14;
  const W t46 = add_and(z16, f42, y9), t48 = add_and(z5, f40, y5), t53 = add_and(z3, f44, y15);
  const W t54 = add_and(z7, f42, y11), t57 = sum(t53, z2, z12), t58 = t46 ^ z4;
  const W t62 = t58 ^ add_and(z7, f41, y10), t63 = add_and(add_and(t58, f44, y12), f37, y3);
  const W t64 = sum(z3, t54, z4), t65 = add_and(t57, f29, y2) ^ t62, t66 = add_and(t63, f37, y6), s3 = t53 ^ t66;
  return {sum(t48, t46, t57),
          sum(z12, t48, t62),
          add_and(add_and(t65, f37, y3), f33, y4),
          sum(t66, z5, z2),
          s3,
          add_and(sum(t64, t65, z16), f41, y8),
          t64 ^ s3,
          sum(z3, t54, t63)};
}

/// Returns whether both circuits compute the same: 256 bytes as planes, 32 at a time.
constexpr bool sub_bytes_lop3_is_right() {
  for (uint32_t first = 0; first < 256; first += 32) {
    aes::Bits<uint32_t> x{};
    for (uint32_t v = 0; v < 32; ++v) {
      for (size_t bit = 0; bit < 8; ++bit)
        x[bit] |= ((first + v) >> bit & 1u) << v;
    }
    if (sub_bytes_lop3(x) != aes::sub_bytes_linear(x)) return false;
  }
  return true;
}
static_assert(sub_bytes_lop3_is_right());

}  // namespace polykem::cuda
