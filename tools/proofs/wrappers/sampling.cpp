// SPDX-License-Identifier: Apache-2.0
// Acceptance of candidates, which the library has inlined in functions that sample, for proofs: see inlined.cpp.
#include "schemes/mldsa/sampling.hpp"
#ifdef POLYKEM_ISA_AVX512
#include "prim/ntt/lanes/products.hpp"
#endif

#define JOINED(isa, name) isa##_##name
#define NAMED(isa, name) JOINED(isa, name)
#define FUNCTION(name) extern "C" void NAMED(POLYKEM_ISA, name)

using polykem::mldsa::Poly, polykem::mldsa::Rejection;

FUNCTION(mldsa_take_small_2)(Poly& out, const uint8_t* in, size_t bytes) {
  Rejection(out).take_small<2>({in, bytes});
}
FUNCTION(mldsa_take_small_4)(Poly& out, const uint8_t* in, size_t bytes) {
  Rejection(out).take_small<4>({in, bytes});
}
#if defined(POLYKEM_ISA_AVX512) || defined(POLYKEM_ISA_AVX2)
FUNCTION(mldsa_take_uniform)(int32_t* out, const uint8_t* in, size_t* count) {
  *count = polykem::mldsa::lanes::take_uniform_group(out, in);
}
#else
FUNCTION(mldsa_take_uniform)(Poly& out, const uint8_t* in, size_t bytes) {
  Rejection(out).take_uniform({in, bytes});
}
#endif
#ifdef POLYKEM_ISA_AVX512
FUNCTION(mlkem_accept)(uint16_t* out, const uint8_t* in, size_t* filled) {
  *filled = polykem::ntt::accept(out, 0, in, 48);
}
#endif
