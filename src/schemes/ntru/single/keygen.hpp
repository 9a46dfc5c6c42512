// SPDX-License-Identifier: Apache-2.0
// The steps of key generation on items that lie one after the other and share one inversion;
// docs/adr/0010-shared-inversions.md has the measurements. steps.hpp describes `Prims`.
#pragma once

#include <algorithm>
#include <cstring>

#include "core/arena.hpp"
#include "core/scheme.hpp"
#include "prim/drbg/drbg.hpp"
#include "prim/keccak/keccak.hpp"
#include "prim/keccak/keccak_lanes.hpp"
#include "prim/polymul/tile_mul.hpp"
#include "schemes/ntru/polyinv/polyinv_lanes.hpp"
#include "schemes/ntru/single/records.hpp"
#include "schemes/ntru/sort/sort_lanes.hpp"

namespace polykem::ntru::single {
inline namespace POLYKEM_ISA {

/// Returns the number of bytes that the products and the sorts of `items` items use, one after the other.
template <NtruParams P, class Prims>
size_t shared_bytes(size_t items) {
  const size_t product = Prims::mul(P.n)->workspace_bytes;
  return P.variant == Variant::kHps ? std::max(product, sort_rows_workspace_bytes(P.n, items)) : product;
}

/// Returns field x of items that lie one after the other, as the operands of products.
template <class Item, NtruParams P>
ConstBytePolys polys(const Item* items, Trits<P> Item::*x) {
  return {reinterpret_cast<const int8_t*>((items->*x).c), sizeof(Item)};
}
template <class Item, NtruParams P>
ConstBytePolys polys(const Item* items, Small<P> Item::*x) {
  return {(items->*x).c, sizeof(Item)};
}

/// Words that a product reads or writes.
struct WordFields : WordPolys {
  operator ConstWordPolys() const { return {data, stride}; }
};
template <class Item, NtruParams P>
WordFields polys(Item* items, Words<P> Item::*x) {
  return {{(items->*x).c, sizeof(Item)}};
}

/// Working memory of one key.
template <NtruParams P>
struct alignas(64) Key {
  Trits<P> f, g, inverse_f;
  Small<P> lifted_f, G;
  Words<P> Gf, v;  ///< v = 1/(G f)
  Words<P> x;      ///< intermediate products
};

/// Working memory that the keys use in turn.
template <NtruParams P>
struct alignas(64) KeygenScratch {
  Trits<P> rest_S3;
  Small<P> low;
  Words<P> rest, u;
  uint16_t polynomial[2][P.n];
};

template <NtruParams P, class Prims>
struct KeygenState {
  static constexpr size_t kItemsPerVector = 16;
  static constexpr size_t kItems = 64;  ///< the number of keys that share an inversion
  static constexpr size_t kCoinBytes = P.keygen_coin_bytes();
  static size_t workspace_bytes(size_t items) {
    return Arena::bytes<Key<P>>(items) + Arena::bytes<uint8_t>(items * kCoinBytes) + Arena::bytes<KeygenScratch<P>>(1) +
           Arena::bytes<std::byte>(shared(items));
  }

  KeygenState(const Batch& batch, std::byte* workspace) : io(batch), count(batch.count) {
    Arena arena(workspace);
    key = arena.take<Key<P>>(count);
    own_coins = arena.take<uint8_t>(count * kCoinBytes);
    work = arena.take<KeygenScratch<P>>(1);
    shared_memory = arena.take<std::byte>(shared(count));
  }

  const Batch& io;
  const size_t count;
  Key<P>* key;
  uint8_t* own_coins;
  KeygenScratch<P>* work;
  std::byte* shared_memory;

  const uint8_t* coins(size_t i) const { return (io.coins != nullptr ? io.coins : own_coins) + i * kCoinBytes; }
  uint8_t* pk_out(size_t i) const { return io.pk_out + i * P.public_key_bytes(); }
  uint8_t* sk_out(size_t i) const { return io.sk_out + i * P.secret_key_bytes(); }

  template <class F>
  void each(F&& f) {
    for (size_t i = 0; i < count; ++i)
      f(key[i], i);
  }

 private:
  static size_t shared(size_t items) {
    return std::max(shared_bytes<P, Prims>(items), Prims::inverse().workspace_bytes);
  }
};

template <NtruParams P, class Prims>
struct KeygenSteps {
  using KeygenState = single::KeygenState<P, Prims>;
  using Key = single::Key<P>;

  static void make_keygen_coins(KeygenState& state) {
    if (state.io.coins == nullptr) state.io.drbg->fill({state.own_coins, state.count * state.kCoinBytes});
  }

  static void sample_fg(KeygenState& state) {
    state.each([&](Key& k, size_t i) { sample_iid<P>(k.f, state.coins(i)); });
    if constexpr (P.variant == Variant::kHps) {
      Prims::sort().sample_fixed_type({state.key->g.c, sizeof(Key)},
                                      {state.coins(0) + P.iid_coin_bytes(), state.kCoinBytes}, state.count, P.n,
                                      P.weight(), state.shared_memory);
    } else {
      state.each([&](Key& k, size_t i) {
        sample_iid<P>(k.g, state.coins(i) + P.iid_coin_bytes());
        poly_plus<P>(k.f);
        poly_plus<P>(k.g);
      });
    }
  }

  // ---- products of one polynomial or of a field of all keys

  static void mul_S3(KeygenState& state, Trits<P>& out, const Trits<P>& a, const Trits<P>& b) {
    const auto bytes = [](const Trits<P>& x) -> ConstBytePolys {
      return {reinterpret_cast<const int8_t*>(x.c), sizeof x};
    };
    Prims::mul(P.n)->mul_bytes({state.work->u.c, sizeof state.work->u}, bytes(a), bytes(b), 1, state.shared_memory);
    poly_mod_3_Phi_n<P>(out, state.work->u);
  }
  static void mul_Rq(KeygenState& state, Words<P>& out, const Words<P>& a, const Words<P>& b) {
    Prims::mul(P.n)->mul_words({out.c, sizeof out}, {a.c, sizeof a}, {b.c, sizeof b}, 1, state.shared_memory);
  }
  static void mul_fields(KeygenState& state, Words<P> Key::*out, Words<P> Key::*a, Small<P> Key::*b) {
    Prims::mul(P.n)->mul_words_bytes(polys(state.key, out), polys(state.key, a), polys(state.key, b), state.count,
                                     state.shared_memory);
  }

  /// Sets the first coefficient to 1 unless the mask is all ones.
  template <class Poly>
  static void set_one_unless(uint32_t mask, Poly& a) {
    a.c[0] = static_cast<std::decay_t<decltype(a.c[0])>>((a.c[0] & mask) + 1 + mask);
  }
  template <class Poly>
  static void mask_polynomial(uint32_t mask, Poly& a) {
    for (auto& x : a.c)
      x = static_cast<std::decay_t<decltype(x)>>(x & mask);
  }

  /// Computes x.*inverse = 1 / x.*a of each key x with one inversion and three products per key. [MONT87, 10.3.1] A
  /// zero has no inverse and would spoil the others: 1 takes its place, and its own inverse becomes 0. nonzero(x):
  /// returns all ones if x.*a is not 0. rest: memory for a polynomial.
  template <class Poly, class Nonzero, class Mul, class Invert>
  static void invert_together(KeygenState& state, Poly Key::*inverse, Poly Key::*a, Poly& rest, Nonzero nonzero,
                              Mul mul, Invert invert) {
    Key* const x = state.key;
    if (state.count == 1) return invert(x->*inverse, x->*a);
    uint32_t invertible[KeygenState::kItems];
    for (size_t i = 0; i < state.count; ++i) {
      invertible[i] = nonzero(x[i]);
      set_one_unless(invertible[i], x[i].*a);
    }
    x[0].*inverse = x[0].*a;
    for (size_t i = 1; i < state.count; ++i)
      mul(x[i].*inverse, x[i - 1].*inverse, x[i].*a);
    invert(rest, x[state.count - 1].*inverse);
    for (size_t i = state.count - 1; i > 0; --i) {
      mul(x[i].*inverse, rest, x[i - 1].*inverse);
      mul(rest, rest, x[i].*a);
    }
    x[0].*inverse = rest;
    for (size_t i = 0; i < state.count; ++i) {
      (x[i].*a).c[0] = static_cast<std::decay_t<decltype((x[i].*a).c[0])>>((x[i].*a).c[0] & invertible[i]);
      mask_polynomial(invertible[i], x[i].*inverse);
    }
  }

  static void invert_f(KeygenState& state) {
    invert_together(
        state, &Key::inverse_f, &Key::f, state.work->rest_S3, [](const Key& k) { return nonzero<P>(k.f); },
        [&](Trits<P>& out, const Trits<P>& a, const Trits<P>& b) { mul_S3(state, out, a, b); },
        [&](Trits<P>& out, const Trits<P>& a) {
          auto& [in, inverse] = state.work->polynomial;
          std::copy_n(a.c, P.n, in);
          Prims::inverse().inverse_mod3_single(inverse, in, P.n, state.shared_memory);
          std::copy_n(inverse, P.n, out.c);
          end_trits<P>(out);
        });
  }

  static void store_f(KeygenState& state) {
    state.each([&](Key& k, size_t i) {
      store_S3<P>(state.sk_out(i), k.f);
      store_S3<P>(state.sk_out(i) + P.inverse_f_offset(), k.inverse_f);
      std::memcpy(state.sk_out(i) + P.prf_key_offset(), state.coins(i) + P.pair_coin_bytes(), P.kPrfKeyBytes);
    });
  }

  static void lift_fg(KeygenState& state) {
    state.each([&](Key& k, size_t) {
      poly_Z3_to_Zq<P>(k.lifted_f, k.f);
      poly_G<P>(k.G, k.g);
    });
  }

  static void mul_Gf(KeygenState& state) {
    Prims::mul(P.n)->mul_bytes(polys(state.key, &Key::Gf), polys(state.key, &Key::G), polys(state.key, &Key::lifted_f),
                               state.count, state.shared_memory);
  }

  /// Copies the low byte of each word of a to low.
  static void low_bytes(Small<P>& low, const Words<P>& a) {
    const __m512i mask = words(0xff);
    each_bytes<P>([&](size_t i) {
      store64(low.c + i,
              narrowed(_mm512_and_si512(load64(a.c + i), mask), _mm512_and_si512(load64(a.c + i + 32), mask)));
    });
  }
  static void two_minus(Words<P>& a) {
    each_words<P>([&](size_t i) { store64(a.c + i, _mm512_sub_epi16(_mm512_setzero_si512(), load64(a.c + i))); });
    a.c[0] = static_cast<uint16_t>(a.c[0] + 2);
  }

  /// Computes v = 1/a mod (q, Phi_n): mod 2 by division steps, then by Newton's iteration v <- v (2 - a v), which
  /// doubles the number of correct bits each time. [NTRU20, Sq_inverse] Until v has eight bits, products of bytes
  /// suffice.
  static void poly_Rq_inv(KeygenState& state, Words<P>& v, const Words<P>& a) {
    auto& [in, inverse] = state.work->polynomial;
    Words<P>& u = state.work->u;
    u = a;
    poly_mod_q_Phi_n<P>(u);
    std::copy_n(u.c, P.n, in);
    Prims::inverse().inverse_mod2_single(inverse, in, P.n, state.shared_memory);
    std::copy_n(inverse, P.n, v.c);
    Small<P>& low_v = state.work->low;
    Small<P>& low_a = reinterpret_cast<Small<P>&>(state.work->rest_S3);
    const TileMulFunctions& mul = *Prims::mul(P.n);
    const auto words_of = [](Words<P>& x) -> WordPolys { return {x.c, sizeof x}; };
    const auto bytes_of = [](const Small<P>& x) -> ConstBytePolys { return {x.c, sizeof x}; };
    low_bytes(low_v, v);
    for (unsigned bits = 1; bits < 8; bits *= 2) {
      low_bytes(low_a, a);
      mul.mul_bytes(words_of(u), bytes_of(low_a), bytes_of(low_v), 1, state.shared_memory);
      two_minus(u);
      low_bytes(low_a, u);
      mul.mul_bytes(words_of(v), bytes_of(low_a), bytes_of(low_v), 1, state.shared_memory);
      low_bytes(low_v, v);
    }
    mul.mul_words_bytes(words_of(u), {a.c, sizeof a}, bytes_of(low_v), 1, state.shared_memory);
    two_minus(u);
    mul.mul_words_bytes(words_of(v), {u.c, sizeof u}, bytes_of(low_v), 1, state.shared_memory);
  }

  static void invert_Gf(KeygenState& state) {
    invert_together(
        state, &Key::v, &Key::Gf, state.work->rest, [](const Key& k) { return nonzero<P>(k.f) & nonzero<P>(k.g); },
        [&](Words<P>& out, const Words<P>& a, const Words<P>& b) { mul_Rq(state, out, a, b); },
        [&](Words<P>& out, const Words<P>& a) { poly_Rq_inv(state, out, a); });
  }

  static void mul_vf(KeygenState& state) { mul_fields(state, &Key::x, &Key::v, &Key::lifted_f); }
  static void mul_invh(KeygenState& state) {
    mul_fields(state, &Key::x, &Key::x, &Key::lifted_f);
    state.each([&](Key& k, size_t) { poly_mod_q_Phi_n<P>(k.x); });
  }
  static void store_invh(KeygenState& state) {
    state.each([&](Key& k, size_t i) { store_Sq<P>(state.sk_out(i) + P.inverse_h_offset(), k.x); });
  }
  static void mul_vG(KeygenState& state) { mul_fields(state, &Key::x, &Key::v, &Key::G); }
  static void mul_h(KeygenState& state) { mul_fields(state, &Key::x, &Key::x, &Key::G); }
  static void store_h(KeygenState& state) {
    state.each([&](Key& k, size_t i) { store_Sq<P>(state.pk_out(i), k.x); });
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::ntru::single
