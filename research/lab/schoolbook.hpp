// SPDX-License-Identifier: Apache-2.0
// The product with which all others are compared.
#pragma once

#include "lab.hpp"

namespace polykem::lab {

/// Computes a product by definition: c_words() words in [0, q).
void schoolbook(const Problem& problem, const uint16_t* a, const uint16_t* b, uint16_t* c);

/// Computes the products of a batch on all CPUs.
void schoolbook(const Operands& operands, uint16_t* c);

}  // namespace polykem::lab
