// SPDX-License-Identifier: Apache-2.0
// Checks of keys on the GPU: key sets, seeds, malformed keys. Bytes and statuses must be the CPU's.
#pragma once

#include "exchange.hpp"

namespace polykem::test {

/// Checks key pairs that are generated on the GPU and stay there, and imported keys; in order, by index, shared.
void check_keysets(const Set& set);

/// Checks secret keys as seeds, alone and in key sets; nothing for sets without seeds.
void check_seeds(const Set& set);

/// Checks malformed keys in the middle of a batch of ML-KEM or Kyber; nothing for other families, which check no keys.
void check_malformed(const Set& set);

}  // namespace polykem::test
