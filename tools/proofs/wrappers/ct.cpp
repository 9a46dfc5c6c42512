// SPDX-License-Identifier: Apache-2.0
// Comparisons and selections in constant time, which every family has inlined, for proofs: see inlined.cpp.
#include "ct/ct.hpp"

#define JOINED(isa, name) isa##_##name
#define NAMED(isa, name) JOINED(isa, name)
#define FUNCTION(name) extern "C" void NAMED(POLYKEM_ISA, name)

FUNCTION(ct_nonzero)(uint32_t* mask, const uint32_t* x) {
  *mask = polykem::ct::mask_nonzero(*x);
}
FUNCTION(ct_different)(uint32_t* mask, const uint8_t* a, const uint8_t* b, size_t bytes) {
  *mask = polykem::ct::mask_different(a, b, bytes);
}
FUNCTION(ct_select)(uint8_t* out, const uint8_t* a, const uint8_t* b, size_t bytes, const uint32_t* mask) {
  polykem::ct::select_bytes(out, a, b, bytes, *mask);
}
