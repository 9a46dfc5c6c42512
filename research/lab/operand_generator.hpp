// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lab.hpp"
#include "storage.hpp"

namespace polykem::lab {

/// Makes operands that differ between items and are the same in every run. The first 36 items have all combinations of
/// extreme operands: zero, one, largest coefficients everywhere or at either end, and random. A shared operand is
/// random or, if `extreme`, has the largest coefficients.
class OperandGenerator {
 public:
  /// The operands are valid until the next call.
  Operands make(const Problem& problem, Sharing sharing, size_t items, bool extreme);

 private:
  Storage<uint16_t> a_, b_;
};

}  // namespace polykem::lab
