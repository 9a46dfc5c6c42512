// SPDX-License-Identifier: Apache-2.0
#include "prim/ntt/lanes/one_rows.hpp"
#include "prim/ntt/lanes/table.hpp"

namespace polykem {

const NttLanes kNttLanesAvx2 = ntt::kTable;
const NttOne kNttOneAvx2 = {ntt::forward_one, ntt::inverse_one, ntt::multiply_one};

}  // namespace polykem
