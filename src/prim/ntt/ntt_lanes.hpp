// SPDX-License-Identifier: Apache-2.0
// Arithmetic mod 3329 on polynomials of many items, an item per 16-bit lane, and on one polynomial with the same
// instructions. Words are signed and within q unless stated otherwise (bounds.hpp); "canonical" is [0, q).
#pragma once

#include <cstddef>
#include <cstdint>

#include "prim/ntt/bounds.hpp"

namespace polykem {

/// The functions of one instruction set for the interleaved polynomials of `lanes` items: 256 rows of `lanes` words,
/// with coefficient i of item l at [i * lanes + l], 64-byte aligned. In paired polynomials, if pairs_interleaved,
/// coefficients 2 i and 2 i + 1 of an item are side by side: coefficient 2 i + b of item 8 p + r is at
/// [(2 i + r / 4) * lanes + 8 p + 2 (r mod 4) + b]. The stages of ML-KEM call these functions, one thread for each
/// call. No address depends on a coefficient.
struct NttFunctions {
  size_t lanes;
  bool pairs_interleaved;

  /// Computes the transform in place. Words are within q before and within ntt::kTransformBound after. [FIPS203, Alg 9]
  void (*forward)(uint16_t* polys);
  /// Computes 2^16 times the inverse in place, which undoes the factor that `multiply` leaves. Words are within
  /// ntt::kProductBound before and within q after. [FIPS203, Alg 10]
  void (*inverse)(uint16_t* polys);
  /// Sets c[r] to 2^-16 times the sum over i < terms <= 4 of a[r * terms + i] y[i], r < rows. All are interleaved,
  /// those of a paired. Words of a are below 2^12, those of y within ntt::kTransformBound, those of c within
  /// ntt::kProductBound. [FIPS203, Alg 11]
  void (*multiply)(uint16_t* c, const uint16_t* a, const uint16_t* y, size_t rows, size_t terms);
  /// Computes `multiply` where a is the same for all items and consists of polynomials of 256 words, 64-byte aligned.
  void (*multiply_shared)(uint16_t* c, const uint16_t* a, const uint16_t* y, size_t rows, size_t terms);
  /// Sets c to 2^16 c + e, canonical, in place. c has any words, e words within ntt::kTransformBound.
  void (*add_product)(uint16_t* c, const uint16_t* e);
  /// Sets c to c + e, canonical, in place; the sum has 16 bits.
  void (*add)(uint16_t* c, const uint16_t* e);
  /// Makes any words canonical, in place.
  void (*canonical)(uint16_t* polys);
  /// Computes round(x 2^bits / q) mod 2^bits in place; `bits` is one of 1, 4, 5, 10, 11, and x is below
  /// ntt::kCompressBound. [FIPS203, 4.2.1]
  void (*compress)(uint16_t* polys, unsigned bits);
  /// Computes round(q y / 2^bits) in place; words are canonical afterwards. [FIPS203, 4.2.1]
  void (*decompress)(uint16_t* polys, unsigned bits);

  /// Takes 12-bit integers from `bytes` bytes (a multiple of 24), appends those below q to the `filled` words at out,
  /// and returns the number of words. Stops at 256 or more. `out` has space for 256 + 32 words, and 64 bytes beyond the
  /// input are readable. It is for public data. Kernels have it inlined. [FIPS203, Alg 7]
  size_t (*accept)(uint16_t* out, size_t filled, const uint8_t* in, size_t bytes);
};

/// The functions of one instruction set for a single polynomial of 256 words in the order of ntt.hpp, 64-byte aligned.
/// Words are canonical before and afterwards.
struct SingleNttFunctions {
  void (*forward)(uint16_t* a);
  void (*inverse)(uint16_t* a);
  /// Computes ntt::multiply().
  void (*multiply)(uint16_t* c, const uint16_t* a, const uint16_t* b, size_t terms);
};

extern const NttFunctions kNttAvx2;
extern const NttFunctions kNttNeon;
extern const SingleNttFunctions kSingleNttAvx2;
extern const SingleNttFunctions kSingleNttAvx512;
extern const SingleNttFunctions kSingleNttNeon;

}  // namespace polykem
