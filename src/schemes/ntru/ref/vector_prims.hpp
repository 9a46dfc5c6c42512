// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "schemes/ntru/interleaved/instruction_set.hpp"
#include "schemes/ntru/sort/lanes/sort_single.hpp"
#include "schemes/ntru/types.hpp"

namespace polykem::ntru::ref {
inline namespace POLYKEM_ISA {

/// Adds to an instruction set's interleaved primitives those of one item, in the form that Steps takes.
template <interleaved::InstructionSet Isa>
struct VectorPrims : Isa {
  static size_t workspace_bytes(size_t n) {
    return std::max({Isa::mul(n)->workspace_single_bytes, Isa::inverse().workspace_bytes, sort_lanes::kSortOneBytes});
  }

  template <size_t n>
  static void mul_cyclic(uint16_t* c, const uint16_t* a, const uint16_t* b, void* workspace) {
    Isa::mul(n)->mul_cyclic_single(c, a, b, workspace);
  }
  template <NtruParams P>
  static void mul_S3(Poly<P, S3>& c, const Poly<P, S3>& a, const Poly<P, S3>& b, void* workspace) {
    Isa::mul(P.n)->mul_s3_single(c.c, a.c, b.c, workspace);
  }
  static void inverse_mod2(uint16_t* inverse, const uint16_t* a, size_t n, void* workspace) {
    Isa::inverse().inverse_mod2_single(inverse, a, n, workspace);
  }
  static void inverse_mod3(uint16_t* inverse, const uint16_t* a, size_t n, void* workspace) {
    Isa::inverse().inverse_mod3_single(inverse, a, n, workspace);
  }
  static void sort_int32(int32_t* keys, size_t count, void* workspace) {
    sort_lanes::sort_single(keys, count, workspace);
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::ntru::ref
