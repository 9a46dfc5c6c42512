// SPDX-License-Identifier: Apache-2.0
#include "schemes/frodo/low_memory/ops.hpp"

#include <cstring>
#include <initializer_list>

#include "ct/ct.hpp"
#include "schemes/frodo/low_memory/chunk.hpp"
#include "schemes/frodo/message.hpp"

namespace polykem::frodo::low_memory::ops {

namespace {

using Bytes = std::span<const uint8_t>;

/// Hashes the parts, one after the other, with the SHAKE that is used for everything but A.
void shake(const Set& set, std::span<uint8_t> out, std::initializer_list<Bytes> parts) {
  Shake stream(set.p.shake256 ? Shake::Strength::kShake256 : Shake::Strength::kShake128);
  for (const Bytes part : parts)
    stream.absorb(part);
  stream.squeeze(out);
}

void gen_tile(Chunk& c, const uint8_t* seed_a) {
  generate_rows(c.tile, c.set.gen_a, c.kernels, seed_a, {c.tile_row, c.tile_rows(), c.n()});
}

/// Samples errors from the next words of r.
void sample_next(KeygenChunk& c, uint16_t* out, size_t count) {
  c.r.squeeze({reinterpret_cast<uint8_t*>(out), count * sizeof *out});
  c.kernels.sample(out, count, c.set.p.cdf);
}

void hash_ct_k(EncryptionChunk& c, const uint8_t* ct) {
  const size_t bytes = c.set.p.secret_bytes;
  shake(c.set, {c.io.ss_out, bytes}, {{ct, c.set.ciphertext_bytes()}, {c.k(), bytes}});
}

/// Returns nonzero if the coefficients, packed, are not those of `packed`. They are packed in the place of A, which has
/// room for as many as a row of A has.
uint8_t difference(EncryptionChunk& c, const uint16_t* coefficients, size_t count, const uint8_t* packed) {
  auto* own = reinterpret_cast<uint8_t*>(c.tile.data);
  c.kernels.pack(own, coefficients, count, c.set.p.logq);
  uint8_t result = 0;
  for (size_t k = 0; k < c.set.p.packed_bytes(count); ++k)
    result = static_cast<uint8_t>(result | (own[k] ^ packed[k]));
  return result;
}

}  // namespace

// ---- keygen

void expand_seed_a(KeygenChunk& c) {
  const uint8_t* z = c.strings.coins + c.set.p.secret_bytes + c.set.seed_se_bytes();
  shake(c.set, {c.io.pk_out, kSeedABytes}, {{z, kSeedABytes}});
}

void expand_s(KeygenChunk& c) {
  c.r.absorb({&kSeedDomainKeygen, 1});
  c.r.absorb({c.strings.coins + c.set.p.secret_bytes, c.set.seed_se_bytes()});
  sample_next(c, c.s.data, kBar * c.n());
}

void gen_a_keygen(KeygenChunk& c) {
  gen_tile(c, c.io.pk_out);
}

/// Computes rows of B, from their errors, and packs them into the public key.
void mul_a_s(KeygenChunk& c) {
  const size_t rows = c.tile_rows();
  sample_next(c, c.e.data, rows * kBar);
  c.kernels.matmul.mul_add_transposed(c.e, c.tile, c.s, {.rows = rows, .inner = c.n(), .columns = kBar});
  c.kernels.pack(c.io.pk_out + kSeedABytes + c.set.p.packed_bytes(c.tile_row * kBar), c.e.data, rows * kBar,
                 c.set.p.logq);
}

void hash_new_pk(KeygenChunk& c) {
  shake(c.set, {c.io.sk_out + c.set.pkh_offset(), c.set.p.secret_bytes}, {{c.io.pk_out, c.set.public_key_bytes()}});
}

void store_sk(KeygenChunk& c) {
  uint8_t* sk = c.io.sk_out;
  std::memcpy(sk, c.strings.coins, c.set.p.secret_bytes);
  std::memcpy(sk + c.set.pk_offset(), c.io.pk_out, c.set.public_key_bytes());
  to_or_from_little_endian(c.s.data, c.n() * kBar);
  std::memcpy(sk + c.set.s_offset(), c.s.data, c.n() * kBar * sizeof(uint16_t));
}

// ---- encaps, and what decaps has in common with it

void hash_pk(EncryptionChunk& c) {
  shake(c.set, {c.strings.seed_input, c.set.p.secret_bytes}, {{c.pk(), c.set.public_key_bytes()}});
}

void derive_seed_k(EncryptionChunk& c) {
  shake(c.set, {c.strings.seed, c.set.seed_se_bytes() + c.set.p.secret_bytes},
        {{c.strings.seed_input, c.set.p.secret_bytes + c.set.encaps_coin_bytes()}});
}

void expand_noise(EncryptionChunk& c) {
  const size_t samples = c.set.encaps_samples();
  shake(c.set, {reinterpret_cast<uint8_t*>(c.s.data), samples * sizeof(uint16_t)},
        {{&kSeedDomainEncaps, 1}, {c.strings.seed, c.set.seed_se_bytes()}});
  c.kernels.sample(c.s.data, samples, c.set.p.cdf);
}

void gen_a(EncryptionChunk& c) {
  gen_tile(c, c.pk());
}

void mul_s1_a(EncryptionChunk& c) {
  c.kernels.matmul.mul_add(c.e1, Matrix16{c.s.data + c.tile_row, c.s.stride}, c.tile,
                           {.rows = kBar, .inner = c.tile_rows(), .columns = c.n()});
}

void pack_c1(EncryptionChunk& c) {
  c.kernels.pack(c.io.ct_out, c.e1.data, c.n() * kBar, c.set.p.logq);
}

/// Multiplies by rows of B, transposed, as many at a time as fit in the place of A.
void mul_s1_b(EncryptionChunk& c) {
  const size_t most = c.tile_words() / kBar;
  for (size_t first = 0; first < c.n(); first += most) {
    const size_t rows = std::min(c.n() - first, most);
    const Matrix16 b{c.tile.data, rows};
    c.kernels.unpack_transposed(b, c.pk() + kSeedABytes + c.set.p.packed_bytes(first * kBar), rows, c.set.p.logq);
    c.kernels.matmul.mul_add_transposed(c.e2, Matrix16{c.s.data + first, c.s.stride}, b,
                                        {.rows = kBar, .inner = rows, .columns = kBar});
  }
}

void encode_mu(EncryptionChunk& c) {
  const MessageBits message{c.set};
  for (size_t k = 0; k < kSquare; ++k)
    c.e2.data[k] = static_cast<uint16_t>(c.e2.data[k] + message.encoded(c.mu(), k));
}

void pack_c2(EncryptionChunk& c) {
  c.kernels.pack(c.io.ct_out + c.set.c2_offset(), c.e2.data, kSquare, c.set.p.logq);
  std::memcpy(c.io.ct_out + c.set.salt_offset(), c.salt(), c.set.salt_bytes());
}

void hash_new_ct(EncryptionChunk& c) {
  hash_ct_k(c, c.io.ct_out);
}

// ---- decaps

void unpack_c(EncryptionChunk& c) {
  c.kernels.unpack(c.e1.data, c.io.ct, c.n() * kBar, c.set.p.logq);
  c.kernels.unpack(c.strings.m, c.io.ct + c.set.c2_offset(), kSquare, c.set.p.logq);
}

void mul_b1_s(EncryptionChunk& c) {
  std::memcpy(c.s.data, c.io.sk + c.set.s_offset(), c.n() * kBar * sizeof(uint16_t));
  to_or_from_little_endian(c.s.data, c.n() * kBar);
  std::memset(c.e2.data, 0, kSquare * sizeof(uint16_t));
  c.kernels.matmul.mul_add_transposed(c.e2, c.e1, c.s, {.rows = kBar, .inner = c.n(), .columns = kBar});
  for (size_t k = 0; k < kSquare; ++k)
    c.strings.m[k] = static_cast<uint16_t>(c.strings.m[k] - c.e2.data[k]);
}

void decode_m(EncryptionChunk& c) {
  const MessageBits message{c.set};
  std::memcpy(c.strings.seed_input, c.io.sk + c.set.pkh_offset(), c.set.p.secret_bytes);
  std::memset(c.mu(), 0, c.set.p.secret_bytes);
  for (size_t k = 0; k < kSquare; ++k)
    message.decode(c.mu(), k, c.strings.m[k]);
  std::memcpy(c.salt(), c.io.ct + c.set.salt_offset(), c.set.salt_bytes());
}

/// Packing drops only the bits above q, so the matrices are equal if the bytes are.
void compare_ct(EncryptionChunk& c) {
  const size_t row_bytes = c.set.p.packed_bytes(c.n());
  uint8_t differences = difference(c, c.e2.data, kSquare, c.io.ct + c.set.c2_offset());
  for (size_t j = 0; j < kBar; ++j)
    differences = static_cast<uint8_t>(differences | difference(c, c.e1.row(j), c.n(), c.io.ct + j * row_bytes));
  c.strings.fail = ct::mask_nonzero(differences);
}

void select_k_or_s(EncryptionChunk& c) {
  ct::select_bytes(c.k(), c.k(), c.io.sk, c.set.p.secret_bytes, c.strings.fail);
}

void hash_ct(EncryptionChunk& c) {
  hash_ct_k(c, c.io.ct);
}

}  // namespace polykem::frodo::low_memory::ops
