// SPDX-License-Identifier: Apache-2.0
#include "prim/ntt/avx512/one.hpp"
#include "prim/ntt/ntt_lanes.hpp"

namespace polykem {

const NttOne kNttOneAvx512 = {ntt::forward_one, ntt::inverse_one, ntt::multiply_one};

}  // namespace polykem
