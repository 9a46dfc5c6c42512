// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ckks/src/modulus.hpp"

namespace polykem::ckks {

/// Returns the low `bits` bits of `i`, reversed.
constexpr size_t bit_reverse(size_t i, unsigned bits) {
  size_t reversed = 0;
  for (unsigned b = 0; b < bits; ++b)
    reversed |= (i >> b & 1) << (bits - 1 - b);
  return reversed;
}

/// The negacyclic number-theoretic transform of N = 2^log_n coefficients modulo a prime q = 1 mod 2N [LN16, 3].
class Ntt {
 public:
  /// psi is a primitive 2N-th root of unity modulo q.
  Ntt(unsigned log_n, uint64_t q, uint64_t psi);

  const Modulus& modulus() const { return q_; }
  uint64_t psi() const { return psi_; }

  /// Transforms in place: N coefficients of a in [0, q) become the values a(psi^(2 bitrev(i) + 1)), i = 0..N-1, in [0,
  /// q).
  void forward(uint64_t* a) const;
  /// The inverse of forward().
  void inverse(uint64_t* a) const;

 private:
  Modulus q_;
  uint64_t psi_;
  size_t n_;
  std::vector<Factor> roots_, inverse_roots_;  ///< psi^bitrev(i) and its inverse
  Factor inverse_n_;
};

}  // namespace polykem::ckks
