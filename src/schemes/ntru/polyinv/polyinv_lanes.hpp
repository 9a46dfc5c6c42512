// SPDX-License-Identifier: Apache-2.0
// Inverses modulo (2, Phi_n) and (3, Phi_n) of many polynomials at a time, an item per vector lane. [BY19, 5]
#pragma once

#include <cstddef>
#include <cstdint>

namespace polykem {

/// The functions of one instruction set. `lanes` items are interleaved: coefficient i of item l at [i * lanes + l]. n
/// is odd, at most kMaxInverseDegree. Inputs and outputs are as for poly_inverse_mod2 and poly_inverse_mod3, and so are
/// the results wherever an inverse exists. `workspace` has workspace_bytes bytes, 64-byte aligned, and is zeroized
/// before return. An output may be the same memory as its input.
struct PolyInvFunctions {
  size_t lanes;            ///< the number of interleaved items
  size_t workspace_bytes;  ///< what every function below needs, for any n

  /// Invert the interleaved polynomials. `inverse` and `a` are 64-byte aligned.
  void (*inverse_mod2)(uint16_t* inverse, const uint16_t* a, size_t n, void* workspace);
  void (*inverse_mod3)(uint16_t* inverse, const uint16_t* a, size_t n, void* workspace);

  /// Invert a single polynomial of n coefficients. No alignment is needed.
  void (*inverse_mod2_single)(uint16_t* inverse, const uint16_t* a, size_t n, void* workspace);
  void (*inverse_mod3_single)(uint16_t* inverse, const uint16_t* a, size_t n, void* workspace);
};

extern const PolyInvFunctions kPolyInvAvx2;
extern const PolyInvFunctions kPolyInvAvx512;
extern const PolyInvFunctions kPolyInvNeon;

}  // namespace polykem
