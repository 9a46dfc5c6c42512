// SPDX-License-Identifier: Apache-2.0
// Inverses of a whole batch for the price of a few: 1/a = b / (a b) and 1/b = a / (a b). docs/adr/0008 has the figures.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/round.hpp"

namespace polykem::cuda {

/// One half of a batch is multiplied by the other, rows [0, half) by rows [half, 2 half), and so on until few products
/// are left. Those are inverted; then every level gets its inverses from the level above.
///
/// kRow: bytes of a row. kMinInverses: the fewest rows that are inverted; fewer would take as long.
template <int kRow, size_t kMinInverses = 192>
class InverseTree {
 public:
  constexpr explicit InverseTree(size_t count) {
    while (count >> (levels_ + 1) >= kMinInverses)
      ++levels_;
    rows_ = rounded_up(count, size_t{1} << levels_);
  }

  /// Returns the number of rows of a batch's arrays: the batch's rows and padding that makes the halves equal.
  constexpr size_t rows() const { return rows_; }

  /// Computes inverses = 1/a for each of the rows() rows of `a`, every one of which must be invertible.
  ///
  /// nodes: rows() rows that are overwritten. multiply(c, a, b, rows), invert(inverse, a, rows) and
  /// multiply_crosswise(c, a, b, rows of a), which multiplies a by b's halves in the other order, are called with
  /// distinct arrays.
  template <class Multiply, class MultiplyCrosswise, class Invert>
  void run(uint8_t* inverses, const uint8_t* a, uint8_t* nodes, const Multiply& multiply,
           const MultiplyCrosswise& multiply_crosswise, const Invert& invert) const {
    const Rows at{inverses, a, nodes, rows_};
    for (unsigned level = 0; level < levels_; ++level) {
      const size_t half = rows_ >> (level + 1);
      multiply(at.products(level + 1), at.factors(level), at.factors(level) + half * kRow, half);
    }
    const size_t roots = rows_ >> levels_;
    invert(at.results(levels_), at.factors(levels_), roots);
    for (unsigned level = levels_; level-- > 0;)
      multiply_crosswise(at.results(level), at.results(level + 1), at.factors(level), rows_ >> (level + 1));
  }

 private:
  /// The memory of the levels. Level l has rows >> l rows. The products of the levels are stored one after the
  /// other, and inverses of odd levels overwrite products that are no longer needed.
  struct Rows {
    uint8_t* inverses;
    const uint8_t* a;
    uint8_t* nodes;
    size_t rows;

    uint8_t* products(unsigned level) const { return nodes + (rows - (rows >> (level - 1))) * kRow; }
    const uint8_t* factors(unsigned level) const { return level == 0 ? a : products(level); }
    uint8_t* results(unsigned level) const { return level % 2 == 0 ? inverses : products(level + 1); }
  };

  unsigned levels_ = 0;
  size_t rows_ = 0;
};

}  // namespace polykem::cuda
