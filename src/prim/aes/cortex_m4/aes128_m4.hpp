// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prim/aes/aes128.hpp"

namespace polykem::cortex_m4 {

/// Computes Aes128::grid with look-up tables, for public keys only: see kAes128Tables.
void aes128_grid(uint16_t* out, size_t stride, const uint8_t key[kAes128KeyBytes], size_t first_row, size_t rows,
                 size_t columns);

}  // namespace polykem::cortex_m4
