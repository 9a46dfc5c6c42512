// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prim/polymul/lanes/one_product.hpp"
#include "prim/polymul/lanes/ternary_product.hpp"
#include "prim/polymul/lanes/toom.hpp"
#include "prim/polymul/polymul.hpp"

/// Which splitting multiplies modulo x^n - 1 for each n. The leaf size kH is what the schoolbook kernel keeps in
/// registers (two operands of at most 13 rows in 32 registers); docs/adr/0002 has the measurements.
namespace polykem::polymul {
inline namespace POLYKEM_ISA {

constexpr size_t larger(size_t a, size_t b) {
  return a > b ? a : b;
}

template <size_t kN>
struct ProductPlan;

template <>
struct ProductPlan<509> {
  static constexpr unsigned kExactBits = 13;
  using Cyclic = Toom4Cyclic<509, Karatsuba<128, 8>>;
  using Ternary = TernaryProduct<509, 64, 8>;
  using One = OneProduct<509, OuterToom4, 32, 8>;
  using OneTernary = OneTernaryProduct<509, OuterToom4, 32, 8>;
};
template <>
struct ProductPlan<677> {
  static constexpr unsigned kExactBits = 13;
  using Cyclic = Toom4Cyclic<677, Karatsuba<176, 11>>;
  using Ternary = TernaryProduct<677, 88, 11>;
  using One = OneProduct<677, OuterToom4, 44, 11>;
  using OneTernary = OneTernaryProduct<677, OuterToom4, 44, 11>;
};
template <>
struct ProductPlan<701> {
  static constexpr unsigned kExactBits = 13;
  using Cyclic = Toom4Cyclic<701, Karatsuba<176, 11>>;
  using Ternary = TernaryProduct<701, 88, 11>;
  using One = OneProduct<701, OuterToom4, 44, 11>;
  using OneTernary = OneTernaryProduct<701, OuterToom4, 44, 11>;
};
template <>
struct ProductPlan<821> {
  static constexpr unsigned kExactBits = 13;
  using Cyclic = Toom4Cyclic<821, Karatsuba<208, 13>>;
  using Ternary = TernaryProduct<821, 104, 13>;
  using One = OneProduct<821, OuterToom4, 52, 13>;
  using OneTernary = OneTernaryProduct<821, OuterToom4, 52, 13>;
};
/// q = 4096 leaves four bits: three for Toom-4, one for Toom-3.
template <>
struct ProductPlan<1229> {
  static constexpr unsigned kExactBits = 12;
  using Cyclic = Toom4Cyclic<1229, Toom3<Karatsuba<104, 13>>>;
  using Ternary = TernaryProduct<1229, 160, 10>;
  using One = OneProduct<1229, OuterToom4, 80, 10>;
  using OneTernary = OneTernaryProduct<1229, OuterToom4, 80, 10>;
};
/// q = 16384 leaves two bits: Toom-3 twice.
template <>
struct ProductPlan<1373> {
  static constexpr unsigned kExactBits = 14;
  using Cyclic = FoldedCyclic<1373, Toom3<Toom3<Karatsuba<160, 10>>, 1373>>;
  using Ternary = TernaryProduct<1373, 176, 11>;
  using One = OneProduct<1373, OuterToom3, 128, 8>;
  using OneTernary = OneTernaryProduct<1373, OuterToom3, 128, 8>;
};

/// A workspace function of the public table around Product::mul.
template <class Product>
void run_product(uint16_t* c, const uint16_t* a, const uint16_t* b, void* ws) {
  Product::mul(c, a, b, static_cast<uint16_t*>(ws));
}

template <size_t kN>
inline constexpr LaneMul kLaneMul = {
    .n = kN,
    .lanes = kLanes,
    .exact_bits = ProductPlan<kN>::kExactBits,
    .workspace_bytes = larger(ProductPlan<kN>::Cyclic::kWorkspaceRows* V16::kRowWords * sizeof(uint16_t),
                              ProductPlan<kN>::Ternary::kWorkspaceBytes),
    .workspace_one_bytes = ProductPlan<kN>::OneTernary::kWorkspaceBytes,
    .mul_cyclic = run_product<typename ProductPlan<kN>::Cyclic>,
    .mul_s3 = run_product<typename ProductPlan<kN>::Ternary>,
    .mul_cyclic_one = run_product<typename ProductPlan<kN>::One>,
    .mul_s3_one = run_product<typename ProductPlan<kN>::OneTernary>,
};

inline const LaneMul* find_lane_mul(size_t n) {
  switch (n) {
    case 509:
      return &kLaneMul<509>;
    case 677:
      return &kLaneMul<677>;
    case 701:
      return &kLaneMul<701>;
    case 821:
      return &kLaneMul<821>;
    case 1229:
      return &kLaneMul<1229>;
    case 1373:
      return &kLaneMul<1373>;
    default:
      return nullptr;
  }
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::polymul
