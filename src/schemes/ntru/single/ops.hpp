// SPDX-License-Identifier: Apache-2.0
// Computes the stages of encaps and decaps on items that lie one after the other. `Prims` names the primitives of an
// instruction set: kName, mul(n), keccak(), inverse(), sort().
#pragma once

#include <cstring>

#include "prim/keccak/lanes/single.hpp"
#include "schemes/ntru/single/keygen.hpp"

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
struct Chunk {
  static constexpr size_t kGranule = 16;  ///< fills a sort in 32-bit lanes and two permutations of Keccak
  static constexpr size_t kItems = 16;    ///< with 32, an item takes up to a tenth longer
  static constexpr size_t kCoinBytes = P.encaps_coin_bytes();
  static size_t workspace_bytes(size_t items) {
    return Arena::bytes<Item<P>>(items) + Arena::bytes<uint8_t>(items * kCoinBytes) +
           Arena::bytes<std::byte>(shared_bytes<P, Prims>(items));
  }

  Chunk(const Batch& batch, std::byte* workspace) : io(batch), count(batch.count) {
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
  const uint8_t* pk(size_t i) const { return io.pk + (io.shared_key ? 0 : i * P.public_key_bytes()); }
  const uint8_t* sk(size_t i) const { return io.sk + (io.shared_key ? 0 : i * P.secret_key_bytes()); }
  const uint8_t* ct(size_t i) const { return io.ct + i * P.ciphertext_bytes(); }

  template <class F>
  void each(F&& f) {
    for (size_t i = 0; i < count; ++i)
      f(item[i], i);
  }
};

template <NtruParams P, class Prims>
struct Ops : KeygenOps<P, Prims> {
  using Chunk = single::Chunk<P, Prims>;
  using Item = single::Item<P>;

  /// Returns field x of every item as the operands of products.
  template <class Field>
  static auto polys(Chunk& c, Field Item::*x) {
    return single::polys(c.item, x);
  }

  // ---- encaps. The fields hold a = r, b = m, x = h; small = r mod q, then Lift(m); z = h r, then c.

  static void make_encaps_coins(Chunk& c) {
    if (c.io.coins == nullptr) c.io.drbg->fill({c.own_coins, c.count * c.kCoinBytes});
  }

  static void sample_r(Chunk& c) {
    const ConstByteRows coins = c.r_coins();
    c.each([&](Item& t, size_t i) { sample_iid<P>(t.a, coins.data + i * coins.stride); });
  }
  static void sample_m(Chunk& c) {
    const ConstByteRows coins = c.m_coins();
    if constexpr (P.variant == Variant::kHps) {
      Prims::sort().sample_fixed_type({c.item->b.c, sizeof(Item)}, coins, c.count, P.n, P.weight(), c.shared);
    } else {
      c.each([&](Item& t, size_t i) { sample_iid<P>(t.b, coins.data + i * coins.stride); });
    }
  }
  static void sample_rm(Chunk& c) {
    sample_r(c);
    sample_m(c);
  }

  static void pack_rm(Chunk& c) {
    c.each([&](Item& t, size_t) {
      store_S3<P>(t.rm, t.a);
      store_S3<P>(t.rm + P.trits_bytes(), t.b);
    });
  }

  /// Hashes a message of kBytes bytes of every item.
  template <size_t kBytes>
  static void hash(Chunk& c, ByteRows out, const uint8_t (&in)[kBytes]) {
    if (c.count == 1) return polykem::lanes::sha3_256_single<kBytes>(out.data, in);
    Prims::keccak().sha3_256(out, {in, sizeof(Item)}, kBytes, c.count);
  }
  static void hash_rm(Chunk& c) { hash(c, {c.io.ss_out, P.kSharedSecretBytes}, c.item->rm); }

  static void load_h(Chunk& c) {
    c.each([&](Item& t, size_t i) { load_Rq_sum_zero<P>(t.x, c.pk(i)); });
  }

  static void mul_hr(Chunk& c) {
    c.each([&](Item& t, size_t) { poly_Z3_to_Zq<P>(t.small, t.a); });
    Prims::mul(P.n)->mul_words_bytes(polys(c, &Item::z), polys(c, &Item::x), polys(c, &Item::small), c.count, c.shared);
  }

