// SPDX-License-Identifier: Apache-2.0
#include "prim/aes/lanes/aes128_lanes.hpp"

namespace polykem {

const Aes128Functions kAes128Avx2 = {aes::encrypt, aes::grid};

}  // namespace polykem
