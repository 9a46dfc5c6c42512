// SPDX-License-Identifier: Apache-2.0
// The stages of kem.hpp on a chunk of items.
#pragma once

namespace polykem::frodo {

struct Chunk;

namespace ops {

void make_keygen_coins(Chunk& c);
void expand_seed_a(Chunk& c);
void expand_r_keygen(Chunk& c);
void sample_s_e(Chunk& c);
void gen_a_keygen(Chunk& c);
void mul_a_s(Chunk& c);
void gen_a_and_mul_a_s(Chunk& c);
void pack_b(Chunk& c);
void hash_new_pk(Chunk& c);
void store_sk(Chunk& c);

void make_encaps_coins(Chunk& c);
/// The second half of make_encaps_coins: copies mu and salt to where they are used.
void place_encaps_coins(Chunk& c);
void hash_pk(Chunk& c);
void derive_seed_k(Chunk& c);
void expand_r(Chunk& c);
void sample_s1_e1_e2(Chunk& c);
void gen_a(Chunk& c);
void mul_s1_a(Chunk& c);
void gen_a_and_mul_s1_a(Chunk& c);
void pack_c1(Chunk& c);
void unpack_b(Chunk& c);
void mul_s1_b(Chunk& c);
void encode_mu(Chunk& c);
void pack_c2(Chunk& c);
void hash_ct_k(Chunk& c);

void unpack_c(Chunk& c);
void mul_b1_s(Chunk& c);
void decode_m(Chunk& c);
void compare_ct(Chunk& c);
void select_k_or_s(Chunk& c);

}  // namespace ops
}  // namespace polykem::frodo
