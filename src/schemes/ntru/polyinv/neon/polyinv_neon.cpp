// SPDX-License-Identifier: Apache-2.0
#include "schemes/ntru/polyinv/lanes/inverses.hpp"

namespace polykem {

const PolyInvLanes kPolyInvLanesNeon = polyinv::table();

}  // namespace polykem
