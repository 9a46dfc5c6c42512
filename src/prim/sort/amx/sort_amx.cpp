// SPDX-License-Identifier: Apache-2.0
#include "prim/sort/lanes/sample_rows.hpp"

namespace polykem {

const SortRows kSortRowsAmx = {sorting::sample_fixed_type_rows};

}  // namespace polykem
