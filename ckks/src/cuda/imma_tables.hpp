// SPDX-License-Identifier: Apache-2.0
// Matrices and factors of the transforms on tensor cores, N = 2^16.
//
// A pass from layer `level` on takes 2^bits points that are N / 2^(level + bits) = D apart. In group g they are
// multiplied by r^k, r = psi^(D (2 rev(g) + 1)), and then transformed by the matrix of w^(k rev(m)), where w is a
// primitive root of order 2^bits.
#pragma once

#include <vector>

#include "ckks/src/cuda/tables.hpp"

namespace polykem::ckks::cuda {

/// The bits of the passes of the one-pass forms.
template <int kFirst, int kLater>
struct ImmaPasses {
  static constexpr int kFirstBits = kFirst, kLaterBits = kLater;
  static constexpr size_t words(int bits) { return (size_t{1} << (2 * bits)) * 4; }
  static constexpr size_t kFirstWords = words(kFirst), kLaterWords = words(kLater);
  /// Returns where the factors of the pass from `level` on begin. For the level after the last pass, that is the number
  /// of all factors.
  static constexpr size_t twist_place(int level) {
    return level <= kFirst ? 0 : twist_place(level - kLater) + (size_t{1} << level);
  }
  static constexpr size_t kTwists = twist_place(16);
};
using Passes64 = ImmaPasses<6, 5>;
using Passes16 = ImmaPasses<4, 4>;

/// Host copies of what ImmaTables points to.
struct HostImmaTables {
  struct Split {
    std::vector<uint32_t> columns, rows;
    std::vector<Factor<uint32_t>> twist;
  } split[2];
  struct OnePass {
    std::vector<uint32_t> first, later;
    std::vector<Factor<uint32_t>> twist;
  } by_64_32_32[2], by_16[2];
};

HostImmaTables make_imma_tables(const std::vector<PrimeRoot>& primes);

}  // namespace polykem::ckks::cuda
