// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "ckks/src/batches.hpp"
#include "ckks/src/context.hpp"
#include "ckks/src/device.hpp"
#include "ckks/src/encoding.hpp"

namespace polykem::ckks {

/// A square matrix M by which the slots of ciphertexts are multiplied, with its diagonals encoded. Diagonal k, modulo
/// the slots, has M[i][(i + k) mod slots] at place i. The product is the sum over k of diagonal k times the ciphertext
/// rotated by k. Each k = giant + baby is split, so that rotations by the babies serve all giants [HS18]. Python's
/// `LinearTransform` computes the same words.
class LinearTransform {
 public:
  /// numbers: of the diagonals, different modulo the slots. values: [diagonal][slots]. Diagonals of zeros are left out.
  /// limbs: of the ciphertexts. limbs_per_level: the primes that a level drops. Throws Error(argument), Error(no_level)
  /// and Error(levels).
  LinearTransform(const Context& context, std::span<const long> numbers, std::span<const Complex> values, size_t slots,
                  size_t limbs, size_t limbs_per_level);

  /// Returns the steps for which apply() needs keys, ascending, from 1 to slots - 1.
  const std::vector<long>& rotations() const { return rotations_; }

  /// Returns the products, at the scale of a and a level lower. a: at least the limbs that the transform is made for,
  /// of which it keeps those. keys: one for each of rotations().
  Ciphertexts apply(const Context& context, const Ciphertexts& a, std::span<const SwitchingKey* const> keys) const;

  /// Returns the transform with its diagonals on a device.
  LinearTransform on_device(const std::shared_ptr<const Device>& device) const;

 private:
  struct Diagonal {
    size_t baby;
    Plaintexts plaintext;
  };
  struct Row {
    size_t giant;
    std::vector<Diagonal> diagonals;
  };
  /// Returns `a` rotated by each baby step, the result at the step's place.
  std::vector<Ciphertexts> rotated(const Context& context, const Ciphertexts& a,
                                   std::span<const SwitchingKey* const> keys) const;
  const SwitchingKey& key_of(size_t steps, std::span<const SwitchingKey* const> keys) const;

  size_t slots_, limbs_, limbs_per_level_;
  std::vector<Row> rows_;
  std::vector<size_t> babies_;  ///< without 0
  std::vector<long> rotations_;
};

}  // namespace polykem::ckks
