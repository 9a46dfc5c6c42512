// SPDX-License-Identifier: Apache-2.0
#include "schemes/frodo/steps.hpp"

#include <cstring>

#include "ct/ct.hpp"
#include "prim/keccak/keccak.hpp"
#include "schemes/frodo/gen_a.hpp"
#include "schemes/frodo/message.hpp"
#include "schemes/frodo/state.hpp"

namespace polykem::frodo {

size_t State::workspace_bytes(const Set& set, const Kernels& kernels, size_t items, size_t keys) {
  const size_t products = product_space_bytes(set, kernels, items);
  const size_t packed = may_pack(set, kernels, items) ? kernels.tiles->packed_bytes(set.n()) : 0;
  return Arena::bytes<std::byte>(packed) + Arena::bytes<uint16_t>(kernels.tile_rows * tile_stride(set)) +
         Arena::bytes<Item>(items) + Arena::bytes<uint16_t>(items * noise_stride(set)) +
         Arena::bytes<uint16_t>(keys * kBar * tile_stride(set)) + Arena::bytes<uint8_t>(set.salt_offset()) +
         Arena::bytes<std::byte>(products);
}

size_t State::product_space_bytes(const Set& set, const Kernels& kernels, size_t items) {
  const RowProductFunctions* const rows = kernels.row_products(set.gen_a);
  return std::max(kernels.tiles != nullptr ? kernels.tiles->workspace_bytes(set.n(), items) : 0,
                  rows != nullptr ? rows->workspace_bytes(set.n()) : 0);
}

/// The packed A comes first, so that it is at the same place however many items there are.
State::State(const Set& of, const Kernels& with, const Batch& batch, std::byte* workspace, bool packs)
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

bool State::next_tile() {
  tile_row += kernels.tile_rows;
  if (tile_row < n()) return true;
  tile_row = 0;
  tile_item += 1;
  if (tile_item < keys()) return true;
  tile_item = 0;
  return false;
}

namespace steps {

namespace {

template <class F>
void each(State& state, F&& f) {
  for (size_t i = 0; i < state.io.count; ++i)
    f(state.items[i], i);
}

/// Messages in two parts, of which the first is a whole number of blocks.
struct Joined {
  ConstByteRows first;
  size_t first_length;
  ConstByteRows rest;
  size_t length;
};

/// Hashes `count` messages with the SHAKE that is used for everything but A.
void shake(const State& state, ByteRows out, size_t out_length, const Joined& in, size_t count) {
  const KeccakFunctions* lanes = state.kernels.keccak;
  if (lanes != nullptr) {
    const auto hash = state.set.p.shake256 ? lanes->shake256_joined : lanes->shake128_joined;
    hash(out, out_length, in.first, in.first_length, in.rest, in.length, count);
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    Shake stream(state.set.p.shake256 ? Shake::Strength::kShake256 : Shake::Strength::kShake128);
    stream.absorb({in.first.data + i * in.first.stride, in.first_length});
    stream.absorb({in.rest.data + i * in.rest.stride, in.length});
    stream.squeeze({out.data + i * out.stride, out_length});
  }
}
void shake(const State& state, ByteRows out, size_t out_length, ConstByteRows in, size_t length, size_t count) {
  shake(state, out, out_length, {in, 0, in, length}, count);
}

ByteRows rows_of(uint8_t* first) {
  return {first, sizeof(Item)};
}
ConstByteRows const_rows_of(const uint8_t* first) {
  return {first, sizeof(Item)};
}

/// Computes r from the domain byte and seedSE, which `seed` holds, and stores it where the samples will be.
void expand_noise(State& state, uint8_t domain, size_t samples) {
  each(state, [&](Item& t, size_t) { t.seed[0] = domain; });
  const ByteRows out{reinterpret_cast<uint8_t*>(state.s(0).data), state.noise_stride() * sizeof(uint16_t)};
  shake(state, out, samples * 2, const_rows_of(state.items->seed), 1 + state.set.seed_se_bytes(), state.io.count);
}

void gen_tile(State& state, const uint8_t* seed_a) {
  generate_rows(state.tile(), state.set.gen_a, state.kernels, seed_a, {state.tile_row, state.tile_rows(), state.n()});
}

}  // namespace

// ---- keygen

void expand_seed_a(State& state) {
  const uint8_t* z = state.items->coins + state.set.p.secret_bytes + state.set.seed_se_bytes();
  shake(state, {state.io.pk_out, state.set.public_key_bytes()}, kSeedABytes, const_rows_of(z), kSeedABytes,
        state.io.count);
}

void expand_r_keygen(State& state) {
  each(state, [&](Item& t, size_t) {
    std::memcpy(t.seed + 1, t.coins + state.set.p.secret_bytes, state.set.seed_se_bytes());
  });
  expand_noise(state, kSeedDomainKeygen, state.set.keygen_samples());
}

void sample_s_e(State& state) {
  each(state, [&](Item&, size_t i) {
    state.kernels.sample(state.s(i).data, state.set.keygen_samples(), state.set.p.cdf);
    for (size_t j = 0; j < kBar; ++j)
      std::memcpy(state.b(i).row(j), state.s(i).row(j), state.n() * sizeof(uint16_t));
  });
}

void gen_a_keygen(State& state) {
  gen_tile(state, state.pk_out(state.tile_item));
}

void mul_a_s(State& state) {
  const Matrix16 e = state.e(state.tile_item);
  state.kernels.matmul.mul_add_transposed({e.row(state.tile_row), e.stride}, state.tile(), state.b(state.tile_item),
                                          {.rows = state.tile_rows(), .inner = state.n(), .columns = kBar});
}

void gen_a_and_mul_a_s(State& state) {
  for (size_t i = 0; i < state.io.count; ++i) {
    if (const RowProductFunctions* const rows = state.kernels.row_products(state.set.gen_a)) {
      rows->mul_a_s(state.e(i), state.pk_out(i), state.s(i), state.n(), state.product_space());
    } else {
      state.kernels.tiles->mul_a_s(state.e(i), state.pk_out(i), state.s(i), state.n(), state.product_space());
    }
  }
}

void pack_b(State& state) {
  each(state, [&](Item&, size_t i) {
    state.kernels.pack(state.pk_out(i) + kSeedABytes, state.e(i).data, state.n() * kBar, state.set.p.logq);
  });
}

void hash_new_pk(State& state) {
  shake(state, {state.io.sk_out + state.set.pkh_offset(), state.set.secret_key_bytes()}, state.set.p.secret_bytes,
        {state.io.pk_out, state.set.public_key_bytes()}, state.set.public_key_bytes(), state.io.count);
}

void store_sk(State& state) {
  each(state, [&](Item& t, size_t i) {
    uint8_t* sk = state.sk_out(i);
    std::memcpy(sk, t.coins, state.set.p.secret_bytes);
    std::memcpy(sk + state.set.pk_offset(), state.pk_out(i), state.set.public_key_bytes());
    to_or_from_little_endian(state.s(i).data, state.n() * kBar);
    std::memcpy(sk + state.set.s_offset(), state.s(i).data, state.n() * kBar * sizeof(uint16_t));
  });
}

// ---- encaps, and what decaps has in common with it

void place_encaps_coins(State& state) {
  each(state, [&](Item& t, size_t i) {
    std::memcpy(t.seed_input + state.set.p.secret_bytes, t.coins, state.set.encaps_coin_bytes());
    std::memcpy(state.ct_out(i) + state.set.salt_offset(), t.coins + state.set.p.secret_bytes, state.set.salt_bytes());
  });
}

void hash_pk(State& state) {
  if (!state.key_is_prepared) {
    shake(state, rows_of(state.items->seed_input), state.set.p.secret_bytes,
          {state.io.pk, state.set.public_key_bytes()}, state.set.public_key_bytes(), state.keys());
  }
  for (size_t i = state.keys(); i < state.io.count; ++i)
    std::memcpy(state.items[i].seed_input, state.items->seed_input, state.set.p.secret_bytes);
}

void derive_seed_k(State& state) {
  shake(state, rows_of(state.items->seed + 1), state.set.seed_se_bytes() + state.set.p.secret_bytes,
        const_rows_of(state.items->seed_input), state.set.p.secret_bytes + state.set.encaps_coin_bytes(),
        state.io.count);
  each(state, [&](Item& t, size_t i) {
    std::memcpy(state.k(i), t.seed + 1 + state.set.seed_se_bytes(), state.set.p.secret_bytes);
  });
}

void expand_r(State& state) {
  expand_noise(state, kSeedDomainEncaps, state.set.encaps_samples());
}

void sample_s1_e1_e2(State& state) {
  each(state,
       [&](Item&, size_t i) { state.kernels.sample(state.s(i).data, state.set.encaps_samples(), state.set.p.cdf); });
}

void gen_a(State& state) {
  if (state.packs_a && state.key_is_prepared) return;
  gen_tile(state, state.pk(state.tile_item));
}

/// With matrix tiles and one key, A is packed tile by tile and multiplied when it is complete.
void mul_s1_packed(State& state) {
  const TileProductFunctions& tiles = *state.kernels.tiles;
  if (!state.key_is_prepared) tiles.pack(state.packed_a(), state.tile(), state.tile_row, state.tile_rows(), state.n());
  if (state.tile_row + state.tile_rows() == state.n())
    tiles.mul_s_a_packed(state.e1(0), state.s(0), state.packed_a(), state.n(), state.io.count, state.noise_stride(),
                         state.product_space());
}

/// If the key is shared, all items use a tile at once.
void mul_s1_a(State& state) {
  const Matrix16 s = state.s(state.tile_item);
  if (state.packs_a) return mul_s1_packed(state);
  state.kernels.matmul.mul_add(state.e1(state.tile_item), Matrix16{s.data + state.tile_row, s.stride}, state.tile(),
                               {.rows = kBar,
                                .inner = state.tile_rows(),
                                .columns = state.n(),
                                .count = state.io.shared_key ? state.io.count : 1,
                                .c_step = state.noise_stride(),
                                .a_step = state.noise_stride()});
}

/// Items that share a key share A, which they use tile by tile as in Kem.
void gen_a_and_mul_s1_a_by_rows(State& state, const RowProductFunctions& rows) {
  if (!state.packs_a && state.keys() == state.io.count) {
    for (size_t i = 0; i < state.io.count; ++i)
      rows.mul_s_a(state.e1(i), state.s(i), state.pk(i), state.n(), state.product_space());
    return;
  }
  do {
    gen_a(state);
    mul_s1_a(state);
  } while (state.next_tile());
}

void gen_a_and_mul_s1_a(State& state) {
  if (const RowProductFunctions* const rows = state.kernels.row_products(state.set.gen_a))
    return gen_a_and_mul_s1_a_by_rows(state, *rows);
  const size_t items = state.io.shared_key ? state.io.count : 1;
  for (size_t i = 0; i < state.keys(); ++i)
    state.kernels.tiles->mul_s_a(state.e1(i), state.s(i), state.pk(i), state.n(), items, state.noise_stride(),
                                 state.product_space());
}

void pack_c1(State& state) {
  each(state, [&](Item&, size_t i) {
    state.kernels.pack(state.ct_out(i), state.e1(i).data, state.n() * kBar, state.set.p.logq);
  });
}

void unpack_b(State& state) {
  for (size_t i = 0; i < state.keys(); ++i)
    state.kernels.unpack_transposed(state.b(i), state.pk(i) + kSeedABytes, state.n(), state.set.p.logq);
}

void mul_s1_b(State& state) {
  each(state, [&](Item&, size_t i) {
    state.kernels.matmul.mul_add_transposed(state.e2(i), state.s(i), state.b(state.io.shared_key ? 0 : i),
                                            {.rows = kBar, .inner = state.n(), .columns = kBar});
  });
}

void encode_mu(State& state) {
  const MessageBits message{state.set};
  each(state, [&](Item& t, size_t i) {
    uint16_t* v = state.e2(i).data;
    for (size_t k = 0; k < kSquare; ++k)
      v[k] = static_cast<uint16_t>(v[k] + message.encoded(t.seed_input + state.set.p.secret_bytes, k));
  });
}

void pack_c2(State& state) {
  each(state, [&](Item&, size_t i) {
    state.kernels.pack(state.ct_out(i) + state.set.c2_offset(), state.e2(i).data, kSquare, state.set.p.logq);
  });
}

/// Hashes ciphertexts, the salt among them, and k. Only the ends of ciphertexts are copied before.
void hash_ct_k(State& state) {
  const ConstByteRows ct{state.decapsulates() ? state.ct(0) : state.ct_out(0), state.set.ciphertext_bytes()};
  const size_t blocks = state.set.ciphertext_blocks_bytes(), tail = state.set.ciphertext_tail_bytes();
  each(state, [&](Item& t, size_t i) { std::memcpy(t.ct_tail_k, ct.data + i * ct.stride + blocks, tail); });
  shake(state, {state.io.ss_out, state.set.p.secret_bytes}, state.set.p.secret_bytes,
        {ct, blocks, const_rows_of(state.items->ct_tail_k), tail + state.set.p.secret_bytes}, state.io.count);
}

// ---- decaps

void unpack_c(State& state) {
  each(state, [&](Item& t, size_t i) {
    for (size_t j = 0; j < kBar; ++j)
      state.kernels.unpack(state.e1(i).row(j), state.ct(i) + j * state.set.p.packed_bytes(state.n()), state.n(),
                           state.set.p.logq);
    state.kernels.unpack(t.m, state.ct(i) + state.set.c2_offset(), kSquare, state.set.p.logq);
  });
}

/// S is stored where the samples will be.
void mul_b1_s(State& state) {
  each(state, [&](Item& t, size_t i) {
    std::memcpy(state.s(i).data, state.sk(i) + state.set.s_offset(), state.n() * kBar * sizeof(uint16_t));
    to_or_from_little_endian(state.s(i).data, state.n() * kBar);
    uint16_t product[kSquare] = {};
    state.kernels.matmul.mul_add_transposed({product, kBar}, state.e1(i), state.s(i),
                                            {.rows = kBar, .inner = state.n(), .columns = kBar});
    for (size_t k = 0; k < kSquare; ++k)
      t.m[k] = static_cast<uint16_t>(t.m[k] - product[k]);
  });
}

void decode_m(State& state) {
  const MessageBits message{state.set};
  const size_t ss = state.set.p.secret_bytes;
  each(state, [&](Item& t, size_t i) {
    std::memcpy(t.seed_input, state.sk(i) + state.set.pkh_offset(), ss);
    uint8_t* mu = t.seed_input + ss;
    std::memset(mu, 0, ss);
    for (size_t k = 0; k < kSquare; ++k)
      message.decode(mu, k, t.m[k]);
    std::memcpy(mu + ss, state.ct(i) + state.set.salt_offset(), state.set.salt_bytes());
  });
}

/// Packing drops only the bits above q, so the matrices are equal if the bytes are.
void compare_ct(State& state) {
  each(state, [&](Item& t, size_t i) {
    uint8_t* own = state.own_ct();
    const uint8_t* ct = state.ct(i);
    state.kernels.pack(own, state.e1(i).data, state.n() * kBar, state.set.p.logq);
    state.kernels.pack(own + state.set.c2_offset(), state.e2(i).data, kSquare, state.set.p.logq);
    uint8_t difference = 0;
    for (size_t k = 0; k < state.set.salt_offset(); ++k)
      difference = static_cast<uint8_t>(difference | (own[k] ^ ct[k]));
    t.fail = ct::mask_nonzero(difference);
  });
}

void select_k_or_s(State& state) {
  each(state, [&](Item& t, size_t i) {
    ct::select_bytes(state.k(i), state.k(i), state.sk(i), state.set.p.secret_bytes, t.fail);
  });
}

}  // namespace steps
}  // namespace polykem::frodo
