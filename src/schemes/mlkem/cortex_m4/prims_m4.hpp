// SPDX-License-Identifier: Apache-2.0
// The primitives that the steps of low_memory/steps.hpp call on a Cortex-M4.
#pragma once

#include "schemes/mlkem/cortex_m4/poly_m4.hpp"

namespace polykem::mlkem::cortex_m4 {

struct Prims {
  static constexpr size_t kSampleRoom = cortex_m4::kSampleRoom;
  static constexpr size_t kMinStack = 0;

  /// The odd coefficients, times gamma, of a transform to multiply by.
  struct Factors {
    uint16_t products[kN / 2];
  };

  static void ntt(Poly& a) { polykem::cortex_m4::ntt_forward(a.c); }
  static void inverse_ntt(Poly& a) { polykem::cortex_m4::ntt_inverse(a.c); }
  static void prepare(Factors& factors, const Poly& b) { polykem::cortex_m4::gamma_products(factors.products, b.c); }

  /// Computes a[0] = the sum of a[i] b[i] over i < kK.
  template <size_t kK>
  static void multiply(Poly* a, const Poly* b, const Factors* factors) {
    polykem::cortex_m4::ntt_multiply<kK>(a->c, a->c, b->c, factors->products);
  }

  static void sample_ntt(Poly& a, const uint8_t* rho, size_t first, size_t second) {
    cortex_m4::sample_ntt(a, rho, first, second);
  }
  template <unsigned kEta>
  static void sample_poly_cbd(Poly& a, const uint8_t* in) {
    cortex_m4::sample_poly_cbd<kEta>(a, in);
  }
  static void add_cbd2(Poly& a, const uint8_t* in, Poly&) { cortex_m4::add_cbd2(a, in); }
  static void add_message(Poly& a, const uint8_t* m, Poly&) { cortex_m4::add_message(a, m); }
  static void add(Poly& a, const Poly& b) { poly_add(a, b); }
  static void subtract(Poly& a, const Poly& b) { poly_sub(a, b); }
  static void byte_encode(uint8_t* out, const Poly& a) { poly_byte_encode(out, a); }
  static uint32_t byte_decode(Poly& a, const uint8_t* in) { return poly_byte_decode(a, in); }
  template <unsigned kBits>
  static void compress(uint8_t* out, const Poly& a) {
    poly_compress<kBits>(out, a);
  }
  template <unsigned kBits>
  static void decompress(Poly& a, const uint8_t* in) {
    poly_decompress<kBits>(a, in);
  }
};

}  // namespace polykem::mlkem::cortex_m4
