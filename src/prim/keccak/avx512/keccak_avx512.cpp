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

template <class State>
void permute_one(uint64_t* words) {
  State state;
  state.template absorb<lanes::kStateWords>(reinterpret_cast<const uint8_t*>(words));
  state.permute();
  state.template squeeze<lanes::kStateWords>(reinterpret_cast<uint8_t*>(words));
}

}  // namespace

const KeccakLanes kKeccakLanesAvx512 = lanes::kKeccakLanesTable;
const KeccakForms kKeccakFormsAvx512 = {lanes::keccak_permute8_assembly,
                                        lanes::keccak_permute8_compiled,
                                        permute_one<lanes::PlaneState>,
                                        permute_one<lanes::WordState>,
                                        shake<168, true>,
                                        shake<136, true>,
                                        shake<168, false>,
                                        shake<136, false>};

}  // namespace polykem
