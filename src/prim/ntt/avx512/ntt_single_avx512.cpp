// SPDX-License-Identifier: Apache-2.0
#include "prim/ntt/avx512/single.hpp"
#include "prim/ntt/ntt_lanes.hpp"

namespace polykem {

const SingleNttFunctions kSingleNttAvx512 = {ntt::forward_single, ntt::inverse_single, ntt::multiply_single};

}  // namespace polykem
