// SPDX-License-Identifier: Apache-2.0
// Products with an A for one item, computed while A is made.
#pragma once

#include <cstddef>
#include <cstdint>

#include "schemes/frodo/matmul/matmul.hpp"

namespace polykem::frodo {

/// The functions of one instruction set for one way to make A. n is a multiple of 16, A is n x n, made from a seed of
/// kSeedABytes. [FRODO21, Algorithms 7 and 8] Branches and addresses depend on sizes only.
struct RowProductFunctions {
  /// Returns the size of the workspace, which is aligned to 64 bytes and holds secrets afterwards.
  size_t (*workspace_bytes)(size_t n);
  /// Computes b (n x 8) += A S, with S given as its transpose (8 x n).
  void (*mul_a_s)(Matrix16 b, const uint8_t* seed_a, ConstMatrix16 s_transposed, size_t n, std::byte* workspace);
  /// Computes b (8 x n) += S' A.
  void (*mul_s_a)(Matrix16 b, ConstMatrix16 s, const uint8_t* seed_a, size_t n, std::byte* workspace);
};

extern const RowProductFunctions kShakeProductsAvx512;
extern const RowProductFunctions kAesProductsAvx512;

}  // namespace polykem::frodo
