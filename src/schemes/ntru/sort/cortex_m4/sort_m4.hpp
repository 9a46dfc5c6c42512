// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace polykem::cortex_m4 {

/// Does what sort_int32 of ../sort.hpp does, on the Cortex-M4. `values` has room for count + kSortRoom integers.
void sort_int32(int32_t* values, size_t count);

}  // namespace polykem::cortex_m4
