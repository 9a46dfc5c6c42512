// SPDX-License-Identifier: Apache-2.0
#include "prim/keccak/lanes/table.hpp"

namespace polykem {

namespace {

template <size_t kRate, KeccakForm kForm>
void shake(ByteRows out, size_t out_length, ConstByteRows first, size_t first_length, ConstByteRows rest, size_t length,
           size_t count) {
  keccak::hash_joined_rows<kRate, keccak::kShakeSuffix>(out, out_length, first, first_length, rest, length, count,
                                                        kForm);
}

template <KeccakForm kForm>
void permute_eight(uint64_t* states) {
  keccak::keccak_permute(states, kForm);
}

template <KeccakForm kForm>
constexpr KeccakForms::Eight kEight = {permute_eight<kForm>, shake<168, kForm>, shake<136, kForm>};

template <class State>
void permute_one(uint64_t* words) {
  State state;
  state.template absorb<keccak::kStateWords>(reinterpret_cast<const uint8_t*>(words));
  state.permute();
  state.template squeeze<keccak::kStateWords>(reinterpret_cast<uint8_t*>(words));
}

}  // namespace

const KeccakFunctions kKeccakAvx512 = keccak::kKeccakTable;
const KeccakForms kKeccakFormsAvx512 = {kEight<KeccakForm::kCompiled>, kEight<KeccakForm::kIntel>,
                                        kEight<KeccakForm::kZen5>, permute_one<keccak::PlaneState>,
                                        permute_one<keccak::WordState>};

}  // namespace polykem
