// SPDX-License-Identifier: Apache-2.0
#include "prim/ntt/lanes/single_rows.hpp"
#include "prim/ntt/lanes/table.hpp"

namespace polykem {

const NttFunctions kNttNeon = ntt::kTable;
const SingleNttFunctions kSingleNttNeon = {ntt::forward_single, ntt::inverse_single, ntt::multiply_single};

}  // namespace polykem
