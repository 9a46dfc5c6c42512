// SPDX-License-Identifier: Apache-2.0
#include "prim/keccak/lanes/table.hpp"

namespace polykem {

const KeccakFunctions kKeccakAvx2 = keccak::kKeccakTable;

}  // namespace polykem
