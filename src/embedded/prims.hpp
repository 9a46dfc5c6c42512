// SPDX-License-Identifier: Apache-2.0
// The primitives that the sets use here: the portable ones, or those of the Cortex-M4.
#pragma once

#include <cstring>

#include "schemes/ntru/ref/steps.hpp"

#ifdef POLYKEM_CORTEX_M4
#include "prim/polymul/cortex_m4/polymul_m4.hpp"
#include "schemes/mlkem/cortex_m4/prims_m4.hpp"
#include "schemes/ntru/polyinv/cortex_m4/polyinv_m4.hpp"
#include "schemes/ntru/sort/cortex_m4/sort_m4.hpp"
#else
#include "schemes/mlkem/low_memory/portable_prims.hpp"
#endif

namespace polykem::embedded {

#ifdef POLYKEM_CORTEX_M4

struct NtruBasePrims {
  static constexpr size_t workspace_bytes(size_t n) { return sizeof(uint32_t) * cortex_m4::mul_workspace_words(n); }

  /// c = a b mod (x^n - 1, q). c may be a or b.
  template <size_t n>
  static void mul_cyclic(uint16_t* c, const uint16_t* a, const uint16_t* b, void* workspace) {
    cortex_m4::mul_cyclic<n>(c, a, b, static_cast<uint32_t*>(workspace));
  }
  static void inverse_mod2(uint16_t* inverse, const uint16_t* a, size_t n, void*) {
    cortex_m4::poly_inverse_mod2(inverse, a, n);
  }
  static void inverse_mod3(uint16_t* inverse, const uint16_t* a, size_t n, void*) {
    cortex_m4::poly_inverse_mod3(inverse, a, n);
  }
  static void sort_int32(int32_t* keys, size_t count, void*) { cortex_m4::sort_int32(keys, count); }
};

using MlkemPrims = mlkem::cortex_m4::Prims;

#else

/// The portable primitives with a product that may take the place of an operand.
struct NtruBasePrims : ntru::ref::PortablePrims {
  static constexpr size_t workspace_bytes(size_t n) { return sizeof(uint16_t) * n; }
  template <size_t n>
  static void mul_cyclic(uint16_t* c, const uint16_t* a, const uint16_t* b, void* workspace) {
    poly_mul_cyclic(static_cast<uint16_t*>(workspace), a, b, n);
    std::memcpy(c, workspace, sizeof(uint16_t) * n);
  }
};

using MlkemPrims = mlkem::low_memory::PortablePrims;

#endif

struct NtruPrims : NtruBasePrims {
  /// c = a b mod (3, Phi_n). A sum has at most n products of at most 4, and mul_cyclic is right mod 2^13.
  template <ntru::NtruParams P>
  static void mul_S3(ntru::Poly<P, ntru::S3>& c, const ntru::Poly<P, ntru::S3>& a, const ntru::Poly<P, ntru::S3>& b,
                     void* workspace) {
    static_assert(4 * P.n < (1u << 13));
    mul_cyclic<P.n>(c.c, a.c, b.c, workspace);
    ntru::ref::poly_mod_3_Phi_n<P>(c.c);
  }
};

}  // namespace polykem::embedded
