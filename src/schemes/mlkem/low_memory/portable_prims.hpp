// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "schemes/mlkem/ref/pack.hpp"
#include "schemes/mlkem/ref/sample.hpp"

namespace polykem::mlkem::low_memory {
inline namespace POLYKEM_ISA {

/// The portable primitives for steps.hpp: the functions of the reference. Coefficients are in [0, q).
struct PortablePrims {
  static constexpr size_t kSampleRoom = 0;
  static constexpr size_t kMinStack = 2048;  ///< least number of bytes of stack to zeroize, for temporaries
  struct Factors {};

  static void ntt(Poly& a) { ntt::forward(a.c); }
  static void inverse_ntt(Poly& a) { ntt::inverse(a.c); }
  static void prepare(Factors&, const Poly&) {}

  /// Computes a[0] = the sum of a[i] b[i] over i < kK.
  template <size_t kK>
  static void multiply(Poly* a, const Poly* b, const Factors*) {
    ntt::multiply(a->c, a->c, b->c, kK);
  }

  static void sample_ntt(Poly& a, const uint8_t* rho, size_t first, size_t second) {
    ref::sample_ntt(a, rho, first, second);
  }
  template <unsigned kEta>
  static void sample_poly_cbd(Poly& a, const uint8_t* in) {
    ref::sample_poly_cbd<kEta>(a, in);
  }
  static void add_cbd2(Poly& a, const uint8_t* in, Poly& scratch) {
    ref::sample_poly_cbd<2>(scratch, in);
    ref::poly_add(a, scratch);
  }
  static void add_message(Poly& a, const uint8_t* m, Poly& scratch) {
    ref::poly_decompress<1>(scratch, m);
    ref::poly_add(a, scratch);
  }
  static void add(Poly& a, const Poly& b) { ref::poly_add(a, b); }
  static void subtract(Poly& a, const Poly& b) { ref::poly_sub(a, a, b); }
  static void byte_encode(uint8_t* out, const Poly& a) { ref::poly_byte_encode(out, a); }
  static uint32_t byte_decode(Poly& a, const uint8_t* in) { return ref::poly_byte_decode(a, in); }
  template <unsigned kBits>
  static void compress(uint8_t* out, const Poly& a) {
    ref::poly_compress<kBits>(out, a);
  }
  template <unsigned kBits>
  static void decompress(Poly& a, const uint8_t* in) {
    ref::poly_decompress<kBits>(a, in);
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem::low_memory
