// SPDX-License-Identifier: Apache-2.0
#include "prim/ntt/lanes/table.hpp"

namespace polykem {

const NttLanes kNttLanesAvx512 = ntt::kTable;

}  // namespace polykem
