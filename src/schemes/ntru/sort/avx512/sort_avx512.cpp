// SPDX-License-Identifier: Apache-2.0
#include "schemes/ntru/sort/lanes/sample_fixed_type.hpp"
#include "schemes/ntru/sort/lanes/sample_rows.hpp"

namespace polykem {

const SortLanes kSortLanesAvx512 = sorting::kSortLanesTable;
const SortRows kSortRowsAvx512 = {sorting::sample_fixed_type_rows};

}  // namespace polykem
