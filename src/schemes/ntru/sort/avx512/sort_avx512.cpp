// SPDX-License-Identifier: Apache-2.0
#include "schemes/ntru/sort/lanes/sample_fixed_type.hpp"
#include "schemes/ntru/sort/lanes/sample_rows.hpp"

namespace polykem {

const SortFunctions kSortAvx512 = sort_lanes::kSortTable;
const RowSortFunctions kRowSortAvx512 = {sort_lanes::sample_fixed_type_rows};

}  // namespace polykem
