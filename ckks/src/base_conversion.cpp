// SPDX-License-Identifier: Apache-2.0
#include "ckks/src/base_conversion.hpp"

namespace polykem::ckks {

namespace {

/// Returns the product of all primes first..first + count - 1 but number `left_out`, modulo m.
uint64_t product_without(const std::vector<Ntt>& primes, size_t first, size_t count, size_t left_out,
                         const Modulus& m) {
  uint64_t product = 1;
  for (size_t i = first; i < first + count; ++i)
    if (i != left_out) product = m.mul(product, m.reduce(primes[i].modulus().value()));
  return product;
}

}  // namespace

BaseConversion::BaseConversion(const std::vector<Ntt>& primes, size_t first, size_t count)
    : primes_(primes), first_(first), to_hat_(primes.size(), std::vector<uint64_t>(count)) {
  for (size_t i = first; i < first + count; ++i) {
    const Modulus& m = primes[i].modulus();
    inverse_hat_.push_back(m.factor(m.inverse(product_without(primes, first, count, i, m))));
    for (size_t to = 0; to < primes.size(); ++to)
      to_hat_[to][i - first] = product_without(primes, first, count, i, primes[to].modulus());
  }
}

void BaseConversion::scale(size_t i, uint64_t* row, size_t n) const {
  const Modulus& m = primes_[first_ + i].modulus();
  for (size_t k = 0; k < n; ++k)
    row[k] = m.mul(row[k], inverse_hat_[i]);
}

void BaseConversion::convert(const uint64_t* scaled, size_t n, size_t to, uint64_t* out) const {
  const Modulus& m = primes_[to].modulus();
  const std::vector<uint64_t>& hat = to_hat_[to];
  for (size_t k = 0; k < n; ++k) {
    Wide sum = 0;  // below 2^128: a digit of more than kMaxConverted primes has small ones, or P would be less than it
    for (size_t i = 0; i < hat.size(); ++i)
      sum += Wide{scaled[i * n + k]} * hat[i];
    out[k] = m.reduce(sum);
  }
}

}  // namespace polykem::ckks
