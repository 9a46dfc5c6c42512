// SPDX-License-Identifier: Apache-2.0
// Arithmetic mod 3329 on polynomials of many items, an item per 16-bit lane, and on one polynomial with the same
// instructions. Words are signed and within q unless stated otherwise (bounds.hpp); "canonical" is [0, q).
#pragma once

#include <cstddef>
#include <cstdint>

#include "prim/ntt/bounds.hpp"

namespace polykem {

/// What one instruction set offers. A block is 256 rows of `lanes` words, coefficient i of item l at [i * lanes + l],
/// 64-byte aligned. In a paired block, if pairs_interleaved, coefficients 2 i and 2 i + 1 of an item are side by side:
/// coefficient 2 i + b of item 8 p + r at [(2 i + r / 4) * lanes + 8 p + 2 (r mod 4) + b]. Called by the stages of
/// ML-KEM, by one thread per call. No address depends on a coefficient.
struct NttLanes {
  size_t lanes;
  bool pairs_interleaved;

  /// In place; results within ntt::kTransformBound. [FIPS203, Alg 9]
  void (*forward)(uint16_t* block);
  /// In place, 2^16 times the inverse: undoes the factor that `multiply` leaves. Within ntt::kProductBound before.
  /// [FIPS203, Alg 10]
  void (*inverse)(uint16_t* block);
  /// c[r] = 2^-16 times the sum over i < terms <= 4 of a[r * terms + i] y[i], r < rows; blocks, a paired. a below
  /// 2^12, y within ntt::kTransformBound, c within ntt::kProductBound. [FIPS203, Alg 11]
  void (*multiply)(uint16_t* c, const uint16_t* a, const uint16_t* y, size_t rows, size_t terms);
  /// The same where a is the same for all items: polynomials of 256 words, 64-byte aligned.
  void (*multiply_shared)(uint16_t* c, const uint16_t* a, const uint16_t* y, size_t rows, size_t terms);
  /// c = 2^16 c + e, canonical, in place. Any c, e within ntt::kTransformBound.
  void (*add_product)(uint16_t* c, const uint16_t* e);
  /// c = c + e, canonical, in place; the sum has 16 bits.
  void (*add)(uint16_t* c, const uint16_t* e);
  /// Any words to canonical, in place.
  void (*canonical)(uint16_t* block);
  /// round(x 2^bits / q) mod 2^bits, in place, bits one of 1, 4, 5, 10, 11; x below ntt::kCompressBound.
  /// [FIPS203, 4.2.1]
  void (*compress)(uint16_t* block, unsigned bits);
  /// round(q y / 2^bits), in place; canonical afterwards. [FIPS203, 4.2.1]
  void (*decompress)(uint16_t* block, unsigned bits);

  /// Takes 12-bit integers from `bytes` bytes (a multiple of 24), appends those below q to the `filled` words at out,
  /// and returns the number of words. Stops at 256 or more. `out` has space for 256 + 32 words, and 64 bytes beyond the
  /// input are readable. For public data. Kernels have it inlined. [FIPS203, Alg 7]
  size_t (*accept)(uint16_t* out, size_t filled, const uint8_t* in, size_t bytes);
};

/// The same for a single polynomial of 256 words in the order of ntt.hpp, 64-byte aligned; canonical before and after.
struct NttSingle {
  void (*forward)(uint16_t* a);
  void (*inverse)(uint16_t* a);
  /// See ntt::multiply.
  void (*multiply)(uint16_t* c, const uint16_t* a, const uint16_t* b, size_t terms);
};

extern const NttLanes kNttLanesAvx2;
extern const NttLanes kNttLanesAvx512;
extern const NttLanes kNttLanesNeon;
extern const NttSingle kNttSingleAvx2;
extern const NttSingle kNttSingleAvx512;
extern const NttSingle kNttSingleNeon;

}  // namespace polykem
