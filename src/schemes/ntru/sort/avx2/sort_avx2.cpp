// SPDX-License-Identifier: Apache-2.0
#include "schemes/ntru/sort/lanes/sample_fixed_type.hpp"

namespace polykem {

const SortFunctions kSortAvx2 = sort_lanes::kSortTable;

}  // namespace polykem
