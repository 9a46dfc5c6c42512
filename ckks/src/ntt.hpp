// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "ckks/src/modulus.hpp"
#include "ckks/src/rows/rows.hpp"

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
  /// log_n is at least 4. psi is a primitive 2N-th root of unity modulo q.
  Ntt(unsigned log_n, uint64_t q, uint64_t psi);

  const Modulus& modulus() const { return q_; }
  uint64_t psi() const { return psi_; }
  NttTables tables() const {
    return {n_, roots_.values.data(), roots_.quotients.data(), inverse_roots_.values.data(),
            inverse_roots_.quotients.data()};
  }
  /// Returns what an inverse needs whose result is multiplied by a constant in [0, q).
  LastLayer last_layer(uint64_t constant) const;

  /// Transforms in place: N coefficients of a in [0, q) become the values a(psi^(2 bitrev(i) + 1)), i = 0..N-1, in [0,
  /// q).
  void forward(uint64_t* a) const { rows().forward(q_, tables(), a); }
  /// The inverse of forward().
  void inverse(uint64_t* a) const { coefficients(a, a); }
  void coefficients(const uint64_t* a, uint64_t* out) const { rows().inverse(q_, tables(), last_, a, out); }

 private:
  struct Factors {
    std::vector<uint64_t> values, quotients;
  };
  static Factors powers(const Modulus& q, uint64_t root, unsigned log_n);

  Modulus q_;
  uint64_t psi_;
  size_t n_;
  Factors roots_, inverse_roots_;
  uint64_t inverse_n_;
  LastLayer last_;
};

}  // namespace polykem::ckks
