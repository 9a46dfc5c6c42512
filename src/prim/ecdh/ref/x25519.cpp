// SPDX-License-Identifier: Apache-2.0
#include "prim/ecdh/ref/field51.hpp"

namespace polykem::ecdh {

const Implementation& x25519_portable() {
  static constexpr Implementation kOne{0, x25519_public_keys<Field51>, x25519_shared_secrets<Field51>};
  return kOne;
}

}  // namespace polykem::ecdh
