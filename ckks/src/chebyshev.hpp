// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "ckks/src/batches.hpp"
#include "ckks/src/context.hpp"
#include "ckks/src/encoding.hpp"

namespace polykem::ckks {

/// A polynomial of numbers x in an interval (a, b): the sum of c_j T_j(u), u = (2 x - a - b) / (b - a), with the
/// Chebyshev polynomials T_j. It is evaluated as by Paterson and Stockmeyer [PS73], with Chebyshev polynomials for
/// powers; scales are chosen from the result on, so that no level is lost to align them [BMTH21]. Python's `Chebyshev`
/// computes the same words.
class Chebyshev {
 public:
  /// coefficients: c_0, c_1, ... Throws Error(argument) unless they are finite and one after c_0 is not 0, and a < b
  /// with 2 / (b - a) finite and not 0.
  Chebyshev(std::span<const Complex> coefficients, double a, double b);

  size_t degree() const { return coefficients_.size() - 1; }
  /// Returns how many levels it takes: ceil(log2(degree + 1)), and one more unless 2 / (b - a) is a whole number.
  size_t levels() const;

  /// Returns the values at x, at its scale and levels() lower. key: that of relinearise(). limbs_per_level: the primes
  /// that a level drops. Throws Error(no_level), (scales) for a scale far from those primes, and as the evaluator does.
  Ciphertexts apply(const Context& context, const Ciphertexts& x, const SwitchingKey& key,
                    size_t limbs_per_level) const;

 private:
  class Evaluation;
  struct Product;
  /// constant + the sum of c T_j over terms (j, c) + the sum of quotient T_m over products.
  struct Node {
    Complex constant;
    std::vector<std::pair<size_t, Complex>> terms;
    std::vector<Product> products;
  };
  struct Product {
    size_t m;
    Node quotient;
  };
  class KeySwitches;

  static Node node(std::vector<Complex> c, size_t babies, unsigned levels);

  std::vector<Complex> coefficients_;
  double a_, b_, factor_;
  Node root_;
};

}  // namespace polykem::ckks
