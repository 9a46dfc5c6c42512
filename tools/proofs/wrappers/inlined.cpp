// SPDX-License-Identifier: Apache-2.0
// Functions of code that the library has only inlined in others, for proofs: tools/proofs/README.md. Each instruction
// set compiles this file with the flags of the library's sources. Names begin with that of the instruction set.
#include <cstring>

#include "schemes/mldsa/ntt.hpp"
#include "schemes/mldsa/packing.hpp"
#include "schemes/mldsa/rounding.hpp"
#include "schemes/saber/ref/pack.hpp"
#if defined(POLYKEM_ISA_AVX512) || defined(POLYKEM_ISA_AVX2) || defined(POLYKEM_ISA_NEON)
#include "schemes/mlkem/single/poly.hpp"
#else
#include "schemes/mlkem/ref/pack.hpp"
#include "schemes/mlkem/ref/sample.hpp"
#endif
#ifdef POLYKEM_ISA_AVX512
#include "schemes/mlkem/x8/noise.hpp"
#endif

#define JOINED(isa, name) isa##_##name
#define NAMED(isa, name) JOINED(isa, name)
#define FUNCTION(name) extern "C" void NAMED(POLYKEM_ISA, name)
/// Defines functions for words of several numbers of bits.
#define EACH_OF_2(f, a, b) f(a) f(b)
#define EACH_OF_4(f, a, b, c, d) EACH_OF_2(f, a, b) EACH_OF_2(f, c, d)
#define EACH_OF_5(f, a, b, c, d, e) f(a) EACH_OF_4(f, b, c, d, e)
#define EACH_OF_6(f, a, b, c, d, e, g) f(a) EACH_OF_5(f, b, c, d, e, g)
#define EACH_OF_8(f, a, b, c, d, e, g, h, i) EACH_OF_2(f, a, b) EACH_OF_6(f, c, d, e, g, h, i)

namespace {

using polykem::mldsa::Poly, polykem::mldsa::kN;

/// Applies f to every coefficient.
template <class F>
void map(Poly& a, F&& f) {
  for (int32_t& c : a.c)
    c = f(c);
}

template <int32_t kGamma2Part>
void decompose_all(Poly& high, Poly& low, const Poly& r) {
  for (size_t n = 0; n < kN; ++n) {
    const auto parts = polykem::mldsa::decompose<kGamma2Part>(r.c[n]);
    high.c[n] = parts.high;
    low.c[n] = parts.low;
  }
}

}  // namespace

FUNCTION(mldsa_ntt)(Poly& a) {
  polykem::mldsa::ntt(a);
}
FUNCTION(mldsa_inverse_ntt)(Poly& a) {
  polykem::mldsa::inverse_ntt(a);
}
FUNCTION(mldsa_multiply)(Poly& out, const Poly* a, const Poly* b, size_t terms) {
  polykem::mldsa::multiply(out, a, b, terms);
}
FUNCTION(mldsa_montgomery)(Poly& out, const int64_t* x) {
  for (size_t n = 0; n < kN; ++n)
    out.c[n] = polykem::mldsa::montgomery(x[n]);
}
FUNCTION(mldsa_canonical)(Poly& a) {
  map(a, [](int32_t c) { return polykem::mldsa::canonical(c); });
}
FUNCTION(mldsa_reduced)(Poly& a) {
  map(a, [](int32_t c) { return polykem::mldsa::reduced(c); });
}
FUNCTION(mldsa_centred_once)(Poly& a) {
  map(a, [](int32_t c) { return polykem::mldsa::centred_once(c); });
}
FUNCTION(mldsa_power2_round)(Poly& high, Poly& low, const Poly& r) {
  for (size_t n = 0; n < kN; ++n) {
    const auto parts = polykem::mldsa::power2_round(r.c[n]);
    high.c[n] = parts.high;
    low.c[n] = parts.low;
  }
}
#define ROUNDING(part)                                                               \
  FUNCTION(mldsa_decompose_##part)(Poly & high, Poly & low, const Poly& r) {         \
    decompose_all<part>(high, low, r);                                               \
  }                                                                                  \
  FUNCTION(mldsa_make_hint_##part)(Poly & hint, const Poly& high, const Poly& low) { \
    for (size_t n = 0; n < kN; ++n)                                                  \
      hint.c[n] = polykem::mldsa::make_hint<part>(high.c[n], low.c[n]);              \
  }                                                                                  \
  FUNCTION(mldsa_use_hint_##part)(Poly & high, const Poly& r, const Poly& hint) {    \
    for (size_t n = 0; n < kN; ++n)                                                  \
      high.c[n] = polykem::mldsa::use_hint<part>(r.c[n], hint.c[n]);                 \
  }
