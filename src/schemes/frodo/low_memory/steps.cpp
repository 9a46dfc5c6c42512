// SPDX-License-Identifier: Apache-2.0
#include "schemes/frodo/low_memory/steps.hpp"

#include <cstring>
#include <initializer_list>

#include "ct/ct.hpp"
#include "schemes/frodo/low_memory/state.hpp"
#include "schemes/frodo/message.hpp"

namespace polykem::frodo::low_memory::steps {

namespace {

using Bytes = std::span<const uint8_t>;

/// Hashes the parts, one after the other, with the SHAKE that is used for everything but A.
void shake(const Set& set, std::span<uint8_t> out, std::initializer_list<Bytes> parts) {
  Shake stream(set.p.shake256 ? Shake::Strength::kShake256 : Shake::Strength::kShake128);
  for (const Bytes part : parts)
    stream.absorb(part);
  stream.squeeze(out);
}

void gen_tile(State& state, const uint8_t* seed_a) {
  generate_rows(state.tile, state.set.gen_a, state.kernels, seed_a, {state.tile_row, state.tile_rows(), state.n()});
}

/// Samples errors from the next words of r.
void sample_next(KeygenState& state, uint16_t* out, size_t count) {
  state.r.squeeze({reinterpret_cast<uint8_t*>(out), count * sizeof *out});
  state.kernels.sample(out, count, state.set.p.cdf);
}

void hash_ct_k(EncryptionState& state, const uint8_t* ct) {
  const size_t bytes = state.set.p.secret_bytes;
  shake(state.set, {state.io.ss_out, bytes}, {{ct, state.set.ciphertext_bytes()}, {state.k(), bytes}});
}

/// Returns nonzero if the coefficients, packed, are not those of `packed`. They are packed in the place of A, which has
/// room for as many as a row of A has.
uint8_t difference(EncryptionState& state, const uint16_t* coefficients, size_t count, const uint8_t* packed) {
  auto* own = reinterpret_cast<uint8_t*>(state.tile.data);
  state.kernels.pack(own, coefficients, count, state.set.p.logq);
  uint8_t result = 0;
  for (size_t k = 0; k < state.set.p.packed_bytes(count); ++k)
    result = static_cast<uint8_t>(result | (own[k] ^ packed[k]));
  return result;
}

}  // namespace

// ---- keygen

void expand_seed_a(KeygenState& state) {
  const uint8_t* z = state.strings.coins + state.set.p.secret_bytes + state.set.seed_se_bytes();
  shake(state.set, {state.io.pk_out, kSeedABytes}, {{z, kSeedABytes}});
}

void expand_s(KeygenState& state) {
  state.r.absorb({&kSeedDomainKeygen, 1});
  state.r.absorb({state.strings.coins + state.set.p.secret_bytes, state.set.seed_se_bytes()});
  sample_next(state, state.s.data, kBar * state.n());
}

void gen_a_keygen(KeygenState& state) {
  gen_tile(state, state.io.pk_out);
}

/// Computes rows of B, from their errors, and packs them into the public key.
void mul_a_s(KeygenState& state) {
  const size_t rows = state.tile_rows();
  sample_next(state, state.e.data, rows * kBar);
  state.kernels.matmul.mul_add_transposed(state.e, state.tile, state.s,
                                          {.rows = rows, .inner = state.n(), .columns = kBar});
  state.kernels.pack(state.io.pk_out + kSeedABytes + state.set.p.packed_bytes(state.tile_row * kBar), state.e.data,
                     rows * kBar, state.set.p.logq);
}

void hash_new_pk(KeygenState& state) {
  shake(state.set, {state.io.sk_out + state.set.pkh_offset(), state.set.p.secret_bytes},
        {{state.io.pk_out, state.set.public_key_bytes()}});
}

void store_sk(KeygenState& state) {
  uint8_t* sk = state.io.sk_out;
  std::memcpy(sk, state.strings.coins, state.set.p.secret_bytes);
  std::memcpy(sk + state.set.pk_offset(), state.io.pk_out, state.set.public_key_bytes());
  to_or_from_little_endian(state.s.data, state.n() * kBar);
  std::memcpy(sk + state.set.s_offset(), state.s.data, state.n() * kBar * sizeof(uint16_t));
}

// ---- encaps, and what decaps has in common with it

void hash_pk(EncryptionState& state) {
  shake(state.set, {state.strings.seed_input, state.set.p.secret_bytes}, {{state.pk(), state.set.public_key_bytes()}});
}

void derive_seed_k(EncryptionState& state) {
  shake(state.set, {state.strings.seed, state.set.seed_se_bytes() + state.set.p.secret_bytes},
        {{state.strings.seed_input, state.set.p.secret_bytes + state.set.encaps_coin_bytes()}});
}

void expand_noise(EncryptionState& state) {
  const size_t samples = state.set.encaps_samples();
  shake(state.set, {reinterpret_cast<uint8_t*>(state.s.data), samples * sizeof(uint16_t)},
        {{&kSeedDomainEncaps, 1}, {state.strings.seed, state.set.seed_se_bytes()}});
  state.kernels.sample(state.s.data, samples, state.set.p.cdf);
}

void gen_a(EncryptionState& state) {
  gen_tile(state, state.pk());
}

void mul_s1_a(EncryptionState& state) {
  state.kernels.matmul.mul_add(state.e1, Matrix16{state.s.data + state.tile_row, state.s.stride}, state.tile,
                               {.rows = kBar, .inner = state.tile_rows(), .columns = state.n()});
}

void pack_c1(EncryptionState& state) {
  state.kernels.pack(state.io.ct_out, state.e1.data, state.n() * kBar, state.set.p.logq);
}

/// Multiplies by rows of B, transposed, as many at a time as fit in the place of A.
void mul_s1_b(EncryptionState& state) {
  const size_t most = state.tile_words() / kBar;
  for (size_t first = 0; first < state.n(); first += most) {
    const size_t rows = std::min(state.n() - first, most);
    const Matrix16 b{state.tile.data, rows};
    state.kernels.unpack_transposed(b, state.pk() + kSeedABytes + state.set.p.packed_bytes(first * kBar), rows,
                                    state.set.p.logq);
    state.kernels.matmul.mul_add_transposed(state.e2, Matrix16{state.s.data + first, state.s.stride}, b,
                                            {.rows = kBar, .inner = rows, .columns = kBar});
  }
}

void encode_mu(EncryptionState& state) {
  const MessageBits message{state.set};
  for (size_t k = 0; k < kSquare; ++k)
    state.e2.data[k] = static_cast<uint16_t>(state.e2.data[k] + message.encoded(state.mu(), k));
}

void pack_c2(EncryptionState& state) {
  state.kernels.pack(state.io.ct_out + state.set.c2_offset(), state.e2.data, kSquare, state.set.p.logq);
  std::memcpy(state.io.ct_out + state.set.salt_offset(), state.salt(), state.set.salt_bytes());
}

void hash_new_ct(EncryptionState& state) {
  hash_ct_k(state, state.io.ct_out);
}

// ---- decaps

void unpack_c(EncryptionState& state) {
  state.kernels.unpack(state.e1.data, state.io.ct, state.n() * kBar, state.set.p.logq);
  state.kernels.unpack(state.strings.m, state.io.ct + state.set.c2_offset(), kSquare, state.set.p.logq);
}

void mul_b1_s(EncryptionState& state) {
  std::memcpy(state.s.data, state.io.sk + state.set.s_offset(), state.n() * kBar * sizeof(uint16_t));
  to_or_from_little_endian(state.s.data, state.n() * kBar);
  std::memset(state.e2.data, 0, kSquare * sizeof(uint16_t));
  state.kernels.matmul.mul_add_transposed(state.e2, state.e1, state.s,
                                          {.rows = kBar, .inner = state.n(), .columns = kBar});
  for (size_t k = 0; k < kSquare; ++k)
    state.strings.m[k] = static_cast<uint16_t>(state.strings.m[k] - state.e2.data[k]);
}

void decode_m(EncryptionState& state) {
  const MessageBits message{state.set};
  std::memcpy(state.strings.seed_input, state.io.sk + state.set.pkh_offset(), state.set.p.secret_bytes);
  std::memset(state.mu(), 0, state.set.p.secret_bytes);
  for (size_t k = 0; k < kSquare; ++k)
    message.decode(state.mu(), k, state.strings.m[k]);
  std::memcpy(state.salt(), state.io.ct + state.set.salt_offset(), state.set.salt_bytes());
}

/// Packing drops only the bits above q, so the matrices are equal if the bytes are.
void compare_ct(EncryptionState& state) {
  const size_t row_bytes = state.set.p.packed_bytes(state.n());
  uint8_t differences = difference(state, state.e2.data, kSquare, state.io.ct + state.set.c2_offset());
  for (size_t j = 0; j < kBar; ++j)
    differences =
        static_cast<uint8_t>(differences | difference(state, state.e1.row(j), state.n(), state.io.ct + j * row_bytes));
  state.strings.fail = ct::mask_nonzero(differences);
}

void select_k_or_s(EncryptionState& state) {
  ct::select_bytes(state.k(), state.k(), state.io.sk, state.set.p.secret_bytes, state.strings.fail);
}

void hash_ct(EncryptionState& state) {
  hash_ct_k(state, state.io.ct);
}

}  // namespace polykem::frodo::low_memory::steps
