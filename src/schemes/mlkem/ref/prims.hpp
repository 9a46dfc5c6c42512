// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/scheme.hpp"
#include "prim/aes/aes256_ctr.hpp"
#include "schemes/mlkem/ref/pack.hpp"
#include "schemes/mlkem/ref/sample.hpp"

namespace polykem::mlkem::ref {
inline namespace POLYKEM_ISA {

/// The portable primitives of one item. Other primitives have the same members.
struct PortablePrims {
  static Aes256Ctr keystream() { return nullptr; }  ///< no fast AES: the generator expands with SHAKE256

  static void ntt(Poly& a) { ntt::forward(a.c); }
  static void inverse_ntt(Poly& a) { ntt::inverse(a.c); }

  /// c = the sum of a[i] b[i], all transforms, i < kK.
  template <size_t kK>
  static void multiply(Poly& c, const Poly* a, const Poly* b) {
    ntt::multiply(c.c, a->c, b->c, kK);
  }

  /// a[i kK + j] = SampleNTT(rho, j, i), or transposed. [FIPS203, Alg 13, L3-7]
  template <size_t kK>
  static void gen_a(Poly* a, const uint8_t* rho, bool transposed) {
    for (size_t i = 0; i < kK; ++i) {
      for (size_t j = 0; j < kK; ++j)
        sample_ntt(a[i * kK + j], rho, transposed ? i : j, transposed ? j : i);
    }
  }

  /// Row n = the first 64 kEta bytes of SHAKE256(seed, nonce + n), n < count. What follows in a row of `stride` bytes
  /// is arbitrary. [FIPS203, 4.1, PRF]
  template <unsigned kEta>
  static void prf(uint8_t* out, size_t stride, const uint8_t* seed, size_t nonce, size_t count) {
    for (size_t n = 0; n < count; ++n) {
      const auto last = static_cast<uint8_t>(nonce + n);
      Shake shake(Shake::Strength::shake256);
      shake.absorb({seed, kSymBytes});
      shake.absorb({&last, 1});
      shake.squeeze({out + n * stride, 64 * kEta});
    }
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem::ref
