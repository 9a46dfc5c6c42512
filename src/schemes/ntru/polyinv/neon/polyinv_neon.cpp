// SPDX-License-Identifier: Apache-2.0
#include "schemes/ntru/polyinv/lanes/inverses.hpp"

namespace polykem {

const PolyInvFunctions kPolyInvNeon = polyinv::table();

}  // namespace polykem
