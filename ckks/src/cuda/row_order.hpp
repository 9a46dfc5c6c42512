// SPDX-License-Identifier: Apache-2.0
// The order in which a launch takes the rows of a batch of polynomials.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "ckks/src/cuda/tables.hpp"

namespace polykem::ckks::cuda {

struct RowPlace {
  unsigned polynomial, row, prime;  ///< row: within the polynomial
};

/// An order of rows, without those that are skipped. Kernels get it by value.
struct RowOrder {
  uint32_t polynomials, count;  ///< count: rows of a polynomial that the launch takes
  uint32_t reciprocal;          ///< floor((2^32 - 1) / what place() divides by)
  bool prime_first;             ///< one prime after the other, else one polynomial after the other
  uint16_t row[RowMap::kMax];
  uint8_t prime[RowMap::kMax];

  size_t rows() const { return size_t{polynomials} * count; }

  __host__ __device__ __forceinline__ RowPlace place(unsigned number) const {
    const unsigned divisor = prime_first ? polynomials : count;
    auto quotient = static_cast<unsigned>((uint64_t{number} * reciprocal) >> 32);  // at most one too small
    unsigned rest = number - quotient * divisor;
    if (rest >= divisor) {
      ++quotient;
      rest -= divisor;
    }
    const unsigned entry = prime_first ? quotient : rest;
    return {prime_first ? rest : quotient, row[entry], prime[entry]};
  }
};

/// Makes the order. factor_bytes: the bytes that a transform reads of one prime's factors. Where those of all primes
/// together exceed the second-level cache, rows of one prime follow each other.
RowOrder make_row_order(const RowMap& map, size_t polynomials, size_t factor_bytes);

}  // namespace polykem::ckks::cuda
