// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prim/polymul/lanes/single_product.hpp"
#include "prim/polymul/lanes/ternary_product.hpp"
#include "prim/polymul/lanes/toom.hpp"
#include "prim/polymul/polymul.hpp"

/// The splitting used for products modulo x^n - 1, for each n; docs/adr/0002-ntru-products-on-the-cpu.md has the
/// measurements.
namespace polykem::polymul {
inline namespace POLYKEM_ISA {

constexpr size_t larger(size_t a, size_t b) {
  return a > b ? a : b;
}

/// Returns the number of Karatsuba levels inside a straight-line leaf of kLeaf coefficients. AVX2 has half the
/// registers of AVX-512; docs/adr/0002-ntru-products-on-the-cpu.md has the cycles.
template <size_t kLeaf>
constexpr size_t leaf_depth() {
#ifdef POLYKEM_ISA_AVX512
  return 1;
#else
  return kLeaf >= 26 ? 2 : 1;
#endif
}

/// Karatsuba's method from kN down to leaves of kLeaf coefficients.
template <size_t kN, size_t kLeaf>
using Words = Karatsuba<kN, kLeaf, leaf_depth<kLeaf>(), V16>;

template <size_t kN>
struct ProductPlan;

template <>
struct ProductPlan<509> {
  static constexpr unsigned kExactBits = 13;
  using Cyclic = Toom4Cyclic<509, Words<128, 16>>;
  using Ternary = TernaryProduct<509, 64, 8, 0>;
  using Single = SingleProduct<509, Toom4Points, Words<32, 16>>;
  using SingleTernary = SingleTernaryProduct<509, Toom4Points, Words<32, 16>>;
};
template <>
struct ProductPlan<677> {
  static constexpr unsigned kExactBits = 13;
  using Cyclic = Toom4Cyclic<677, Words<176, 22>>;
  using Ternary = TernaryProduct<677, 88, 11, 1>;
  using Single = SingleProduct<677, Toom4Points, Words<44, 22>>;
  using SingleTernary = SingleTernaryProduct<677, Toom4Points, Words<44, 22>>;
};
template <>
struct ProductPlan<701> {
  static constexpr unsigned kExactBits = 13;
  using Cyclic = Toom4Cyclic<701, Words<176, 22>>;
  using Ternary = TernaryProduct<701, 88, 11, 1>;
  using Single = SingleProduct<701, Toom4Points, Words<44, 22>>;
  using SingleTernary = SingleTernaryProduct<701, Toom4Points, Words<44, 22>>;
};
template <>
struct ProductPlan<821> {
  static constexpr unsigned kExactBits = 13;
  using Cyclic = Toom4Cyclic<821, Words<208, 26>>;
  using Ternary = TernaryProduct<821, 104, 13, 1>;
  using Single = SingleProduct<821, Toom4Points, Words<52, 26>>;
  using SingleTernary = SingleTernaryProduct<821, Toom4Points, Words<52, 26>>;
};
/// q = 4096 leaves four bits: three for Toom-4, one for Toom-3.
template <>
struct ProductPlan<1229> {
  static constexpr unsigned kExactBits = 12;
  using Cyclic = Toom4Cyclic<1229, Toom3<Words<104, 26>>>;
  using Ternary = TernaryProduct<1229, 160, 10, 1>;
  using Single = SingleProduct<1229, Toom4Points, Words<80, 20>>;
  using SingleTernary = SingleTernaryProduct<1229, Toom4Points, Words<80, 20>>;
};
/// q = 16384 leaves two bits, for Toom-3 twice.
template <>
struct ProductPlan<1373> {
  static constexpr unsigned kExactBits = 14;
  using Cyclic = FoldedCyclic<1373, Toom3<Toom3<Words<160, 20>>, 1373>>;
  using Ternary = TernaryProduct<1373, 176, 11, 1>;
  using Single = SingleProduct<1373, Toom3Points, Words<128, 16>>;
  using SingleTernary = SingleTernaryProduct<1373, Toom3Points, Words<128, 16>>;
};

/// The function of a PolymulFunctions that calls Product::mul.
template <class Product>
void run_product(uint16_t* c, const uint16_t* a, const uint16_t* b, void* workspace) {
  Product::mul(c, a, b, static_cast<uint16_t*>(workspace));
}

template <size_t kN>
inline constexpr PolymulFunctions kPolymul = {
    .n = kN,
    .lanes = kLanes,
    .exact_bits = ProductPlan<kN>::kExactBits,
    .exact_bits_single = ProductPlan<kN>::SingleTernary::kExactBits,
    .workspace_bytes = larger(ProductPlan<kN>::Cyclic::kWorkspaceRows* V16::kRowWords * sizeof(uint16_t),
                              ProductPlan<kN>::Ternary::kWorkspaceBytes),
    .workspace_single_bytes = ProductPlan<kN>::SingleTernary::kWorkspaceBytes,
    .mul_cyclic = run_product<typename ProductPlan<kN>::Cyclic>,
    .mul_s3 = run_product<typename ProductPlan<kN>::Ternary>,
    .mul_cyclic_single = run_product<typename ProductPlan<kN>::Single>,
    .mul_s3_single = run_product<typename ProductPlan<kN>::SingleTernary>,
};

inline const PolymulFunctions* find_lane_mul(size_t n) {
  switch (n) {
    case 509:
      return &kPolymul<509>;
    case 677:
      return &kPolymul<677>;
    case 701:
      return &kPolymul<701>;
    case 821:
      return &kPolymul<821>;
    case 1229:
      return &kPolymul<1229>;
    case 1373:
      return &kPolymul<1373>;
    default:
      return nullptr;
  }
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::polymul
