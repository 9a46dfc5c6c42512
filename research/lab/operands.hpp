// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lab.hpp"
#include "storage.hpp"

namespace polykem::lab {

/// Operands that no two items have in common, repeatable; those of the first 36 items are extreme ones, all
/// combinations of zero, one, largest coefficients everywhere, at either end, and random. A shared operand is random,
/// or has the largest coefficients if `extreme`.
class Operands {
 public:
  /// The batch lasts until the next one is made.
  Batch make(const Problem& problem, Sharing sharing, size_t items, bool extreme);

 private:
  Storage<uint16_t> a_, b_;
};

}  // namespace polykem::lab
