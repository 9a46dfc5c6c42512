// SPDX-License-Identifier: Apache-2.0
// Conversion of residues to other primes without a correction: y_i = x_i (Q/q_i)^-1 mod q_i, out_l = sum over i of
// y_i (Q/q_i) mod p_l, which is the number itself plus a small multiple of Q.
#pragma once

#include <cstdint>
#include <vector>

#include "ckks/src/cuda/tables.hpp"

namespace polykem::ckks::cuda {

inline constexpr unsigned kMaxSources = 64;
inline constexpr unsigned kTargetGroup = 8;  ///< the number of targets that are computed together

/// A conversion, with device pointers. Kernels get it by value.
template <class Word>
struct Conversion {
  uint32_t sources;
  RowMap targets;  ///< the prime of each row of a target polynomial, kSkip where none is to be written
  uint8_t source_prime[kMaxSources];
  const Factor<Word>* hat_inverse;  ///< (Q/q_i)^-1 mod q_i of each source
  /// [group of eight targets][source][target of the group]: Q/q_i mod p_l, times 2^32 for 32-bit words.
  const Word* matrix;
  /// The matrix for tensor cores and 32-bit words: [group][step of eight sources][two tiles][lane][4 words]. Column
  /// 4 i + a is 2^(8 a) times the entry of source i; rows 0 .. 7 of the tiles are the lowest and the third byte of the
  /// targets' columns, rows 8 .. 15 the second and the highest.
  const uint32_t* fragments;
};

template <class Word>
struct HostConversion {
  uint32_t sources;
  RowMap targets;
  std::vector<uint8_t> source_primes;
  std::vector<Factor<Word>> hat_inverse;
  std::vector<Word> matrix;
  std::vector<uint32_t> fragments;  ///< empty for 64-bit words
};

/// Makes a conversion. primes: all of the tables. sources: the numbers of the source primes.
template <class Word>
HostConversion<Word> make_conversion(const std::vector<PrimeRoot>& primes, const std::vector<uint8_t>& sources,
                                     const RowMap& targets);

/// Returns the product of all `primes` but number `without` (of all if it is negative) modulo q.
uint64_t product_mod(const std::vector<uint64_t>& primes, int without, uint64_t q);

}  // namespace polykem::ckks::cuda
