// SPDX-License-Identifier: Apache-2.0
// Arithmetic modulo a prime on the device: primes below 2^31 in 32-bit words, below 2^61 in 64-bit words.
//
// A constant factor w carries floor(w 2^k / q), k the bits of a word (Shoup): the product is one high product, two low
// ones and a subtraction. Sums stay unreduced where the word has room for them. On compute capability 9.0 the
// conditional subtraction min(x, x - q) is one instruction for 32 bits (VIADDMNMX).
#pragma once

#include "ckks/src/cuda/device.cuh"
#include "ckks/src/cuda/tables.hpp"

namespace polykem::ckks::cuda {

__device__ __forceinline__ uint32_t high_product(uint32_t a, uint32_t b) {
  return __umulhi(a, b);
}
__device__ __forceinline__ uint64_t high_product(uint64_t a, uint64_t b) {
  return __umul64hi(a, b);
}

/// Returns x - bound if x >= bound, else x. For x < 2 bound that is below bound.
__device__ __forceinline__ uint32_t subtract_once(uint32_t x, uint32_t bound) {
  return __viaddmin_u32(x, 0u - bound, x);
}
__device__ __forceinline__ uint64_t subtract_once(uint64_t x, uint64_t bound) {
  return x >= bound ? x - bound : x;
}

/// Returns x w mod q for any x, not reduced: below 2q.
__device__ __forceinline__ uint32_t multiply_lazy(uint32_t x, Factor<uint32_t> w, uint32_t q) {
  return x * w.value - __umulhi(x, w.quotient) * q;
}

/// Returns x w mod q for any x, not reduced: below 4q, since the quotient leaves out the product of the lower halves
/// and two carries, each of which makes it too small by less than one.
__device__ __forceinline__ uint64_t multiply_lazy(uint64_t x, Factor<uint64_t> w, uint64_t q) {
  const auto x0 = static_cast<uint32_t>(x), x1 = static_cast<uint32_t>(x >> 32);
  const auto w0 = static_cast<uint32_t>(w.quotient), w1 = static_cast<uint32_t>(w.quotient >> 32);
  const uint64_t quotient = uint64_t{x1} * w1 + __umulhi(x1, w0) + __umulhi(x0, w1);
  return x * w.value - quotient * q;
}

/// Returns x w mod q in [0, q), for any x.
__device__ __forceinline__ uint32_t multiply(uint32_t x, Factor<uint32_t> w, uint32_t q) {
  return subtract_once(multiply_lazy(x, w, q), q);
}
__device__ __forceinline__ uint64_t multiply(uint64_t x, Factor<uint64_t> w, uint64_t q) {
  return subtract_once(subtract_once(multiply_lazy(x, w, q), 2 * q), q);
}

/// Returns x mod q, for x as the layers of a forward transform leave it: below 2q (32 bits) or 8q (64 bits).
__device__ __forceinline__ uint32_t reduce_forward(uint32_t x, uint32_t q) {
  return subtract_once(x, q);
}
__device__ __forceinline__ uint64_t reduce_forward(uint64_t x, uint64_t q) {
  return subtract_once(subtract_once(subtract_once(x, 4 * q), 2 * q), q);
}

/// Computes (x, y) <- (x + y w, x - y w). In: x below 2q (32 bits) or 8q (64 bits), y any word. Out: both below 2q or
/// 8q.
__device__ __forceinline__ void butterfly(uint32_t& x, uint32_t& y, Factor<uint32_t> w, uint32_t q) {
  const uint32_t a = subtract_once(x, q), b = multiply(y, w, q);
  x = a + b;
  y = a - b + q;
}
__device__ __forceinline__ void butterfly(uint64_t& x, uint64_t& y, Factor<uint64_t> w, uint64_t q) {
  const uint64_t a = subtract_once(x, 4 * q), b = multiply_lazy(y, w, q);
  x = a + b;
  y = a - b + 4 * q;
}

/// Computes (x, y) <- (x + y, (x - y) w). In and out: below q (32 bits) or 4q (64 bits).
__device__ __forceinline__ void inverse_butterfly(uint32_t& x, uint32_t& y, Factor<uint32_t> w, uint32_t q) {
  const uint32_t difference = x - y + q;
  x = subtract_once(x + y, q);
  y = multiply(difference, w, q);
}
__device__ __forceinline__ void inverse_butterfly(uint64_t& x, uint64_t& y, Factor<uint64_t> w, uint64_t q) {
  const uint64_t difference = x - y + 4 * q;
  x = subtract_once(x + y, 4 * q);
  y = multiply_lazy(difference, w, q);
}

/// Computes (x, y) <- ((x + y) s, (x - y) w). In: below q (32 bits) or 4q (64 bits). Out: in [0, q).
__device__ __forceinline__ void last_butterfly(uint32_t& x, uint32_t& y, Factor<uint32_t> s, Factor<uint32_t> w,
                                               uint32_t q) {
  const uint32_t difference = x - y + q;
  x = multiply(x + y, s, q);
  y = multiply(difference, w, q);
}
__device__ __forceinline__ void last_butterfly(uint64_t& x, uint64_t& y, Factor<uint64_t> s, Factor<uint64_t> w,
                                               uint64_t q) {
  const uint64_t difference = x - y + 4 * q;
  x = multiply(x + y, s, q);
  y = multiply(difference, w, q);
}

/// Returns -x mod q. In and out: in [0, q).
__device__ __forceinline__ uint32_t negate(uint32_t x, uint32_t q) {
  return x == 0 ? 0 : q - x;
}
__device__ __forceinline__ uint64_t negate(uint64_t x, uint64_t q) {
  return x == 0 ? 0 : q - x;
}

/// Returns x mod q for any x.
__device__ __forceinline__ uint32_t reduce(uint64_t x, const Prime<uint32_t>& prime) {
  const auto quotient = static_cast<uint32_t>(__umul64hi(x, prime.reciprocal));
  return subtract_once(static_cast<uint32_t>(x) - quotient * prime.q, prime.q);
}
__device__ __forceinline__ uint32_t reduce_word(uint32_t x, const Prime<uint32_t>& prime) {
  const auto reciprocal = static_cast<uint32_t>(prime.reciprocal >> 32);
  return subtract_once(x - __umulhi(x, reciprocal) * prime.q, prime.q);
}
__device__ __forceinline__ uint64_t reduce_word(uint64_t x, const Prime<uint64_t>& prime) {
  return subtract_once(x - __umul64hi(x, prime.reciprocal) * prime.q, prime.q);
}

/// A sum of products of residues, reduced once at the end.
template <class Word>
struct ProductSum;

template <>
struct ProductSum<uint32_t> {
  static constexpr int kMax = 4;  ///< products of numbers below 2^31 that fit
  uint64_t sum = 0;
  __device__ __forceinline__ void add(uint32_t a, uint32_t b) { sum += uint64_t{a} * b; }
  __device__ __forceinline__ uint32_t reduced(const Prime<uint32_t>& prime) const { return reduce(sum, prime); }
  __device__ __forceinline__ uint32_t reduced_of_two(const Prime<uint32_t>& prime) const { return reduced(prime); }
};

template <>
struct ProductSum<uint64_t> {
  static constexpr int kMax = 64;
  uint64_t low = 0, high = 0;
  __device__ __forceinline__ void add(uint64_t a, uint64_t b) {
    const uint64_t product = a * b;
    low += product;
    high += __umul64hi(a, b) + (low < product);
  }
  __device__ __forceinline__ uint64_t reduced(const Prime<uint64_t>& prime) const {
    const uint64_t upper = multiply(high, prime.two_64, prime.q);
    return subtract_once(upper + reduce_word(low, prime), prime.q);
  }
  /// Returns the reduced sum of at most two products of residues, for q > 3. The quotient that is computed from the sum
  /// without its lowest `shift` bits is less than three too small. (Barrett)
  __device__ __forceinline__ uint64_t reduced_of_two(const Prime<uint64_t>& prime) const {
    const uint64_t upper = high << (64 - prime.shift) | low >> prime.shift;
    const uint64_t rest = low - __umul64hi(upper, prime.barrett) * prime.q;
    return subtract_once(subtract_once(rest, 2 * prime.q), prime.q);
  }
};

/// A sum of products whose upper half stays below q: call fold() after two products of words below 2^31 and q. Its
/// value is that of the sum times 2^-32.
struct MontgomerySum {
  uint32_t low = 0, high = 0;
  __device__ __forceinline__ void add(uint32_t a, uint32_t b) {
    const uint64_t sum = (uint64_t{high} << 32 | low) + uint64_t{a} * b;
    low = static_cast<uint32_t>(sum);
    high = static_cast<uint32_t>(sum >> 32);
  }
  __device__ __forceinline__ void fold(uint32_t q) { high = subtract_once(high, q); }
};

/// Returns x 2^-32 mod q in [0, q), for x with an upper half below q. (Montgomery)
__device__ __forceinline__ uint32_t montgomery_reduce(uint64_t x, const Prime<uint32_t>& prime) {
  const uint32_t multiple = static_cast<uint32_t>(x) * prime.inverse;
  const uint32_t difference = static_cast<uint32_t>(x >> 32) - __umulhi(multiple, prime.q);
  return __viaddmin_u32(difference, prime.q, difference);
}

}  // namespace polykem::ckks::cuda
