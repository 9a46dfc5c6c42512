// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "ckks/src/batches.hpp"
#include "ckks/src/context.hpp"

namespace polykem::ckks {

/// A polynomial c whose key is switched, and what becomes of it: rows of `limbs` limbs.
struct Switched {
  const uint64_t* c;
  const uint64_t* addends[2];  ///< added before X -> X^g; nullptr: nothing
  uint64_t* out[2];
};

/// Computes the hybrid key switching of polynomials [HK20, 3], then X -> X^g: out[0] + out[1] s(X^g) is (c s')(X^g) and
/// some noise, where the key takes from s' to s. The order of steps is OpenFHE's, so that results are the same to the
/// bit. The key is of this parameter set.
void key_switch(const Context& context, const SwitchingKey& key, size_t limbs, uint64_t g,
                std::span<const Switched> polynomials);

/// The digits of one polynomial, raised to all primes: what key switching with several keys shares.
class Raised {
 public:
  Raised(const Context& context, size_t limbs, const uint64_t* c);

  /// Computes what key_switch() does with the polynomial c that was raised.
  void key_switch(const SwitchingKey& key, uint64_t g, const Switched& polynomial) const;

 private:
  const Context& context_;
  size_t limbs_;
  Words rows_;  ///< [rows][digits][N]
};

}  // namespace polykem::ckks
