// SPDX-License-Identifier: Apache-2.0
#include "prim/sort/lanes/sample_fixed_type.hpp"

namespace polykem {

const SortLanes kSortLanesNeon = sorting::kSortLanesTable;

}  // namespace polykem
