// SPDX-License-Identifier: Apache-2.0
// The constants of a set of primes: what the host computes once and the kernels read from device memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace polykem::ckks::cuda {

/// A constant factor: w in [0, q) and floor(w 2^k / q), where k is the bits of a word.
template <class Word>
struct alignas(2 * sizeof(Word)) Factor {
  Word value, quotient;
};

template <class Word>
struct Prime;

template <>
struct alignas(16) Prime<uint32_t> {
  uint32_t q;           ///< below 2^31
  uint32_t inverse;     ///< q^-1 mod 2^32
  uint64_t reciprocal;  ///< floor(2^64 / q)
  Factor<uint32_t> inverse_n;
};

template <>
struct alignas(16) Prime<uint64_t> {
  uint64_t q;               ///< below 2^61
  uint64_t reciprocal;      ///< floor(2^64 / q)
  Factor<uint64_t> two_64;  ///< 2^64 mod q
  uint64_t barrett;         ///< floor(2^(64 + shift) / q)
  uint64_t shift;           ///< bits of q, less two
  Factor<uint64_t> inverse_n;
};

/// log2 of the words of a run. A run is what one thread transforms in the last layers: 128 bytes.
template <class Word>
inline constexpr int kLogRun = sizeof(Word) == 4 ? 5 : 4;

/// The prime of each row of a polynomial; row r of a batch has prime[r % count]. Kernels get it by value.
struct RowMap {
  static constexpr size_t kMax = 508;
  static constexpr uint8_t kSkip = 0xff;  ///< a row to leave alone
  uint32_t count = 0;
  uint8_t prime[kMax] = {};
};

/// The tables that the tensor-core forms of the transform read, for N = 2^16 and 32-bit words; null pointers where they
/// are not wanted. Index [direction]; imma_tables.cpp says what lies in them, in the order in which lanes read it.
struct ImmaTables {
  struct Split {                     ///< 256 x 256
    const uint32_t *columns, *rows;  ///< matrices of 65536 words for each prime
    const Factor<uint32_t>* twist;   ///< 65536 for each prime
  } split[2];
  struct OnePass {
    const uint32_t *first, *later;  ///< matrices of the first pass and of all others
    const Factor<uint32_t>* twist;  ///< those of all other passes, one after the other
  } by_64_32_32[2], by_16[2];
};

/// Tables in device memory; entry p of each array belongs to prime number p.
template <class Word>
struct Tables {
  int log_n;
  const Prime<Word>* primes;
  /// N factors for each prime. The layer with 2^l groups multiplies in group g by the factor of node 2^l + g. Nodes
  /// below G = N / 2^kLogRun lie in that order. Then number e = 1, 2, .. of the subtree of depth kLogRun below node G +
  /// g lies at G e + g, so that neighbouring threads read neighbouring factors. For 32 bits numbers e and e + 1, e
  /// even, lie together, at G e + 2 g, since threads read two at once.
  const Factor<Word>* forward;
  const Factor<Word>* inverse;  ///< the inverse's factors in the same order; place 0 has that of node 1 divided by N
  ImmaTables imma;
};

/// A prime and a primitive 2N-th root of unity modulo it.
struct PrimeRoot {
  uint64_t q, psi;
};

uint64_t multiply_mod(uint64_t a, uint64_t b, uint64_t q);
uint64_t power_mod(uint64_t base, uint64_t exponent, uint64_t q);
uint64_t inverse_mod(uint64_t a, uint64_t q);  ///< q prime
uint32_t reverse_bits(uint32_t x, int bits);

template <class Word>
Factor<Word> make_factor(uint64_t value, uint64_t q);

/// Host copies of what Tables points to.
template <class Word>
struct HostTables {
  int log_n;
  std::vector<Prime<Word>> primes;
  std::vector<Factor<Word>> forward, inverse;
};

template <class Word>
HostTables<Word> make_tables(int log_n, const std::vector<PrimeRoot>& primes);

/// Returns where the factor of `node` lies in forward and inverse.
template <class Word>
size_t factor_place(uint32_t node, int log_n);

}  // namespace polykem::ckks::cuda
