// SPDX-License-Identifier: Apache-2.0
#include "prim/ntt/lanes/one_rows.hpp"
#include "prim/ntt/lanes/table.hpp"

namespace polykem {

const NttLanes kNttLanesNeon = ntt::kTable;
const NttOne kNttOneNeon = {ntt::forward_one, ntt::inverse_one, ntt::multiply_one};

}  // namespace polykem
