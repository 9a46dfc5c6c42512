// SPDX-License-Identifier: Apache-2.0
#include "prim/ntt/lanes/single_rows.hpp"
#include "prim/ntt/lanes/table.hpp"

namespace polykem {

const NttFunctions kNttAvx2 = ntt::kTable;
const SingleNttFunctions kSingleNttAvx2 = {ntt::forward_single, ntt::inverse_single, ntt::multiply_single};

}  // namespace polykem
