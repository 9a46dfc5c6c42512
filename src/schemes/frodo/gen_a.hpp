// SPDX-License-Identifier: Apache-2.0
// The public matrix A, a few rows at a time. [FRODO21, Algorithms 7 and 8]
#pragma once

#include <bit>

#include "schemes/frodo/kernels.hpp"

namespace polykem::frodo {

/// A range of rows of an n x n matrix. n: a multiple of 8.
struct RowRange {
  size_t first, count, n;
};

/// Writes rows of the matrix that belongs to a seed of kSeedABytes, at most kMaxGeneratedRows.
void generate_rows(Matrix16 out, GenA gen_a, const Kernels& kernels, const uint8_t* seed_a, RowRange rows);

/// Converts words between little-endian bytes and the machine's byte order.
inline void to_or_from_little_endian([[maybe_unused]] uint16_t* words, [[maybe_unused]] size_t count) {
  if constexpr (std::endian::native == std::endian::big) {
    for (size_t i = 0; i < count; ++i)
      words[i] = static_cast<uint16_t>(words[i] << 8 | words[i] >> 8);
  }
}

}  // namespace polykem::frodo
