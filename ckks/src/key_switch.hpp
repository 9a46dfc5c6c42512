// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ckks/src/batches.hpp"
#include "ckks/src/context.hpp"

namespace polykem::ckks {

/// Computes the hybrid key switching of one polynomial [HK20, 3], then X -> X^g: out0 + out1 s(X^g) is (c s')(X^g) and
/// some noise, where the key takes from s' to s. c, out0, out1: `limbs` rows. The order of steps is OpenFHE's, so that
/// results are the same to the bit. The key is of this parameter set.
void key_switch(const Context& context, const SwitchingKey& key, size_t limbs, const uint64_t* c, uint64_t g,
                uint64_t* out0, uint64_t* out1);

/// Applies X -> X^g, g odd, to one row: its values change places.
void permute(const Context& context, uint64_t g, const uint64_t* row, uint64_t* out);

}  // namespace polykem::ckks
