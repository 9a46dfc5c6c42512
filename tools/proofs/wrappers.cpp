// SPDX-License-Identifier: Apache-2.0
// Functions of code that the library has only inlined in others, for proofs: tools/proofs/README.md. Each instruction
// set compiles this file with the flags of the library's sources. Names begin with that of the instruction set.
#include <cstring>

#include "schemes/mldsa/ntt.hpp"
#include "schemes/mldsa/packing.hpp"
#include "schemes/mldsa/rounding.hpp"

#define JOINED(isa, name) isa##_##name
#define NAMED(isa, name) JOINED(isa, name)
#define FUNCTION(name) extern "C" void NAMED(POLYKEM_ISA, name)
/// Defines functions for words of several numbers of bits.
#define EACH_OF_2(f, a, b) f(a) f(b)
#define EACH_OF_5(f, a, b, c, d, e) f(a) EACH_OF_2(f, b, c) EACH_OF_2(f, d, e)
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
#define ROUNDING(part)                                                                        \
  FUNCTION(mldsa_decompose_##part)(Poly & high, Poly & low, const Poly& r) {                  \
    decompose_all<part>(high, low, r);                                                        \
  }                                                                                           \
  FUNCTION(mldsa_make_hint_##part)(Poly & hint, const Poly& high, const Poly& low) {          \
    for (size_t n = 0; n < kN; ++n)                                                           \
      hint.c[n] = polykem::mldsa::make_hint<part>(high.c[n], low.c[n]);                       \
  }                                                                                           \
  FUNCTION(mldsa_use_hint_##part)(Poly & high, const Poly& r, const Poly& hint) {             \
    for (size_t n = 0; n < kN; ++n)                                                           \
      high.c[n] = polykem::mldsa::use_hint<part>(r.c[n], hint.c[n]);                          \
  }
EACH_OF_2(ROUNDING, 32, 88)
#define PACK(bits)                                                  \
  FUNCTION(mldsa_pack_##bits)(uint8_t * out, const int32_t* c) {    \
    polykem::mldsa::pack<bits>(out, c);                             \
  }
EACH_OF_8(PACK, 1, 3, 4, 6, 10, 13, 18, 20)
#define PACK_BELOW(bits)                                                              \
  FUNCTION(mldsa_pack_below_##bits)(uint8_t * out, const Poly& a, int32_t top) {      \
    polykem::mldsa::pack_below<bits>(out, a, top);                                    \
  }                                                                                   \
  FUNCTION(mldsa_unpack_##bits)(int32_t * out, const uint8_t* in) {                   \
    polykem::mldsa::unpack<bits>(out, in);                                            \
  }                                                                                   \
  FUNCTION(mldsa_unpack_below_##bits)(Poly & a, const uint8_t* in, int32_t top) {     \
    polykem::mldsa::unpack_below<bits>(a, in, top);                                   \
  }
EACH_OF_6(PACK_BELOW, 3, 4, 10, 13, 18, 20)
