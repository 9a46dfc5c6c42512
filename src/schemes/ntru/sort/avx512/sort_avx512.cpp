// SPDX-License-Identifier: Apache-2.0
#include "schemes/ntru/sort/lanes/sample_fixed_type.hpp"
#include "schemes/ntru/sort/lanes/sample_rows.hpp"

namespace polykem {

const SortFunctions kSortAvx512 = sorting::kSortTable;
const RowSortFunctions kRowSortAvx512 = {sorting::sample_fixed_type_rows};

}  // namespace polykem
