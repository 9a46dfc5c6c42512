// SPDX-License-Identifier: Apache-2.0
// The Diffie-Hellman half of a hybrid KEM: a nominal group [HYBRIDKEMS, 4.2] with OpenSSL's curves.
#pragma once

#include "hpke/suite.hpp"

namespace polykem::hpke {

/// What came of an item: done; its key or point is malformed; or OpenSSL failed, of whatever cause.
enum class Outcome : char { kDone, kMalformed, kFailed };

inline Outcome done_if(bool ok) {
  return ok ? Outcome::kDone : Outcome::kFailed;
}

/// One for each thread. Scalars and points are bytes of the KEM's scalar_bytes and point_bytes.
class Group {
 public:
  virtual ~Group() = default;

  /// RandomScalar: the first candidate in `seed` that is a scalar, seed_bytes long. Malformed if there is none.
  virtual Outcome scalar(const std::uint8_t* seed, std::uint8_t* scalar) = 0;
  /// Exp(g, scalar), encoded.
  virtual Outcome public_point(const std::uint8_t* scalar, std::uint8_t* point) = 0;
  /// ElementToSharedSecret(Exp(peer, scalar)), scalar_bytes long. Malformed if `peer` is no point of the group, or if
  /// the result is X25519's zero [RFC7748, 6.1].
  virtual Outcome shared_secret(const std::uint8_t* scalar, const std::uint8_t* peer, std::uint8_t* out) = 0;
};

/// nullptr if the suite's KEM is no hybrid.
std::unique_ptr<Group> make_group(const Suite& suite);

}  // namespace polykem::hpke