EACH_OF_2(ROUNDING, 32, 88)
#define PACK(bits)                                               \
  FUNCTION(mldsa_pack_##bits)(uint8_t * out, const int32_t* c) { \
    polykem::mldsa::pack<bits>(out, c);                          \
  }
EACH_OF_8(PACK, 1, 3, 4, 6, 10, 13, 18, 20)
#define PACK_BELOW(bits)                                                          \
  FUNCTION(mldsa_pack_below_##bits)(uint8_t * out, const Poly& a, int32_t top) {  \
    polykem::mldsa::pack_below<bits>(out, a, top);                                \
  }                                                                               \
  FUNCTION(mldsa_unpack_##bits)(int32_t * out, const uint8_t* in) {               \
    polykem::mldsa::unpack<bits>(out, in);                                        \
  }                                                                               \
  FUNCTION(mldsa_unpack_below_##bits)(Poly & a, const uint8_t* in, int32_t top) { \
    polykem::mldsa::unpack_below<bits>(a, in, top);                               \
  }
EACH_OF_6(PACK_BELOW, 3, 4, 10, 13, 18, 20)

using polykem::ntt::kQ;
using Poly16 = polykem::mlkem::Poly;

#if defined(POLYKEM_ISA_AVX512) || defined(POLYKEM_ISA_AVX2) || defined(POLYKEM_ISA_NEON)

namespace {

namespace ntt = polykem::ntt;
using polykem::simd::V16;

/// Calls f(i, x) for each register x of a polynomial.
template <class F>
void each(const Poly16& a, F&& f) {
  for (size_t i = 0; i < kN; i += V16::kLanes)
    f(i, V16::load(a.c + i));
}

}  // namespace

FUNCTION(mlkem_pack_12)(uint8_t* out, const Poly16& a) {
  polykem::mlkem::single::store<12>(out, a);
}
FUNCTION(mlkem_unpack_12)(Poly16& a, const uint8_t* in) {
  polykem::mlkem::single::load<12>(a, in);
}
#define COMPRESS(bits)                                                                         \
  FUNCTION(mlkem_compress_##bits)(uint8_t * out, const Poly16& a) {                            \
    each(a, [&](size_t i, V16 x) { ntt::pack_single<bits>(out, i, ntt::compress<bits>(x)); }); \
  }                                                                                            \
  FUNCTION(mlkem_decompress_##bits)(Poly16 & a, const uint8_t* in) {                           \
    polykem::mlkem::single::load_compressed<bits>(a, in);                                      \
  }
EACH_OF_4(COMPRESS, 4, 5, 10, 11)
FUNCTION(mlkem_compress_1)(uint8_t* out, const Poly16& a) {
  each(a, [&](size_t i, V16 x) { ntt::store_bits_single(out, i, ntt::compress<1>(x)); });
}
FUNCTION(mlkem_decompress_1)(Poly16& a, const uint8_t* in) {
  for (size_t i = 0; i < kN; i += V16::kLanes)
    ntt::message_single(in, i).store(a.c + i);
}
FUNCTION(mlkem_add)(Poly16& a, const Poly16& b) {
  each(a, [&](size_t i, V16 x) { ntt::reduced_once(x + V16::load(b.c + i)).store(a.c + i); });
}
FUNCTION(mlkem_subtract)(Poly16& out, const Poly16& a, const Poly16& b) {
  each(a, [&](size_t i, V16 x) { ntt::to_unsigned(x - V16::load(b.c + i)).store(out.c + i); });
}
#define NOISE(eta)                                             \
  FUNCTION(mlkem_noise_##eta)(Poly16 & a, const uint8_t* in) { \
    for (size_t i = 0; i < kN; i += V16::kLanes)               \
      ntt::cbd_single<eta>(in, i).store(a.c + i);              \
  }

#else

namespace ref = polykem::mlkem::ref;

FUNCTION(mlkem_pack_12)(uint8_t* out, const Poly16& a) {
  ref::poly_byte_encode(out, a);
}
FUNCTION(mlkem_unpack_12)(Poly16& a, const uint8_t* in) {
  ref::poly_byte_decode(a, in);
}
#define COMPRESS(bits)                                               \
  FUNCTION(mlkem_compress_##bits)(uint8_t * out, const Poly16& a) {  \
    ref::poly_compress<bits>(out, a);                                \
  }                                                                  \
  FUNCTION(mlkem_decompress_##bits)(Poly16 & a, const uint8_t* in) { \
    ref::poly_decompress<bits>(a, in);                               \
  }
