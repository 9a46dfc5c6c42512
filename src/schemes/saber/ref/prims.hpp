// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/scheme.hpp"
#include "prim/keccak/row_hashes.hpp"
#include "schemes/saber/ref/pack.hpp"

namespace polykem::saber::ref {
inline namespace POLYKEM_ISA {

/// The portable primitives for one item. Other classes of primitives have the same members.
struct PortablePrims : PortableHashes {
  /// Writes kOut bytes of SHAKE128 of a seed to the only row.
  template <size_t kOut>
  static void shake128(ByteRows out, ConstByteRows seed, size_t) {
    Shake xof(Shake::Strength::kShake128);
    xof.absorb({seed.data, kSymBytes});
    xof.squeeze({out.data, kOut});
  }

  template <unsigned kBits>
  static void unpack(Poly& a, const uint8_t* in) {
    ref::unpack<kBits>(a.c, in);
  }
  template <unsigned kBits>
  static void pack(uint8_t* out, const Poly& a) {
    ref::pack<kBits>(out, a.c);
  }

  /// The working memory of multiply().
  template <size_t kL>
  struct Space {
    uint16_t sums[2 * kN];
  };

  /// Computes out[i] = the sum over j < kL of a[i kL + j] s[j] modulo (2^13, x^256 + 1) for i < kRows; bits above are
  /// arbitrary.
  template <size_t kRows, size_t kL>
  static void multiply(Poly* out, const Poly* a, const Poly* s, Space<kL>& t) {
    for (size_t i = 0; i < kRows; ++i) {
      std::memset(t.sums, 0, sizeof t.sums);
      for (size_t j = 0; j < kL; ++j)
        add_product(t.sums, a[i * kL + j].c, s[j].c);
      for (size_t k = 0; k < kN; ++k)
        out[i].c[k] = static_cast<uint16_t>(t.sums[k] - t.sums[kN + k]);
    }
  }

 private:
  /// Adds a schoolbook product of 2 kN - 1 coefficients, before the reduction by x^256 + 1. Not inlined, because GCC
  /// compiles the loop to slower code inside its caller.
  [[gnu::noinline]] static void add_product(uint16_t* sums, const uint16_t* a, const uint16_t* b) {
    for (size_t i = 0; i < kN; ++i) {
      for (size_t k = 0; k < kN; ++k)
        sums[i + k] = static_cast<uint16_t>(sums[i + k] + uint32_t{a[i]} * b[k]);
    }
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::saber::ref
