// SPDX-License-Identifier: Apache-2.0
// The steps of encaps and decaps on items that lie one after the other. `Prims` names the primitives of an
// instruction set: kName, mul(n), keccak(), inverse(), sort().
#pragma once

#include <cstring>

#include "prim/keccak/lanes/single.hpp"
#include "schemes/ntru/single/keygen.hpp"
#include "schemes/records.hpp"

namespace polykem::ntru::single {
inline namespace POLYKEM_ISA {

/// Working memory of one item.
template <NtruParams P>
struct alignas(64) Item {
  Trits<P> a, b, inverse_f;
  Small<P> small;
  Words<P> x, z, u;
  uint8_t rm[2 * P.trits_bytes()];
  uint8_t reject[P.kPrfKeyBytes + P.ciphertext_bytes()];  ///< PRF key, ciphertext
  uint8_t rejection[P.kSharedSecretBytes];
  uint32_t fail;  ///< all ones if the ciphertext is rejected
};

template <NtruParams P, class Prims>
struct State {
  static constexpr size_t kItemsPerVector = 16;  ///< fills a sort in 32-bit lanes and two permutations of Keccak
  static constexpr size_t kItems = 16;           ///< with 32, an item takes up to a tenth longer
  static constexpr size_t kCoinBytes = P.encaps_coin_bytes();
  static size_t workspace_bytes(size_t items) {
    return Arena::bytes<Item<P>>(items) + Arena::bytes<uint8_t>(items * kCoinBytes) +
           Arena::bytes<std::byte>(shared_bytes<P, Prims>(items));
  }

  State(const Batch& batch, std::byte* workspace) : io(batch), count(batch.count) {
    Arena arena(workspace);
    item = arena.take<Item<P>>(count);
    own_coins = arena.take<uint8_t>(count * kCoinBytes);
    shared = arena.take<std::byte>(shared_bytes<P, Prims>(count));
  }

  const Batch& io;
  const size_t count;
  Item<P>* item;
  uint8_t* own_coins;  ///< for r of all items, then for m of all items
  std::byte* shared;   ///< for products and sorts, one after the other

  static constexpr size_t kRBytes = P.iid_coin_bytes(), kMBytes = kCoinBytes - kRBytes;
  uint8_t* own_coins_of_m() const { return own_coins + count * kRBytes; }
  ConstByteRows r_coins() const {
    return io.coins != nullptr ? ConstByteRows{io.coins, kCoinBytes} : ConstByteRows{own_coins, kRBytes};
  }
  ConstByteRows m_coins() const {
    return io.coins != nullptr ? ConstByteRows{io.coins + kRBytes, kCoinBytes}
                               : ConstByteRows{own_coins_of_m(), kMBytes};
  }
  const uint8_t* pk(size_t i) const { return key_at(io, io.pk, i, P.public_key_bytes()); }
  const uint8_t* sk(size_t i) const { return key_at(io, io.sk, i, P.secret_key_bytes()); }
  const uint8_t* ct(size_t i) const { return io.ct + i * P.ciphertext_bytes(); }

  template <class F>
  void each(F&& f) {
    for (size_t i = 0; i < count; ++i)
      f(item[i], i);
  }
};

template <NtruParams P, class Prims>
struct Steps : KeygenSteps<P, Prims> {
  using State = single::State<P, Prims>;
  using Item = single::Item<P>;

  /// Returns field x of every item as the operands of products.
  template <class Field>
  static auto polys(State& state, Field Item::*x) {
    return single::polys(state.item, x);
  }

  // ---- encaps. The fields hold a = r, b = m, x = h; small = r mod q, then Lift(m); z = h r, then c.

  static void make_encaps_coins(State& state) {
    if (state.io.coins == nullptr) state.io.drbg->fill({state.own_coins, state.count * state.kCoinBytes});
  }

  static void sample_r(State& state) {
    const ConstByteRows coins = state.r_coins();
    state.each([&](Item& t, size_t i) { sample_iid<P>(t.a, coins.data + i * coins.stride); });
  }
  static void sample_m(State& state) {
    const ConstByteRows coins = state.m_coins();
    if constexpr (P.variant == Variant::kHps) {
      Prims::sort().sample_fixed_type({state.item->b.c, sizeof(Item)}, coins, state.count, P.n, P.weight(),
                                      state.shared);
    } else {
      state.each([&](Item& t, size_t i) { sample_iid<P>(t.b, coins.data + i * coins.stride); });
    }
  }
  static void sample_rm(State& state) {
    sample_r(state);
    sample_m(state);
  }

  static void pack_rm(State& state) {
    state.each([&](Item& t, size_t) {
      store_S3<P>(t.rm, t.a);
      store_S3<P>(t.rm + P.trits_bytes(), t.b);
    });
  }

  /// Hashes a message of kBytes bytes of every item.
  template <size_t kBytes>
  static void hash(State& state, ByteRows out, const uint8_t (&in)[kBytes]) {
    if (state.count == 1) return polykem::keccak::sha3_256_single<kBytes>(out.data, in);
    Prims::keccak().sha3_256(out, {in, sizeof(Item)}, kBytes, state.count);
  }
  static void hash_rm(State& state) { hash(state, {state.io.ss_out, P.kSharedSecretBytes}, state.item->rm); }

  static void load_h(State& state) {
    state.each([&](Item& t, size_t i) { load_Rq_sum_zero<P>(t.x, state.pk(i)); });
  }

  static void mul_hr(State& state) {
    state.each([&](Item& t, size_t) { poly_Z3_to_Zq<P>(t.small, t.a); });
    Prims::mul(P.n)->mul_words_bytes(polys(state, &Item::z), polys(state, &Item::x), polys(state, &Item::small),
                                     state.count, state.shared);
  }

  /// Multiplies h r on matrix tiles and makes the coins of m meanwhile: the product needs no m, and AES runs on a port
  /// that the tiles leave free. Both together lower the core's clock more than the tiles alone, which would slow down
  /// small batches (see the README); those make all their coins first.
  static void mul_hr_make_m_coins(State& state) {
    if (state.io.coins != nullptr || state.count < State::kItems) {
      make_encaps_coins(state);
      sample_r(state);
      load_h(state);
      return mul_hr(state);
    }
    static_assert(State::kItems % kAesBlockBytes == 0, "r must take whole blocks");
    const size_t r_bytes = state.count * state.kRBytes;
    Aes256Keystream keystream;
    state.io.drbg->begin_fill({state.own_coins, r_bytes}, keystream);
    sample_r(state);
    load_h(state);
    state.each([&](Item& t, size_t) { poly_Z3_to_Zq<P>(t.small, t.a); });
    Prims::mul(P.n)->mul_words_bytes_and_keystream(polys(state, &Item::z), polys(state, &Item::x),
                                                   polys(state, &Item::small), state.count, state.shared,
                                                   state.own_coins_of_m(), state.count * state.kMBytes, keystream);
  }

  static void lift_add(State& state) {
    state.each([&](Item& t, size_t) {
      poly_lift<P>(t.small, t.b);
      poly_add<1, P>(t.z, t.small);
    });
  }

  static void store_c(State& state) {
    state.each([&](Item& t, size_t i) { store_Sq<P>(state.io.ct_out + i * P.ciphertext_bytes(), t.z); });
  }

  // ---- decaps. The fields hold b = m, u = 1/h; a = f, then c f mod 3, then r; x = c, then c - Lift(m); small = f mod
  // q, then Lift(m); z = c f, then c f / f mod 3, then r mod q.

  static void load_c_sk(State& state) {
    state.each([&](Item& t, size_t i) {
      load_Rq_sum_zero<P>(t.x, state.ct(i));
      load_S3<P>(t.a, state.sk(i));
      load_S3<P>(t.inverse_f, state.sk(i) + P.inverse_f_offset());
      load_Sq<P>(t.u, state.sk(i) + P.inverse_h_offset());
      t.fail = padding_mask<P>(state.ct(i));
    });
  }

  static void mul_cf(State& state) { mul_hr(state); }

  static void reduce_cf(State& state) {
    state.each([&](Item& t, size_t) { poly_Rq_to_S3<P>(t.a, t.z); });
  }

  static void mul_m(State& state) {
    Prims::mul(P.n)->mul_bytes(polys(state, &Item::z), polys(state, &Item::a), polys(state, &Item::inverse_f),
                               state.count, state.shared);
    state.each([&](Item& t, size_t) { poly_mod_3_Phi_n<P>(t.b, t.z); });
  }

  static void lift_sub(State& state) {
    state.each([&](Item& t, size_t) {
      poly_lift<P>(t.small, t.b);
      poly_add<-1, P>(t.x, t.small);
    });
  }

  static void mul_r(State& state) {
    Prims::mul(P.n)->mul_words(polys(state, &Item::z), polys(state, &Item::x), polys(state, &Item::u), state.count,
                               state.shared);
    state.each([&](Item& t, size_t) { poly_mod_q_Phi_n<P>(t.z); });
  }

  static void check_rm(State& state) {
    state.each([&](Item& t, size_t) {
      t.fail |= poly_ternary<P>(t.a, t.z);
      if constexpr (P.variant == Variant::kHps) t.fail |= wrong_weight<P>(t.b);
    });
  }

  static void hash_reject(State& state) {
    state.each([&](Item& t, size_t i) {
      std::memcpy(t.reject, state.sk(i) + P.prf_key_offset(), P.kPrfKeyBytes);
      std::memcpy(t.reject + P.kPrfKeyBytes, state.ct(i), P.ciphertext_bytes());
    });
    hash(state, {state.item->rejection, sizeof(Item)}, state.item->reject);
  }

  static void select(State& state) {
    state.each([&](Item& t, size_t i) {
      uint8_t* ss = state.io.ss_out + i * P.kSharedSecretBytes;
      ct::select_bytes(ss, ss, t.rejection, P.kSharedSecretBytes, t.fail);
    });
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::ntru::single
