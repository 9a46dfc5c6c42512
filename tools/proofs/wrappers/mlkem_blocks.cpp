// SPDX-License-Identifier: Apache-2.0
// The check of interleaved public keys, which the library has inlined, for proofs: see inlined.cpp.
#include "core/isa.hpp"
#if defined(POLYKEM_ISA_AVX2) || defined(POLYKEM_ISA_NEON)
#include "schemes/mlkem/interleaved/poly.hpp"

#define JOINED(isa, name) isa##_##name
#define NAMED(isa, name) JOINED(isa, name)
#define FUNCTION(name) extern "C" void NAMED(POLYKEM_ISA, name)

using polykem::mlkem::interleaved::LanePoly, polykem::mlkem::interleaved::TooLarge;

/// Sets valid[l] to 1 if all coefficients of item l are below q, otherwise to 0.
FUNCTION(mlkem_all_below_q)(uint8_t* valid, const LanePoly& a, size_t count) {
  TooLarge wrong;
  wrong.check(a);
  wrong.each(count, [&](size_t l, bool none) { valid[l] = none; });
}
#endif
