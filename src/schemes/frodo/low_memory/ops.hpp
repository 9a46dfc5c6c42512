// SPDX-License-Identifier: Apache-2.0
// The stages of low_memory/kem.hpp, without those that make coins.
#pragma once

namespace polykem::frodo::low_memory {

struct KeygenChunk;
struct EncryptionChunk;

namespace ops {

void expand_seed_a(KeygenChunk& c);
void expand_s(KeygenChunk& c);
void gen_a_keygen(KeygenChunk& c);
void mul_a_s(KeygenChunk& c);
void hash_new_pk(KeygenChunk& c);
void store_sk(KeygenChunk& c);

void hash_pk(EncryptionChunk& c);
void derive_seed_k(EncryptionChunk& c);
void expand_noise(EncryptionChunk& c);
void gen_a(EncryptionChunk& c);
void mul_s1_a(EncryptionChunk& c);
void pack_c1(EncryptionChunk& c);
void mul_s1_b(EncryptionChunk& c);
void encode_mu(EncryptionChunk& c);
void pack_c2(EncryptionChunk& c);
void hash_new_ct(EncryptionChunk& c);

void unpack_c(EncryptionChunk& c);
void mul_b1_s(EncryptionChunk& c);
void decode_m(EncryptionChunk& c);
void compare_ct(EncryptionChunk& c);
void select_k_or_s(EncryptionChunk& c);
void hash_ct(EncryptionChunk& c);

}  // namespace ops
}  // namespace polykem::frodo::low_memory
