// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "ckks/src/batches.hpp"
#include "ckks/src/device_module.hpp"

namespace polykem::ckks {

/// Computes the words of results, on the CPU (host_backend.hpp) or on a GPU (device.hpp). evaluator.cpp has checked the
/// operands, which lie where the backend computes, and has set everything of `out` but its words.
class Backend {
 public:
  virtual ~Backend() = default;

  /// Allocates memory for the words of `out`.
  virtual void allocate(Ciphertexts& out) const = 0;
  /// Computes sums and differences.
  virtual void combine(Operation operation, const Ciphertexts& a, const Ciphertexts& b, Ciphertexts& out) const = 0;
  /// Computes sums, differences and products with plaintexts. Products multiply every part; sums and differences change
  /// the first part only.
  virtual void combine_plain(Operation operation, const Ciphertexts& a, const Plaintexts& b,
                             Ciphertexts& out) const = 0;
  virtual void negate(const Ciphertexts& a, Ciphertexts& out) const = 0;
  virtual void tensor(const Ciphertexts& a, const Ciphertexts& b, Ciphertexts& out) const = 0;
  virtual void relinearise(const Ciphertexts& a, const SwitchingKey& key, Ciphertexts& out) const = 0;
  virtual void automorphism(const Ciphertexts& a, uint64_t g, const SwitchingKey& key, Ciphertexts& out) const = 0;
  /// Computes automorphism() for each g with its key.
  virtual void automorphisms(const Ciphertexts& a, std::span<const uint64_t> gs,
                             std::span<const SwitchingKey* const> keys, std::span<Ciphertexts> out) const {
    for (size_t i = 0; i < gs.size(); ++i)
      automorphism(a, gs[i], *keys[i], out[i]);
  }
  virtual void rescale(const Ciphertexts& a, Ciphertexts& out) const = 0;
  /// Copies the items from number `first` on, and of each the first limbs, as many as `out` has.
  virtual void select(const Ciphertexts& a, size_t first, Ciphertexts& out) const = 0;
};

}  // namespace polykem::ckks
