// SPDX-License-Identifier: Apache-2.0
#include "prim/keccak/lanes/table.hpp"

namespace polykem {

const KeccakLanes kKeccakLanesAvx512 = lanes::kKeccakLanesTable;
const KeccakForms kKeccakFormsAvx512 = {lanes::keccak_permute8_assembly, lanes::keccak_permute8_compiled};

}  // namespace polykem
