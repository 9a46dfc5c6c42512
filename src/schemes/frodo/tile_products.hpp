// SPDX-License-Identifier: Apache-2.0
// Products with A by matrix tiles, which multiply bytes. A is unsigned and has two bytes in a word; S and S' are small
// and have one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "schemes/frodo/matmul/matmul.hpp"

namespace polykem::frodo {

/// The functions of one instruction set. n is a multiple of 16, A is n x n. S and S' have entries in [-128, 127], in
/// words. Branches and addresses depend on sizes only. `workspace`: workspace_bytes(n, count) bytes, aligned to 64
/// bytes; it holds secrets afterwards. Where a function takes `count` pairs of b and S', pair t begins t * step words
/// after the first.
struct TileProductFunctions {
  size_t (*workspace_bytes)(size_t n, size_t count);

  /// Computes b (n x 8) += A S with the A that AES makes from seed_a, and S given as its transpose (8 x n). [FRODO21,
  /// Algorithm 7]
  void (*mul_a_s)(Matrix16 b, const uint8_t* seed_a, ConstMatrix16 s_transposed, size_t n, std::byte* workspace);
  /// Computes b (8 x n) += S' A with the A that AES makes from seed_a, for `count` pairs.
  void (*mul_s_a)(Matrix16 b, ConstMatrix16 s, const uint8_t* seed_a, size_t n, size_t count, size_t step,
                  std::byte* workspace);

  /// Returns the bytes of a packed A, the form of an A that is used for many items. It is aligned to 64 bytes.
  size_t (*packed_bytes)(size_t n);
  /// Packs rows first .. first + count - 1. first: a multiple of 64. count: a multiple of 8, and of 64 except at the
  /// end. Each row is followed by other words up to 64 bytes.
  void (*pack)(std::byte* packed, ConstMatrix16 rows, size_t first, size_t count, size_t n);
  /// Computes b (8 x n) += S' A for `count` pairs, with all rows of A packed. A single pair needs the workspace of two.
  void (*mul_s_a_packed)(Matrix16 b, ConstMatrix16 s, const std::byte* packed, size_t n, size_t count, size_t step,
                         std::byte* workspace);
};

extern const TileProductFunctions kTileProductsAmx;

}  // namespace polykem::frodo
