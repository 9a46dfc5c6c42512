// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace polykem::cortex_m4 {

/// These functions do what those of ../polyinv.hpp do, on the Cortex-M4, for n <= 832. They take 2 KB of stack, which
/// holds secrets afterwards.
void poly_inverse_mod2(uint16_t* inverse, const uint16_t* a, size_t n);
void poly_inverse_mod3(uint16_t* inverse, const uint16_t* a, size_t n);

}  // namespace polykem::cortex_m4
