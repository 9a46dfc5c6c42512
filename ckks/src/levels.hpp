// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "ckks/src/batches.hpp"
#include "ckks/src/context.hpp"
#include "ckks/src/encoding.hpp"

namespace polykem::ckks {

/// What functions of several operations do with levels, of which each drops `step` primes.
class Level {
 public:
  /// Throws Error(argument) for a step of 0.
  Level(const Context& context, size_t step);

  const Context& context() const { return context_; }
  size_t step() const { return step_; }
  /// Returns what a rescaling of so many limbs, at least `step`, divides the scale by.
  double divisor(size_t limbs) const;
  /// Throws Error(no_level), with the name of what takes them, unless ciphertexts have that many levels left.
  void need(const Ciphertexts& a, size_t levels, const std::string& taker) const;
  Ciphertexts rescaled(const Ciphertexts& a) const;
  /// Returns `a` with so many limbs: itself, or `room`, where it is put then.
  const Ciphertexts& kept(const Ciphertexts& a, size_t limbs, Ciphertexts& room) const;
  /// Encodes a number in every slot, with the limbs of ciphertexts and in their place.
  Plaintexts constant(Complex value, const Ciphertexts& like, double scale) const;

 private:
  const Context& context_;
  size_t step_;
};

}  // namespace polykem::ckks
