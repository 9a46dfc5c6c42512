// SPDX-License-Identifier: Apache-2.0
// As inlined.cpp, for Saber and LAC.
#include <cstring>

#include "schemes/lac/bch/lanes/words.hpp"
#include "schemes/saber/ref/pack.hpp"

#define JOINED(isa, name) isa##_##name
#define NAMED(isa, name) JOINED(isa, name)
#define FUNCTION(name) extern "C" void NAMED(POLYKEM_ISA, name)

namespace bch = polykem::bch;

#define BCH(errors)                                                             \
  FUNCTION(bch_syndromes_##errors)(bch::Syndromes & out, const uint8_t* code) { \
    bch::compute_syndromes<errors>(out, code);                                  \
  }                                                                             \
  FUNCTION(bch_horner_##errors)(bch::Plane * a, const uint16_t* c) {            \
    bch::Planes x, value;                                                       \
    std::memcpy(x, bch::Code<errors>::kPositions.data(), sizeof x);             \
    std::memcpy(value, a, sizeof value);                                        \
    bch::horner(value, x, *c);                                                  \
    std::memcpy(a, value, sizeof value);                                        \
  }
BCH(8)
BCH(16)
FUNCTION(bch_multiply)(uint16_t* out, const uint16_t* a, const uint16_t* b) {
  bch::Coefficients x, y, product;
  bch::load(x, a);
  bch::load(y, b);
  bch::multiply(product, x, y);
  std::memcpy(out, &product, sizeof product);
}

FUNCTION(saber_secret_10)(polykem::saber::Poly& s, const uint8_t* in) {
  polykem::saber::ref::sample_secret<10>(s, in);
}
