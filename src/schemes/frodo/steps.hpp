// SPDX-License-Identifier: Apache-2.0
// The steps of kem.hpp.
#pragma once

namespace polykem::frodo {

struct State;

namespace steps {

void make_keygen_coins(State& state);
void expand_seed_a(State& state);
void expand_r_keygen(State& state);
void sample_s_e(State& state);
void gen_a_keygen(State& state);
void mul_a_s(State& state);
void gen_a_and_mul_a_s(State& state);
void pack_b(State& state);
void hash_new_pk(State& state);
void store_sk(State& state);

void make_encaps_coins(State& state);
/// The second half of make_encaps_coins: copies mu and salt to where they are used.
void place_encaps_coins(State& state);
void hash_pk(State& state);
void derive_seed_k(State& state);
void expand_r(State& state);
void sample_s1_e1_e2(State& state);
void gen_a(State& state);
void mul_s1_a(State& state);
void gen_a_and_mul_s1_a(State& state);
void pack_c1(State& state);
void unpack_b(State& state);
void mul_s1_b(State& state);
void encode_mu(State& state);
void pack_c2(State& state);
void hash_ct_k(State& state);

void unpack_c(State& state);
void mul_b1_s(State& state);
void decode_m(State& state);
void compare_ct(State& state);
void select_k_or_s(State& state);

}  // namespace steps
}  // namespace polykem::frodo
