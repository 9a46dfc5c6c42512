// SPDX-License-Identifier: Apache-2.0
// The primitives that the sets use here: the portable ones, or those of the Cortex-M4.
#pragma once

#include "schemes/ntru/ref/ops.hpp"

#ifdef POLYKEM_CORTEX_M4
#include "prim/polyinv/cortex_m4/polyinv_m4.hpp"
#include "prim/polymul/cortex_m4/polymul_m4.hpp"
#include "prim/sort/cortex_m4/sort_m4.hpp"
#include "schemes/mlkem/cortex_m4/prims_m4.hpp"
#else
#include "schemes/mlkem/compact/portable_prims.hpp"
#endif

namespace polykem::embedded {

#ifdef POLYKEM_CORTEX_M4

struct NtruPrims : ntru::ref::PortablePrims {
  static constexpr size_t workspace_bytes(size_t n) { return sizeof(uint32_t) * cortex_m4::mul_workspace_words(n); }

  /// c = a b mod (x^n - 1, q), for each n that a set here has.
  static void mul_cyclic(uint16_t* c, const uint16_t* a, const uint16_t* b, size_t n, void* ws) {
    const auto product = n == 509   ? cortex_m4::mul_cyclic<509>
                         : n == 677 ? cortex_m4::mul_cyclic<677>
                         : n == 701 ? cortex_m4::mul_cyclic<701>
                                    : cortex_m4::mul_cyclic<821>;
    product(c, a, b, static_cast<uint32_t*>(ws));
  }
  static void inverse_mod2(uint16_t* inverse, const uint16_t* a, size_t n, void*) {
    cortex_m4::poly_inverse_mod2(inverse, a, n);
  }
  static void inverse_mod3(uint16_t* inverse, const uint16_t* a, size_t n, void*) {
    cortex_m4::poly_inverse_mod3(inverse, a, n);
  }
  static void sort_int32(int32_t* keys, size_t count, void*) { cortex_m4::sort_int32(keys, count); }

  /// c = a b mod (3, Phi_n).
  template <ntru::NtruParams P>
  static void mul_S3(ntru::Poly<P, ntru::S3>& c, const ntru::Poly<P, ntru::S3>& a, const ntru::Poly<P, ntru::S3>& b,
                     void* ws) {
    static_assert(4 * P.n < (1u << 13));
    mul_cyclic(c.c, a.c, b.c, P.n, ws);
    ntru::ref::poly_mod_3_Phi_n<P>(c.c);
  }
};

using MlkemPrims = mlkem::cortex_m4::Prims;

#else

using NtruPrims = ntru::ref::PortablePrims;
using MlkemPrims = mlkem::compact::PortablePrims;

#endif

}  // namespace polykem::embedded
