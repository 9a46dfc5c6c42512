// SPDX-License-Identifier: Apache-2.0
// Checks of keys on the card: key sets, seeds, malformed keys. The CPU's bytes and statuses are what is right.
#pragma once

#include "exchange.hpp"

namespace polykem::gpu_test {

/// Key pairs that were made on the GPU and stay there; keys that were put there; in order, by index, shared.
void check_keysets(const Set& set);

/// Secret keys in their form as a seed, by themselves and in key sets; nothing for a set without that form.
void check_seeds(const Set& set);

/// Malformed keys in the middle of a batch of ML-KEM or Kyber; nothing for other families, whose keys are not checked.
void check_malformed(const Set& set);

}  // namespace polykem::gpu_test
