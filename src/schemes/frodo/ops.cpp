// SPDX-License-Identifier: Apache-2.0
#include "schemes/frodo/ops.hpp"

#include <cstring>

#include "ct/ct.hpp"
#include "prim/keccak/keccak.hpp"
#include "schemes/frodo/chunk.hpp"
#include "schemes/frodo/gen_a.hpp"
#include "schemes/frodo/message.hpp"

namespace polykem::frodo {

size_t Chunk::workspace_bytes(const Set& set, const Kernels& kernels, size_t items, size_t keys) {
  const size_t products = product_space_bytes(set, kernels, items);
  const size_t packed = may_pack(set, kernels, items) ? kernels.tiles->packed_bytes(set.n()) : 0;
  return Arena::bytes<std::byte>(packed) + Arena::bytes<uint16_t>(kernels.tile_rows * tile_stride(set)) +
         Arena::bytes<Item>(items) + Arena::bytes<uint16_t>(items * noise_stride(set)) +
         Arena::bytes<uint16_t>(keys * kBar * tile_stride(set)) + Arena::bytes<uint8_t>(set.salt_offset()) +
         Arena::bytes<std::byte>(products);
}

size_t Chunk::product_space_bytes(const Set& set, const Kernels& kernels, size_t items) {
  const RowProducts* const rows = kernels.row_products(set.gen_a);
  return std::max(kernels.tiles != nullptr ? kernels.tiles->workspace_bytes(set.n(), items) : 0,
                  rows != nullptr ? rows->workspace_bytes(set.n()) : 0);
}

/// The packed A comes first, so that it is at the same place however many items there are.
Chunk::Chunk(const Set& of, const Kernels& with, const Batch& batch, std::byte* workspace, bool packs)
    : set(of), kernels(with), io(batch), packs_a(packs) {
  Arena arena(workspace);
  if (packs_a) packed_a_ = arena.take<std::byte>(kernels.tiles->packed_bytes(set.n()));
  tile_ = arena.take<uint16_t>(kernels.tile_rows * tile_stride(set));
  items = arena.take<Item>(io.count);
  noise_ = arena.take<uint16_t>(io.count * noise_stride(set));
  b_ = arena.take<uint16_t>(keys() * kBar * tile_stride(set));
  own_ct_ = arena.take<uint8_t>(set.salt_offset());
  product_space_ = arena.take<std::byte>(product_space_bytes(set, kernels, io.count));
}

bool Chunk::next_tile() {
  tile_row += kernels.tile_rows;
  if (tile_row < n()) return true;
  tile_row = 0;
  tile_item += 1;
  if (tile_item < keys()) return true;
  tile_item = 0;
  return false;
}

namespace ops {

namespace {

template <class F>
void each(Chunk& c, F&& f) {
  for (size_t i = 0; i < c.io.count; ++i)
    f(c.items[i], i);
}

/// Messages in two parts, of which the first is a whole number of blocks.
struct Joined {
  ConstByteRows first;
  size_t first_length;
  ConstByteRows rest;
  size_t length;
};

/// Hashes `count` messages with the SHAKE that is used for everything but A.
void shake(const Chunk& c, ByteRows out, size_t out_length, const Joined& in, size_t count) {
  const KeccakLanes* lanes = c.kernels.keccak;
  if (lanes != nullptr) {
    const auto hash = c.set.p.shake256 ? lanes->shake256_joined : lanes->shake128_joined;
    hash(out, out_length, in.first, in.first_length, in.rest, in.length, count);
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    Shake stream(c.set.p.shake256 ? Shake::Strength::kShake256 : Shake::Strength::kShake128);
    stream.absorb({in.first.data + i * in.first.stride, in.first_length});
    stream.absorb({in.rest.data + i * in.rest.stride, in.length});
    stream.squeeze({out.data + i * out.stride, out_length});
  }
}
void shake(const Chunk& c, ByteRows out, size_t out_length, ConstByteRows in, size_t length, size_t count) {
  shake(c, out, out_length, {in, 0, in, length}, count);
}

ByteRows rows_of(uint8_t* first) {
  return {first, sizeof(Item)};
}
ConstByteRows const_rows_of(const uint8_t* first) {
  return {first, sizeof(Item)};
}

/// Computes r from the domain byte and seedSE, which `seed` holds, and stores it where the samples will be.
void expand_noise(Chunk& c, uint8_t domain, size_t samples) {
  each(c, [&](Item& t, size_t) { t.seed[0] = domain; });
  const ByteRows out{reinterpret_cast<uint8_t*>(c.s(0).data), c.noise_stride() * sizeof(uint16_t)};
  shake(c, out, samples * 2, const_rows_of(c.items->seed), 1 + c.set.seed_se_bytes(), c.io.count);
}

void gen_tile(Chunk& c, const uint8_t* seed_a) {
  generate_rows(c.tile(), c.set.gen_a, c.kernels, seed_a, {c.tile_row, c.tile_rows(), c.n()});
}

}  // namespace

// ---- keygen

void expand_seed_a(Chunk& c) {
  const uint8_t* z = c.items->coins + c.set.p.secret_bytes + c.set.seed_se_bytes();
  shake(c, {c.io.pk_out, c.set.public_key_bytes()}, kSeedABytes, const_rows_of(z), kSeedABytes, c.io.count);
}

void expand_r_keygen(Chunk& c) {
  each(c, [&](Item& t, size_t) { std::memcpy(t.seed + 1, t.coins + c.set.p.secret_bytes, c.set.seed_se_bytes()); });
  expand_noise(c, kSeedDomainKeygen, c.set.keygen_samples());
}

void sample_s_e(Chunk& c) {
  each(c, [&](Item&, size_t i) {
    c.kernels.sample(c.s(i).data, c.set.keygen_samples(), c.set.p.cdf);
    for (size_t j = 0; j < kBar; ++j)
      std::memcpy(c.b(i).row(j), c.s(i).row(j), c.n() * sizeof(uint16_t));
  });
}

void gen_a_keygen(Chunk& c) {
  gen_tile(c, c.pk_out(c.tile_item));
}

void mul_a_s(Chunk& c) {
  const Matrix16 e = c.e(c.tile_item);
  c.kernels.matmul.mul_add_transposed({e.row(c.tile_row), e.stride}, c.tile(), c.b(c.tile_item),
                                      {.rows = c.tile_rows(), .inner = c.n(), .columns = kBar});
}

void gen_a_and_mul_a_s(Chunk& c) {
  for (size_t i = 0; i < c.io.count; ++i) {
    if (const RowProducts* const rows = c.kernels.row_products(c.set.gen_a)) {
      rows->a_s(c.e(i), c.pk_out(i), c.s(i), c.n(), c.product_space());
    } else {
      c.kernels.tiles->a_s(c.e(i), c.pk_out(i), c.s(i), c.n(), c.product_space());
    }
  }
}

void pack_b(Chunk& c) {
  each(c, [&](Item&, size_t i) { c.kernels.pack(c.pk_out(i) + kSeedABytes, c.e(i).data, c.n() * kBar, c.set.p.logq); });
}

void hash_new_pk(Chunk& c) {
  shake(c, {c.io.sk_out + c.set.pkh_offset(), c.set.secret_key_bytes()}, c.set.p.secret_bytes,
        {c.io.pk_out, c.set.public_key_bytes()}, c.set.public_key_bytes(), c.io.count);
}

void store_sk(Chunk& c) {
  each(c, [&](Item& t, size_t i) {
    uint8_t* sk = c.sk_out(i);
    std::memcpy(sk, t.coins, c.set.p.secret_bytes);
    std::memcpy(sk + c.set.pk_offset(), c.pk_out(i), c.set.public_key_bytes());
    to_or_from_little_endian(c.s(i).data, c.n() * kBar);
    std::memcpy(sk + c.set.s_offset(), c.s(i).data, c.n() * kBar * sizeof(uint16_t));
  });
}

// ---- encaps, and what decaps has in common with it

void place_encaps_coins(Chunk& c) {
  each(c, [&](Item& t, size_t i) {
    std::memcpy(t.seed_input + c.set.p.secret_bytes, t.coins, c.set.encaps_coin_bytes());
    std::memcpy(c.ct_out(i) + c.set.salt_offset(), t.coins + c.set.p.secret_bytes, c.set.salt_bytes());
  });
}

void hash_pk(Chunk& c) {
  if (!c.key_is_prepared) {
    shake(c, rows_of(c.items->seed_input), c.set.p.secret_bytes, {c.io.pk, c.set.public_key_bytes()},
          c.set.public_key_bytes(), c.keys());
  }
  for (size_t i = c.keys(); i < c.io.count; ++i)
    std::memcpy(c.items[i].seed_input, c.items->seed_input, c.set.p.secret_bytes);
}

void derive_seed_k(Chunk& c) {
  shake(c, rows_of(c.items->seed + 1), c.set.seed_se_bytes() + c.set.p.secret_bytes, const_rows_of(c.items->seed_input),
        c.set.p.secret_bytes + c.set.encaps_coin_bytes(), c.io.count);
  each(c, [&](Item& t, size_t i) { std::memcpy(c.k(i), t.seed + 1 + c.set.seed_se_bytes(), c.set.p.secret_bytes); });
}

void expand_r(Chunk& c) {
  expand_noise(c, kSeedDomainEncaps, c.set.encaps_samples());
}

void sample_s1_e1_e2(Chunk& c) {
  each(c, [&](Item&, size_t i) { c.kernels.sample(c.s(i).data, c.set.encaps_samples(), c.set.p.cdf); });
}

void gen_a(Chunk& c) {
  if (c.packs_a && c.key_is_prepared) return;
  gen_tile(c, c.pk(c.tile_item));
}

/// With matrix tiles and one key, A is packed tile by tile and multiplied when it is complete.
void mul_s1_packed(Chunk& c) {
  const TileProducts& tiles = *c.kernels.tiles;
  if (!c.key_is_prepared) tiles.pack(c.packed_a(), c.tile(), c.tile_row, c.tile_rows(), c.n());
  if (c.tile_row + c.tile_rows() == c.n())
    tiles.s_a_packed(c.e1(0), c.s(0), c.packed_a(), c.n(), c.io.count, c.noise_stride(), c.product_space());
}

/// If the key is shared, all items use a tile at once.
void mul_s1_a(Chunk& c) {
  const Matrix16 s = c.s(c.tile_item);
  if (c.packs_a) return mul_s1_packed(c);
  c.kernels.matmul.mul_add(c.e1(c.tile_item), Matrix16{s.data + c.tile_row, s.stride}, c.tile(),
                           {.rows = kBar,
                            .inner = c.tile_rows(),
                            .columns = c.n(),
                            .count = c.io.shared_key ? c.io.count : 1,
                            .c_step = c.noise_stride(),
                            .a_step = c.noise_stride()});
}

/// Items that share a key share A, which they use tile by tile as in Kem.
void gen_a_and_mul_s1_a_by_rows(Chunk& c, const RowProducts& rows) {
  if (!c.packs_a && c.keys() == c.io.count) {
    for (size_t i = 0; i < c.io.count; ++i)
      rows.s_a(c.e1(i), c.s(i), c.pk(i), c.n(), c.product_space());
    return;
  }
  do {
    gen_a(c);
    mul_s1_a(c);
  } while (c.next_tile());
}

void gen_a_and_mul_s1_a(Chunk& c) {
  if (const RowProducts* const rows = c.kernels.row_products(c.set.gen_a)) return gen_a_and_mul_s1_a_by_rows(c, *rows);
  const size_t items = c.io.shared_key ? c.io.count : 1;
  for (size_t i = 0; i < c.keys(); ++i)
    c.kernels.tiles->s_a(c.e1(i), c.s(i), c.pk(i), c.n(), items, c.noise_stride(), c.product_space());
}

void pack_c1(Chunk& c) {
  each(c, [&](Item&, size_t i) { c.kernels.pack(c.ct_out(i), c.e1(i).data, c.n() * kBar, c.set.p.logq); });
}

void unpack_b(Chunk& c) {
  for (size_t i = 0; i < c.keys(); ++i)
    c.kernels.unpack_transposed(c.b(i), c.pk(i) + kSeedABytes, c.n(), c.set.p.logq);
}

void mul_s1_b(Chunk& c) {
  each(c, [&](Item&, size_t i) {
    c.kernels.matmul.mul_add_transposed(c.e2(i), c.s(i), c.b(c.io.shared_key ? 0 : i),
                                        {.rows = kBar, .inner = c.n(), .columns = kBar});
  });
}

void encode_mu(Chunk& c) {
  const MessageBits message{c.set};
  each(c, [&](Item& t, size_t i) {
    uint16_t* v = c.e2(i).data;
    for (size_t k = 0; k < kSquare; ++k)
      v[k] = static_cast<uint16_t>(v[k] + message.encoded(t.seed_input + c.set.p.secret_bytes, k));
  });
}

void pack_c2(Chunk& c) {
  each(c,
       [&](Item&, size_t i) { c.kernels.pack(c.ct_out(i) + c.set.c2_offset(), c.e2(i).data, kSquare, c.set.p.logq); });
}

/// Hashes ciphertexts, the salt among them, and k. Only the ends of ciphertexts are copied before.
void hash_ct_k(Chunk& c) {
  const ConstByteRows ct{c.decapsulates() ? c.ct(0) : c.ct_out(0), c.set.ciphertext_bytes()};
  const size_t blocks = c.set.ciphertext_blocks_bytes(), tail = c.set.ciphertext_tail_bytes();
  each(c, [&](Item& t, size_t i) { std::memcpy(t.ct_tail_k, ct.data + i * ct.stride + blocks, tail); });
  shake(c, {c.io.ss_out, c.set.p.secret_bytes}, c.set.p.secret_bytes,
        {ct, blocks, const_rows_of(c.items->ct_tail_k), tail + c.set.p.secret_bytes}, c.io.count);
}

// ---- decaps

void unpack_c(Chunk& c) {
  each(c, [&](Item& t, size_t i) {
    for (size_t j = 0; j < kBar; ++j)
      c.kernels.unpack(c.e1(i).row(j), c.ct(i) + j * c.set.p.packed_bytes(c.n()), c.n(), c.set.p.logq);
    c.kernels.unpack(t.m, c.ct(i) + c.set.c2_offset(), kSquare, c.set.p.logq);
  });
}

/// S is stored where the samples will be.
void mul_b1_s(Chunk& c) {
  each(c, [&](Item& t, size_t i) {
    std::memcpy(c.s(i).data, c.sk(i) + c.set.s_offset(), c.n() * kBar * sizeof(uint16_t));
    to_or_from_little_endian(c.s(i).data, c.n() * kBar);
    uint16_t product[kSquare] = {};
    c.kernels.matmul.mul_add_transposed({product, kBar}, c.e1(i), c.s(i),
                                        {.rows = kBar, .inner = c.n(), .columns = kBar});
    for (size_t k = 0; k < kSquare; ++k)
      t.m[k] = static_cast<uint16_t>(t.m[k] - product[k]);
  });
}

void decode_m(Chunk& c) {
  const MessageBits message{c.set};
  const size_t ss = c.set.p.secret_bytes;
  each(c, [&](Item& t, size_t i) {
    std::memcpy(t.seed_input, c.sk(i) + c.set.pkh_offset(), ss);
    uint8_t* mu = t.seed_input + ss;
    std::memset(mu, 0, ss);
    for (size_t k = 0; k < kSquare; ++k)
      message.decode(mu, k, t.m[k]);
    std::memcpy(mu + ss, c.ct(i) + c.set.salt_offset(), c.set.salt_bytes());
  });
}

/// Packing drops only the bits above q, so the matrices are equal if the bytes are.
void compare_ct(Chunk& c) {
  each(c, [&](Item& t, size_t i) {
    uint8_t* own = c.own_ct();
    const uint8_t* ct = c.ct(i);
    c.kernels.pack(own, c.e1(i).data, c.n() * kBar, c.set.p.logq);
    c.kernels.pack(own + c.set.c2_offset(), c.e2(i).data, kSquare, c.set.p.logq);
    uint8_t difference = 0;
    for (size_t k = 0; k < c.set.salt_offset(); ++k)
      difference = static_cast<uint8_t>(difference | (own[k] ^ ct[k]));
    t.fail = ct::mask_nonzero(difference);
  });
}

void select_k_or_s(Chunk& c) {
  each(c, [&](Item& t, size_t i) { ct::select_bytes(c.k(i), c.k(i), c.sk(i), c.set.p.secret_bytes, t.fail); });
}

}  // namespace ops
}  // namespace polykem::frodo
