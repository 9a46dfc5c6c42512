// SPDX-License-Identifier: Apache-2.0
// The steps of low_memory/kem.hpp, without those that make coins.
#pragma once

namespace polykem::frodo::low_memory {

struct KeygenState;
struct EncryptionState;

namespace steps {

void expand_seed_a(KeygenState& state);
void expand_s(KeygenState& state);
void gen_a_keygen(KeygenState& state);
void mul_a_s(KeygenState& state);
void hash_new_pk(KeygenState& state);
void store_sk(KeygenState& state);

void hash_pk(EncryptionState& state);
void derive_seed_k(EncryptionState& state);
void expand_noise(EncryptionState& state);
void gen_a(EncryptionState& state);
void mul_s1_a(EncryptionState& state);
void pack_c1(EncryptionState& state);
void mul_s1_b(EncryptionState& state);
void encode_mu(EncryptionState& state);
void pack_c2(EncryptionState& state);
void hash_new_ct(EncryptionState& state);

void unpack_c(EncryptionState& state);
void mul_b1_s(EncryptionState& state);
void decode_m(EncryptionState& state);
void compare_ct(EncryptionState& state);
void select_k_or_s(EncryptionState& state);
void hash_ct(EncryptionState& state);

}  // namespace steps
}  // namespace polykem::frodo::low_memory
