// SPDX-License-Identifier: Apache-2.0
// Polynomials of ML-KEM on the Cortex-M4: sampling, and conversion to and from bytes. The coefficients of a Poly are
// signed here and need not be reduced; "any" means all values of 16 bits.
#pragma once

#include "prim/ntt/cortex_m4/ntt_m4.hpp"
#include "schemes/mlkem/types.hpp"

namespace polykem::mlkem::cortex_m4 {

/// Samples a uniform transform from SHAKE128(rho, first, second), with coefficients in [0, q). Writes up to kSampleRoom
/// coefficients beyond the polynomial. rho and the transform are public. [FIPS203, Alg 7]
void sample_ntt(Poly& a, const uint8_t* rho, size_t first, size_t second);
inline constexpr size_t kSampleRoom = 8;

/// Samples a polynomial by SamplePolyCBD from the 64 kEta bytes of `in`. [FIPS203, Alg 8]
template <unsigned kEta>
void sample_poly_cbd(Poly& a, const uint8_t* in);
/// Adds to a the polynomial that sample_poly_cbd<2>() samples from the 128 bytes of `in`.
void add_cbd2(Poly& a, const uint8_t* in);

/// Compute a + b and a - b mod 2^16, in place.
void poly_add(Poly& a, const Poly& b);
void poly_sub(Poly& a, const Poly& b);

/// Adds the message to a: q / 2, rounded up, for each bit that is set. [FIPS203, Alg 14, L20]
void add_message(Poly& a, const uint8_t* m);

/// Reduces coefficients, which may be any, to [0, q) and encodes them with 12 bits each. [FIPS203, Alg 5]
void poly_byte_encode(uint8_t* out, const Poly& a);

/// Decodes coefficients in [0, 2^12). Returns 0 if all are below q. [FIPS203, Alg 6]
uint32_t poly_byte_decode(Poly& a, const uint8_t* in);

/// Compresses coefficients, which may be any, to kBits bits each, 1, 4, 5, 10 or 11, and encodes them. [FIPS203, 4.2.1]
template <unsigned kBits>
void poly_compress(uint8_t* out, const Poly& a);

/// Decodes and decompresses values of kBits bits; the coefficients are in [0, q]. [FIPS203, 4.2.1]
template <unsigned kBits>
void poly_decompress(Poly& a, const uint8_t* in);

}  // namespace polykem::mlkem::cortex_m4
