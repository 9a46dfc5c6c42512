// SPDX-License-Identifier: Apache-2.0
#include "ckks/src/base_conversion.hpp"

#include <algorithm>
#include <bit>

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
    bits_ = std::max(bits_, static_cast<unsigned>(std::bit_width(m.value())));
    last_layers_.push_back(primes[i].last_layer(m.inverse(product_without(primes, first, count, i, m))));
    for (size_t to = 0; to < primes.size(); ++to)
      to_hat_[to][i - first] = product_without(primes, first, count, i, primes[to].modulus());
  }
}

}  // namespace polykem::ckks
