// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ckks/src/backend.hpp"
#include "ckks/src/context.hpp"

namespace polykem::ckks {

/// Computes on the context's threads.
class HostBackend final : public Backend {
 public:
  explicit HostBackend(const Context& context) : context_(context) {}

  void allocate(Ciphertexts& out) const override;
  void combine(Operation operation, const Ciphertexts& a, const Ciphertexts& b, Ciphertexts& out) const override;
  void combine_plain(Operation operation, const Ciphertexts& a, const Plaintexts& b, Ciphertexts& out) const override;
  void negate(const Ciphertexts& a, Ciphertexts& out) const override;
  void tensor(const Ciphertexts& a, const Ciphertexts& b, Ciphertexts& out) const override;
  void relinearise(const Ciphertexts& a, const SwitchingKey& key, Ciphertexts& out) const override;
  void automorphism(const Ciphertexts& a, uint64_t g, const SwitchingKey& key, Ciphertexts& out) const override;
  void automorphisms(const Ciphertexts& a, std::span<const uint64_t> gs, std::span<const SwitchingKey* const> keys,
                     std::span<Ciphertexts> out) const override;
  void rescale(const Ciphertexts& a, Ciphertexts& out) const override;
  void select(const Ciphertexts& a, size_t first, Ciphertexts& out) const override;

 private:
  const Context& context_;
};

}  // namespace polykem::ckks
