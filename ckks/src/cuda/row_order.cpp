// SPDX-License-Identifier: Apache-2.0
#include "ckks/src/cuda/row_order.hpp"

#include <algorithm>

namespace polykem::ckks::cuda {

namespace {

/// The most bytes of factors, of all primes, that stay in the second-level cache if rows of different primes alternate.
constexpr size_t kMaxFactorBytes = size_t{8} << 20;

}  // namespace

RowOrder make_row_order(const RowMap& map, size_t polynomials, size_t factor_bytes) {
  uint32_t rows_of[256] = {}, primes = 0;
  for (uint32_t row = 0; row < map.count; ++row) {
    if (map.prime[row] != RowMap::kSkip && rows_of[map.prime[row]]++ == 0) ++primes;
  }
  RowOrder order{};
  order.polynomials = static_cast<uint32_t>(polynomials);
  order.prime_first = primes * factor_bytes > kMaxFactorBytes;
  uint32_t next[256] = {};
  for (uint32_t prime = 1; prime < 256; ++prime)
    next[prime] = next[prime - 1] + rows_of[prime - 1];
  for (uint32_t row = 0; row < map.count; ++row) {
    const uint8_t prime = map.prime[row];
    if (prime == RowMap::kSkip) continue;
    const uint32_t entry = order.prime_first ? next[prime]++ : order.count;
    order.row[entry] = static_cast<uint16_t>(row);
    order.prime[entry] = prime;
    ++order.count;
  }
  order.reciprocal = ~uint32_t{0} / std::max(order.prime_first ? order.polynomials : order.count, uint32_t{1});
  return order;
}

}  // namespace polykem::ckks::cuda