EACH_OF_5(COMPRESS, 1, 4, 5, 10, 11)
FUNCTION(mlkem_add)(Poly16& a, const Poly16& b) {
  ref::poly_add(a, b);
}
FUNCTION(mlkem_subtract)(Poly16& out, const Poly16& a, const Poly16& b) {
  ref::poly_sub(out, a, b);
}
#define NOISE(eta)                                             \
  FUNCTION(mlkem_noise_##eta)(Poly16 & a, const uint8_t* in) { \
    ref::sample_poly_cbd<eta>(a, in);                          \
  }

#endif

EACH_OF_2(NOISE, 2, 3)

#ifdef POLYKEM_ISA_AVX512

namespace {

template <size_t kTerms, size_t kRows>
void multiply_rows(uint16_t* c, const uint16_t* a, const uint16_t* y) {
  ntt::each_product_single<kTerms, kRows>(
      a, y, [&](size_t at, V16(&x)[kRows]) __attribute__((always_inline)) {
        for (size_t row = 0; row < kRows; ++row)
          x[row].store(c + row * kN + at);
      });
}

/// rows is 1, kTerms or kTerms + 1.
template <size_t kTerms>
void multiply_some(uint16_t* c, const uint16_t* a, const uint16_t* y, size_t rows) {
  if (rows == 1) return multiply_rows<kTerms, 1>(c, a, y);
  if (rows == kTerms) return multiply_rows<kTerms, kTerms>(c, a, y);
  multiply_rows<kTerms, kTerms + 1>(c, a, y);
}

}  // namespace

FUNCTION(x8_forward)(uint16_t* a, size_t count) {
  ntt::forward_polys<ntt::Reduced>(a, count);
}
FUNCTION(x8_inverse)(uint16_t* a, size_t count) {
  ntt::each_inverse<ntt::kR>(a, count, [](size_t) {});
}
FUNCTION(x8_multiply)(uint16_t* c, const uint16_t* a, const uint16_t* y, size_t rows, size_t terms) {
  if (terms == 2) return multiply_some<2>(c, a, y, rows);
  if (terms == 3) return multiply_some<3>(c, a, y, rows);
  multiply_some<4>(c, a, y, rows);
}
#define FORWARD_NOISE(eta)                                                                             \
  FUNCTION(x8_noise_canonical_##eta)(uint16_t * a, const uint8_t* rows, size_t stride, size_t count) { \
    polykem::mlkem::x8::forward_noise<eta, ntt::Canonical>(a, rows, stride, count);                    \
  }                                                                                                    \
  FUNCTION(x8_noise_reduced_##eta)(uint16_t * a, const uint8_t* rows, size_t stride, size_t count) {   \
    polykem::mlkem::x8::forward_noise<eta, ntt::Reduced>(a, rows, stride, count);                      \
  }                                                                                                    \
  FUNCTION(x8_noise_unreduced_##eta)(uint16_t * a, const uint8_t* rows, size_t stride, size_t count) { \
    polykem::mlkem::x8::forward_noise<eta, ntt::Unreduced, ntt::kInverseR>(a, rows, stride, count);    \
  }
EACH_OF_2(FORWARD_NOISE, 2, 3)
/// Adds 2 q and noise.
FUNCTION(x8_add_noise)(Poly16& a, const uint8_t* row) {
  each(a, [&](size_t i, V16 x) { (x + polykem::mlkem::x8::noise_single<2 * kQ>(row, i)).store(a.c + i); });
}

#endif

#define SABER(bits)                                                \
  FUNCTION(saber_pack_##bits)(uint8_t * out, const uint16_t* c) {  \
    polykem::saber::ref::pack<bits>(out, c);                       \
  }                                                                \
  FUNCTION(saber_unpack_##bits)(uint16_t * c, const uint8_t* in) { \
    polykem::saber::ref::unpack<bits>(c, in);                      \
  }
EACH_OF_6(SABER, 1, 3, 4, 6, 10, 13)
#define SABER_SECRET(mu)                                                     \
  FUNCTION(saber_secret_##mu)(polykem::saber::Poly & s, const uint8_t* in) { \
    polykem::saber::ref::sample_secret<mu>(s, in);                           \
  }
SABER_SECRET(6)
SABER_SECRET(8)
