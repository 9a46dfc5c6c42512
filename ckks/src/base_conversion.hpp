// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "ckks/src/ntt.hpp"

namespace polykem::ckks {

/// The most products of two residues modulo primes below 2^61 whose sum is below 2^128. A digit of more primes has
/// small ones, or P would be less than it.
inline constexpr size_t kMaxConverted = 64;

/// Converts residues modulo `count` consecutive primes, whose product is B, to residues modulo others, without the
/// correction by a small multiple of B [HK20, 2.2]: x becomes x + e B, 0 <= e < count.
class BaseConversion {
 public:
  BaseConversion(const std::vector<Ntt>& primes, size_t first, size_t count);

  size_t first() const { return first_; }
  size_t count() const { return last_layers_.size(); }

  /// Takes a row of values modulo prime first + i to coefficients times (B / b_i)^-1 mod b_i.
  void scaled_coefficients(size_t i, const uint64_t* values, uint64_t* out) const {
    const Ntt& ntt = primes_[first_ + i];
    rows().inverse(ntt.modulus(), ntt.tables(), last_layers_[i], values, out);
  }
  /// Computes the sum over i of scaled_i (B / b_i), modulo the prime number `to`. scaled: count() rows of n words.
  void convert(const uint64_t* scaled, size_t n, size_t to, uint64_t* out) const {
    rows().combine(primes_[to].modulus(), n, scaled, bits_, to_hat_[to].data(), count(), out);
  }

 private:
  const std::vector<Ntt>& primes_;
  size_t first_;
  unsigned bits_ = 0;                          ///< of the largest b_i
  std::vector<LastLayer> last_layers_;         ///< for (B / b_i)^-1 mod b_i
  std::vector<std::vector<uint64_t>> to_hat_;  ///< [to][i]: B / b_i modulo prime `to`
};

}  // namespace polykem::ckks