  /// Multiplies h r on matrix tiles and makes the coins of m meanwhile: the product needs no m, and AES runs on a port
  /// that the tiles leave free. Both together lower the core's clock more than the tiles alone, which would slow down
  /// small batches (see the README); those make all their coins first.
  static void mul_hr_make_m_coins(Chunk& c) {
    if (c.io.coins != nullptr || c.count < Chunk::kItems) {
      make_encaps_coins(c);
      sample_r(c);
      load_h(c);
      return mul_hr(c);
    }
    static_assert(Chunk::kItems % kAesBlockBytes == 0, "r must take whole blocks");
    const size_t r_bytes = c.count * c.kRBytes;
    Aes256Keystream keystream;
    c.io.drbg->begin_fill({c.own_coins, r_bytes}, keystream);
    sample_r(c);
    load_h(c);
    c.each([&](Item& t, size_t) { poly_Z3_to_Zq<P>(t.small, t.a); });
    Prims::mul(P.n)->mul_words_bytes_and_keystream(polys(c, &Item::z), polys(c, &Item::x), polys(c, &Item::small),
                                                   c.count, c.shared, c.own_coins_of_m(), c.count * c.kMBytes,
                                                   keystream);
  }

  static void lift_add(Chunk& c) {
    c.each([&](Item& t, size_t) {
      poly_lift<P>(t.small, t.b);
      poly_add<1, P>(t.z, t.small);
    });
  }

  static void store_c(Chunk& c) {
    c.each([&](Item& t, size_t i) { store_Sq<P>(c.io.ct_out + i * P.ciphertext_bytes(), t.z); });
  }

  // ---- decaps. The fields hold b = m, u = 1/h; a = f, then c f mod 3, then r; x = c, then c - Lift(m); small = f mod
  // q, then Lift(m); z = c f, then c f / f mod 3, then r mod q.

  static void load_c_sk(Chunk& c) {
    c.each([&](Item& t, size_t i) {
      load_Rq_sum_zero<P>(t.x, c.ct(i));
      load_S3<P>(t.a, c.sk(i));
      load_S3<P>(t.inverse_f, c.sk(i) + P.inverse_f_offset());
      load_Sq<P>(t.u, c.sk(i) + P.inverse_h_offset());
      t.fail = padding_mask<P>(c.ct(i));
    });
  }

  static void mul_cf(Chunk& c) { mul_hr(c); }

  static void reduce_cf(Chunk& c) {
    c.each([&](Item& t, size_t) { poly_Rq_to_S3<P>(t.a, t.z); });
  }

  static void mul_m(Chunk& c) {
    Prims::mul(P.n)->mul_bytes(polys(c, &Item::z), polys(c, &Item::a), polys(c, &Item::inverse_f), c.count, c.shared);
    c.each([&](Item& t, size_t) { poly_mod_3_Phi_n<P>(t.b, t.z); });
  }

  static void lift_sub(Chunk& c) {
    c.each([&](Item& t, size_t) {
      poly_lift<P>(t.small, t.b);
      poly_add<-1, P>(t.x, t.small);
    });
  }

  static void mul_r(Chunk& c) {
    Prims::mul(P.n)->mul_words(polys(c, &Item::z), polys(c, &Item::x), polys(c, &Item::u), c.count, c.shared);
    c.each([&](Item& t, size_t) { poly_mod_q_Phi_n<P>(t.z); });
  }

  static void check_rm(Chunk& c) {
    c.each([&](Item& t, size_t) {
      t.fail |= poly_ternary<P>(t.a, t.z);
      if constexpr (P.variant == Variant::kHps) t.fail |= wrong_weight<P>(t.b);
    });
  }

  static void hash_reject(Chunk& c) {
    c.each([&](Item& t, size_t i) {
      std::memcpy(t.reject, c.sk(i) + P.prf_key_offset(), P.kPrfKeyBytes);
      std::memcpy(t.reject + P.kPrfKeyBytes, c.ct(i), P.ciphertext_bytes());
    });
    hash(c, {c.item->rejection, sizeof(Item)}, c.item->reject);
  }

  static void select(Chunk& c) {
    c.each([&](Item& t, size_t i) {
      uint8_t* ss = c.io.ss_out + i * P.kSharedSecretBytes;
      ct::select_bytes(ss, ss, t.rejection, P.kSharedSecretBytes, t.fail);
    });
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::ntru::single
