// SPDX-License-Identifier: Apache-2.0
// What a hybrid KEM does beside its ML-KEM, an item at a time [HYBRIDKEMS, 5.1 and 5.5].
#pragma once

#include "hpke/group.hpp"
#include "hpke/openssl.hpp"

namespace polykem::hpke {

/// One for each thread.
class Hybrid {
 public:
  explicit Hybrid(const Suite& suite);

  /// expandDecapsKeyG without its key generations: `lattice` gets 64 bytes, `scalar` the group's.
  Outcome expand(const std::uint8_t* secret_key, std::uint8_t* lattice, std::uint8_t* scalar);
  Outcome public_point(const std::uint8_t* scalar, std::uint8_t* point) { return group_->public_point(scalar, point); }

  /// The group's half of Encaps, and the combiner. `shared` has ML-KEM's shared secret and gets the hybrid's.
  Outcome encaps(const std::uint8_t* draw, const std::uint8_t* peer, std::uint8_t* point, std::uint8_t* shared);
  /// The same of Decaps; `own` is the public point of `scalar`.
  Outcome decaps(const std::uint8_t* scalar, const std::uint8_t* own, const std::uint8_t* point, std::uint8_t* shared);

 private:
  Outcome combine(const std::uint8_t* ephemeral, const std::uint8_t* recipient, std::uint8_t* shared);

  const KemInfo& kem_;
  const Algorithms& algorithms_;
  std::unique_ptr<Group> group_;
  DigestContextPtr digest_;
  SecretBytes seed_, scalar_, secret_;
};

}  // namespace polykem::hpke
