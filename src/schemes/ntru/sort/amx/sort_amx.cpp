// SPDX-License-Identifier: Apache-2.0
#include "schemes/ntru/sort/lanes/sample_rows.hpp"

#ifndef POLYKEM_ISA_AMX
#error "Without the flags for CPUs with tiles (src/CMakeLists.txt) this would be the sort of other CPUs."
#endif

namespace polykem {

const RowSortFunctions kRowSortAmx = {sort_lanes::sample_fixed_type_rows};

}  // namespace polykem
