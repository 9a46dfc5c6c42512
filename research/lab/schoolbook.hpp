// SPDX-License-Identifier: Apache-2.0
// The product that every other is compared with.
#pragma once

#include "lab.hpp"

namespace polykem::lab {

/// One product as its definition has it: c_words() words in [0, q).
void schoolbook(const Problem& problem, const uint16_t* a, const uint16_t* b, uint16_t* c);

/// Those of a whole batch, on all CPUs.
void schoolbook(const Batch& batch, uint16_t* c);

}  // namespace polykem::lab
