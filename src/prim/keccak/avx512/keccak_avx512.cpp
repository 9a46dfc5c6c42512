// SPDX-License-Identifier: Apache-2.0
#include "prim/keccak/lanes/table.hpp"

namespace polykem {

namespace {

template <size_t kRate, bool kOverlapped>
void shake(ByteRows out, size_t out_length, ConstByteRows first, size_t first_length, ConstByteRows rest, size_t length,
           size_t count) {
  lanes::hash_joined_rows<kRate, lanes::kShakeSuffix>(out, out_length, first, first_length, rest, length, count,
                                                      kOverlapped);
}

}  // namespace

const KeccakLanes kKeccakLanesAvx512 = lanes::kKeccakLanesTable;
const KeccakForms kKeccakFormsAvx512 = {lanes::keccak_permute8_assembly,
                                        lanes::keccak_permute8_compiled,
                                        shake<168, true>,
                                        shake<136, true>,
                                        shake<168, false>,
                                        shake<136, false>};

}  // namespace polykem
