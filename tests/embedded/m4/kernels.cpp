// SPDX-License-Identifier: Apache-2.0
// Compares the primitives for the Cortex-M4 with the portable ones on zeros, single coefficients, extreme and random
// operands.
#include <cstring>
#include <initializer_list>

#include "checks.hpp"
#include "prim/aes/cortex_m4/aes128_m4.hpp"
#include "prim/polymul/cortex_m4/polymul_m4.hpp"
#include "prim/polymul/ref/schoolbook.hpp"
#include "schemes/frodo/matmul/cortex_m4/matmul_m4.hpp"
#include "schemes/ntru/polyinv/cortex_m4/polyinv_m4.hpp"
#include "schemes/ntru/polyinv/polyinv.hpp"
#include "schemes/ntru/sort/cortex_m4/sort_m4.hpp"
#include "schemes/ntru/sort/sort.hpp"

namespace {

using namespace polykem;

constexpr size_t kMax = 832;
void check_sort(size_t count, unsigned pattern) {
  static int32_t ours[kMax + kSortRoom], wanted[kMax];
  for (size_t i = 0; i < count; ++i)
    wanted[i] = ours[i] = static_cast<int32_t>(value(pattern, i, count, UINT32_MAX));
  cortex_m4::sort_int32(ours, count);
  sort_int32(wanted, count);
  expect(std::memcmp(ours, wanted, count * sizeof *ours) == 0, "sort_int32", count, pattern);
}

template <size_t n>
void check_product(unsigned a_pattern, unsigned b_pattern) {
  static uint16_t a[n], b[n], ours[n], wanted[n];
  static uint32_t workspace[cortex_m4::mul_workspace_words(n)];
  for (size_t i = 0; i < n; ++i) {
    a[i] = static_cast<uint16_t>(value(a_pattern, i, n, 0xffff));
    b[i] = static_cast<uint16_t>(value(b_pattern, i, n, 0xffff));
  }
  std::memset(workspace, 0xa5, sizeof workspace);
  cortex_m4::mul_cyclic<n>(ours, a, b, workspace);
  poly_mul_cyclic(wanted, a, b, n);
  bool same = true;
  for (size_t i = 0; i < n; ++i)
    same = same && ours[i] == (wanted[i] & 0x1fff);
  expect(same, "mul_cyclic", n, 100 * a_pattern + b_pattern);
  cortex_m4::mul_cyclic<n>(a, a, b, workspace);
  expect(std::memcmp(a, ours, sizeof a) == 0, "mul_cyclic in place", n, 100 * a_pattern + b_pattern);
}

void check_inverses(size_t n, unsigned pattern) {
  static uint16_t a[kMax], ours[kMax], wanted[kMax];
  for (const uint32_t largest : {1u, 2u}) {
    uint32_t any = 0;
    for (size_t i = 0; i < n; ++i) {
      a[i] = static_cast<uint16_t>(i + 1 == n ? 0 : value(pattern, i, n - 1, largest));
      any |= a[i];
    }
    if (any == 0) continue;  // has no inverse
    (largest == 1 ? cortex_m4::poly_inverse_mod2 : cortex_m4::poly_inverse_mod3)(ours, a, n);
    (largest == 1 ? poly_inverse_mod2 : poly_inverse_mod3)(wanted, a, n);
    expect(std::memcmp(ours, wanted, n * sizeof *ours) == 0, largest == 1 ? "inverse_mod2" : "inverse_mod3", n,
           pattern);
  }
}

void fill(uint16_t* words, size_t count, unsigned pattern) {
  for (size_t i = 0; i < count; ++i)
    words[i] = static_cast<uint16_t>(value(pattern, i, count, 0xffff));
}

/// The shapes of FrodoKEM-640: S' A with four rows of A, A S with four rows, B' S, S' B by halves.
void check_matrices(unsigned pattern) {
  constexpr size_t kN = 640, kBar = 8, kRows = 4;
  static uint16_t s[kBar * kN], a[kRows * kN], ours[kBar * kN], wanted[kBar * kN];
  fill(s, kBar * kN, pattern);
  fill(a, kRows * kN, kRandom);
  fill(ours, kBar * kN, pattern);
  std::memcpy(wanted, ours, sizeof ours);
  const ProductShape wide{.rows = kBar, .inner = kRows, .columns = kN};
  cortex_m4::kMatMul.mul_add({ours, kN}, {s + 8, kN}, {a, kN}, wide);
  kMatMulPortable.mul_add({wanted, kN}, {s + 8, kN}, {a, kN}, wide);
  expect(std::memcmp(ours, wanted, sizeof ours) == 0, "mul_add", kN, pattern);
  const auto check_narrow = [&](ConstMatrix16 left, ConstMatrix16 right, size_t rows, size_t inner) {
    const ProductShape narrow{.rows = rows, .inner = inner, .columns = kBar};
    cortex_m4::kMatMul.mul_add_transposed({ours, kBar}, left, right, narrow);
    kMatMulPortable.mul_add_transposed({wanted, kBar}, left, right, narrow);
    expect(std::memcmp(ours, wanted, sizeof ours) == 0, "mul_add_transposed", rows, pattern);
  };
  check_narrow({a, kN}, {s, kN}, kRows, kN);
  check_narrow({s, kN}, {s, kN}, kBar, kN);
  check_narrow({s + kN / 2, kN}, {a, kN / 2}, kBar, kN / 2);
}

/// Rows of FrodoKEM's matrix, whose blocks the bit-sliced code encrypts one by one.
void check_grid(unsigned pattern) {
  constexpr size_t kRows = 2, kStride = 648;
  static uint16_t ours[kRows * kStride], wanted[kRows * kStride];
  uint8_t key[kAes128KeyBytes];
  for (size_t i = 0; i < sizeof key; ++i)
    key[i] = static_cast<uint8_t>(value(pattern, i, sizeof key, 0xff));
  for (const size_t columns : {8, 248, 256, 264, 512, 640}) {
    for (const size_t row : {0, 255, 638, 65534}) {
      std::memset(ours, 0xa5, sizeof ours);
      std::memset(wanted, 0xa5, sizeof wanted);
      cortex_m4::aes128_grid(ours, kStride, key, row, kRows, columns);
      kAes128Portable.grid(wanted, kStride, key, row, kRows, columns);
      expect(std::memcmp(ours, wanted, sizeof ours) == 0, "aes128_grid", columns, pattern);
    }
  }
}

}  // namespace

int main() {
  for (unsigned pattern = 0; pattern < kPatterns; ++pattern) {
    for (const size_t count : {1, 2, 7, 8, 9, 63, 64, 100, 508, 676, 820})
      check_sort(count, pattern);
    for (unsigned other = 0; other < kPatterns; ++other) {
      check_product<509>(pattern, other);
      check_product<677>(pattern, other);
      check_product<701>(pattern, other);
      check_product<821>(pattern, other);
    }
    for (const size_t n : {509, 677, 701, 821})
      check_inverses(n, pattern);
    check_matrices(pattern);
    check_grid(pattern);
  }
  return report("kernels");
}
