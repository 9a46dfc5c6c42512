// SPDX-License-Identifier: Apache-2.0
// NTRU's portable code, which the library for a Cortex-M4 has inlined, for proofs: see inlined.cpp.
#include "schemes/ntru/ref/pack.hpp"
#include "schemes/ntru/ref/poly.hpp"

using namespace polykem::ntru;

namespace {
template <class To>
To& as(uint16_t* coefficients) {
  return *reinterpret_cast<To*>(coefficients);
}
template <class To>
const To& as(const uint16_t* coefficients) {
  return *reinterpret_cast<const To*>(coefficients);
}
}  // namespace

#define FUNCTION(name, n) extern "C" void m4_ntru_##name##_##n
#define SET(n, P)                                                    \
  FUNCTION(pack, n)(uint8_t * out, const uint16_t* c) {              \
    ref::poly_Sq_tobytes<P>(out, as<uint16_t[n]>(c));                \
  }                                                                  \
  FUNCTION(unpack, n)(uint16_t * c, const uint8_t* in) {             \
    ref::poly_Rq_sum_zero_frombytes<P>(as<Poly<P, Rq>>(c), in);      \
  }                                                                  \
  FUNCTION(pack_trits, n)(uint8_t * out, const uint16_t* c) {        \
    ref::poly_S3_tobytes<P>(out, as<Poly<P, S3>>(c));                \
  }                                                                  \
  FUNCTION(unpack_trits, n)(uint16_t * c, const uint8_t* in) {       \
    ref::poly_S3_frombytes<P>(as<Poly<P, S3>>(c), in);               \
  }                                                                  \
  FUNCTION(mod_3, n)(uint16_t * out, const uint16_t* c) {            \
    ref::poly_Rq_to_S3<P>(as<Poly<P, S3>>(out), as<Poly<P, Rq>>(c)); \
  }                                                                  \
  FUNCTION(mod_q, n)(uint16_t * c) {                                 \
    ref::poly_mod_q_Phi_n<P>(as<uint16_t[n]>(c));                    \
  }
SET(509, kHps2048509)
SET(677, kHps2048677)
SET(701, kHrss701)
SET(821, kHps4096821)
