// SPDX-License-Identifier: Apache-2.0
// The steps of kem.hpp, each a loop over the items of a chunk. The portable backend runs them with PortablePrims; the
// vector backends run them for small batches, with primitives of their own.
#pragma once

#include <cstring>

#include "core/arena.hpp"
#include "core/scheme.hpp"
#include "prim/drbg/drbg.hpp"
#include "prim/keccak/keccak.hpp"
#include "prim/polymul/ref/schoolbook.hpp"
#include "schemes/ntru/polyinv/polyinv.hpp"
#include "schemes/ntru/ref/pack.hpp"
#include "schemes/ntru/ref/poly.hpp"
#include "schemes/ntru/ref/sample.hpp"
#include "schemes/ntru/sort/sort.hpp"
#include "schemes/records.hpp"

namespace polykem::ntru::ref {
inline namespace POLYKEM_ISA {

/// Working memory of one item.
template <NtruParams P>
struct Item {
  Poly<P, S3> a, b;  ///< f and g, or r and m
  Poly<P, S3> inverse_f;
  Poly<P, Rq> x, y, z, u, v, w;
  int32_t keys[P.n + kSortRoom];
  uint8_t coins[P.keygen_coin_bytes()];
  uint8_t rm[2 * P.trits_bytes()];
  uint8_t secret[P.kSharedSecretBytes];
  uint8_t rejection[P.kSharedSecretBytes];
  uint32_t fail;  ///< all ones if the ciphertext is rejected
};

/// The portable primitives for one item. Other primitives have the same members. The last argument of each function is
/// a workspace of workspace_bytes(n) bytes, aligned to 64.
struct PortablePrims {
  static constexpr size_t workspace_bytes(size_t) { return 0; }
  /// Computes c = a b mod (x^n - 1, q).
  template <size_t n>
  static void mul_cyclic(uint16_t* c, const uint16_t* a, const uint16_t* b, void*) {
    poly_mul_cyclic(c, a, b, n);
  }
  static void inverse_mod2(uint16_t* inverse, const uint16_t* a, size_t n, void*) { poly_inverse_mod2(inverse, a, n); }
  static void inverse_mod3(uint16_t* inverse, const uint16_t* a, size_t n, void*) { poly_inverse_mod3(inverse, a, n); }
  static void sort_int32(int32_t* keys, size_t count, void*) { polykem::sort_int32(keys, count); }

  /// Computes c = a b mod (3, Phi_n). No sum overflows: it has at most n products, each at most 4.
  template <NtruParams P>
  static void mul_S3(Poly<P, S3>& c, const Poly<P, S3>& a, const Poly<P, S3>& b, void*) {
    static_assert(4 * P.n < (1u << 15));
    poly_mul_cyclic(c.c, a.c, b.c, P.n);
    poly_mod_3_Phi_n<P>(c.c);
  }
};

/// The items that are being computed, with their records.
template <NtruParams P, class Prims>
struct State {
  static constexpr size_t kItemsPerVector = 1;
  static constexpr size_t kItems = 8;
  static constexpr size_t workspace_bytes(size_t items) {
    return Arena::bytes<Item<P>>(items) + Arena::bytes<std::byte>(Prims::workspace_bytes(P.n));
  }

  State(const Batch& batch, std::byte* workspace) : io(batch) {
    Arena arena(workspace);
    items = arena.take<Item<P>>(batch.count);
    prim_workspace = arena.take<std::byte>(Prims::workspace_bytes(P.n));
  }

  const Batch& io;
  Item<P>* items;
  void* prim_workspace;

  const uint8_t* pk(size_t i) const { return key_at(io, io.pk, i, P.public_key_bytes()); }
  const uint8_t* sk(size_t i) const { return key_at(io, io.sk, i, P.secret_key_bytes()); }
  const uint8_t* ct(size_t i) const { return io.ct + i * P.ciphertext_bytes(); }
  uint8_t* pk_out(size_t i) const { return io.pk_out + i * P.public_key_bytes(); }
  uint8_t* sk_out(size_t i) const { return io.sk_out + i * P.secret_key_bytes(); }
  uint8_t* ct_out(size_t i) const { return io.ct_out + i * P.ciphertext_bytes(); }
  uint8_t* ss_out(size_t i) const { return io.ss_out + i * P.kSharedSecretBytes; }

  template <class F>
  void each(F&& f) {
    for (size_t i = 0; i < io.count; ++i)
      f(items[i], i);
  }
};

template <NtruParams P, class Prims>
struct Steps {
  using State = ref::State<P, Prims>;
  using KeygenState = State;
  using Item = ref::Item<P>;

  /// Computes c = a b mod (q, x^n - 1). The operands may be of any domain; they are taken as 16-bit representatives.
  template <class A, class B>
  static void poly_Rq_mul(const State& state, Poly<P, Rq>& c, const Poly<P, A>& a, const Poly<P, B>& b) {
    Prims::template mul_cyclic<P.n>(c.c, a.c, b.c, state.prim_workspace);
  }

  /// Computes v = 1/a mod (q, Phi_n): mod 2 by division steps, then by Newton's iteration v <- v (2 - a v), which
  /// doubles the number of correct bits each time. [NTRU20, Sq_inverse]
  static void poly_Rq_inv(const State& state, Poly<P, Rq>& v, const Poly<P, Rq>& a, Poly<P, Rq>& scratch_a,
                          Poly<P, Rq>& scratch_b) {
    std::memcpy(scratch_a.c, a.c, sizeof a.c);
    poly_mod_q_Phi_n<P>(scratch_a.c);
    Prims::inverse_mod2(v.c, scratch_a.c, P.n, state.prim_workspace);
    for (unsigned bits = 1; bits < P.logq; bits *= 2) {
      poly_Rq_mul(state, scratch_a, a, v);
      for (auto& x : scratch_a.c)
        x = static_cast<uint16_t>(0u - x);
      scratch_a.c[0] = static_cast<uint16_t>(scratch_a.c[0] + 2);
      poly_Rq_mul(state, scratch_b, scratch_a, v);
      std::memcpy(v.c, scratch_b.c, sizeof v.c);
    }
  }

  // ---- keygen. The fields hold a = f, b = g, x = f mod q, y = G, v = 1/(G f); z = G f, then 1/h, then h; u = v f,
  // then v G.

  static void make_coins(State& state, size_t bytes) {
    state.each([&](Item& t, size_t i) {
      if (state.io.coins != nullptr) {
        std::memcpy(t.coins, state.io.coins + i * bytes, bytes);
      } else {
        state.io.drbg->fill({t.coins, bytes});
      }
    });
  }
  /// Makes the coins of f and g and the PRF key. [NTRU20, Key_Pair]
  static void make_keygen_coins(State& state) { make_coins(state, P.keygen_coin_bytes()); }

  /// Samples f and g. [NTRU20, Sample_fg]
  static void sample_fg(State& state) {
    state.each([&](Item& t, size_t) { ref::sample_fg<P, Prims>(t.a, t.b, t.coins, t.keys, state.prim_workspace); });
  }

  /// Computes 1/f mod (3, Phi_n). [NTRU20, S3_inverse]
  static void invert_f(State& state) {
    state.each([&](Item& t, size_t) { Prims::inverse_mod3(t.inverse_f.c, t.a.c, P.n, state.prim_workspace); });
  }

  /// Stores f, 1/f and the PRF key in sk. [NTRU20, pack_S3]
  static void store_f(State& state) {
    state.each([&](Item& t, size_t i) {
      poly_S3_tobytes<P>(state.sk_out(i), t.a);
      poly_S3_tobytes<P>(state.sk_out(i) + P.inverse_f_offset(), t.inverse_f);
      std::memcpy(state.sk_out(i) + P.prf_key_offset(), t.coins + P.pair_coin_bytes(), P.kPrfKeyBytes);
    });
  }

  /// Computes f mod q and G = 3 g or, in HRSS, 3 (x - 1) g. [NTRU20, DPKE_Key_Pair]
  static void lift_fg(State& state) {
    state.each([&](Item& t, size_t) {
      std::memcpy(t.x.c, t.a.c, sizeof t.x.c);
      poly_Z3_to_Zq<P>(t.x.c);
      poly_Z3_to_Zq<P>(t.b.c);
      if constexpr (P.variant == Variant::kHps) {
        for (size_t i = 0; i < P.n; ++i)
          t.y.c[i] = static_cast<uint16_t>(3u * t.b.c[i]);
      } else {
        for (size_t i = P.n - 1; i > 0; --i)
          t.y.c[i] = static_cast<uint16_t>(3u * (t.b.c[i - 1] - t.b.c[i]));
        t.y.c[0] = static_cast<uint16_t>(3u * (t.b.c[P.n - 1] - t.b.c[0]));
      }
    });
  }

  /// Computes G f. [NTRU20, DPKE_Key_Pair]
  static void mul_Gf(State& state) {
    state.each([&](Item& t, size_t) { poly_Rq_mul(state, t.z, t.y, t.x); });
  }
  /// Computes v = 1/(G f) mod (q, Phi_n). [NTRU20, Sq_inverse]
  static void invert_Gf(State& state) {
    state.each([&](Item& t, size_t) { poly_Rq_inv(state, t.v, t.z, t.u, t.w); });
  }
  /// Computes v f. [NTRU20, DPKE_Key_Pair]
  static void mul_vf(State& state) {
    state.each([&](Item& t, size_t) { poly_Rq_mul(state, t.u, t.v, t.x); });
  }
  /// Computes 1/h = v f f mod (q, Phi_n). [NTRU20, DPKE_Key_Pair]
  static void mul_invh(State& state) {
    state.each([&](Item& t, size_t) {
      poly_Rq_mul(state, t.z, t.u, t.x);
      poly_mod_q_Phi_n<P>(t.z.c);
    });
  }
  /// Stores 1/h in sk. [NTRU20, pack_Sq]
  static void store_invh(State& state) {
    state.each([&](Item& t, size_t i) { poly_Sq_tobytes<P>(state.sk_out(i) + P.inverse_h_offset(), t.z.c); });
  }
  /// Computes v G. [NTRU20, DPKE_Key_Pair]
  static void mul_vG(State& state) {
    state.each([&](Item& t, size_t) { poly_Rq_mul(state, t.u, t.v, t.y); });
  }
  /// Computes h = v G G. [NTRU20, DPKE_Key_Pair]
  static void mul_h(State& state) {
    state.each([&](Item& t, size_t) { poly_Rq_mul(state, t.z, t.u, t.y); });
  }
  /// Stores h in pk. [NTRU20, pack_Rq0]
  static void store_h(State& state) {
    state.each([&](Item& t, size_t i) { poly_Sq_tobytes<P>(state.pk_out(i), t.z.c); });
  }

  // ---- encaps. The fields hold a = r, b = m, x = h; y = r mod q, then Lift(m); z = h r, then c.

  /// Makes the coins of r and m. [NTRU20, Encapsulate]
  static void make_encaps_coins(State& state) { make_coins(state, P.encaps_coin_bytes()); }

  /// Samples r and m. [NTRU20, Sample_rm]
  static void sample_rm(State& state) {
    state.each([&](Item& t, size_t) { ref::sample_rm<P, Prims>(t.a, t.b, t.coins, t.keys, state.prim_workspace); });
  }

  /// Packs r and m for the hash. [NTRU20, pack_S3]
  static void pack_rm(State& state) {
    state.each([&](Item& t, size_t) {
      poly_S3_tobytes<P>(t.rm, t.a);
      poly_S3_tobytes<P>(t.rm + P.trits_bytes(), t.b);
    });
  }

  /// Computes the shared secret from r and m. [NTRU20, Encapsulate]
  static void hash_rm(State& state) {
    state.each([&](Item& t, size_t i) { sha3_256(state.ss_out(i), t.rm); });
  }

  /// Reads h from pk. [NTRU20, unpack_Rq0]
  static void load_h(State& state) {
    state.each([&](Item& t, size_t i) { poly_Rq_sum_zero_frombytes<P>(t.x, state.pk(i)); });
  }

  /// Computes h r. [NTRU20, DPKE_Encrypt]
  static void mul_hr(State& state) {
    state.each([&](Item& t, size_t) {
      std::memcpy(t.y.c, t.a.c, sizeof t.y.c);
      poly_Z3_to_Zq<P>(t.y.c);
      poly_Rq_mul(state, t.z, t.x, t.y);
    });
  }

  /// Computes c = h r + Lift(m). [NTRU20, DPKE_Encrypt]
  static void lift_add(State& state) {
    state.each([&](Item& t, size_t) {
      poly_lift<P>(t.y, t.b);
      for (size_t i = 0; i < P.n; ++i)
        t.z.c[i] = static_cast<uint16_t>(t.z.c[i] + t.y.c[i]);
    });
  }

  /// Stores c in ct. [NTRU20, pack_Rq0]
  static void store_c(State& state) {
    state.each([&](Item& t, size_t i) { poly_Sq_tobytes<P>(state.ct_out(i), t.z.c); });
  }

  // ---- decaps. The fields hold b = m, u = 1/h; a = f, then c f mod 3, then r; x = c, then c - Lift(m); y = f mod q,
  // then Lift(m); z = c f, then r mod q.

  /// Reads c, f, 1/f and 1/h, and checks the unused bits of ct. [NTRU20, DPKE_Decrypt]
  static void load_c_sk(State& state) {
    state.each([&](Item& t, size_t i) {
      poly_Rq_sum_zero_frombytes<P>(t.x, state.ct(i));
      poly_S3_frombytes<P>(t.a, state.sk(i));
      poly_S3_frombytes<P>(t.inverse_f, state.sk(i) + P.inverse_f_offset());
      poly_Sq_frombytes<P>(t.u.c, state.sk(i) + P.inverse_h_offset());
      t.fail = padding_mask<P>(state.ct(i));
    });
  }

  /// Computes c f. [NTRU20, DPKE_Decrypt]
  static void mul_cf(State& state) {
    state.each([&](Item& t, size_t) {
      std::memcpy(t.y.c, t.a.c, sizeof t.y.c);
      poly_Z3_to_Zq<P>(t.y.c);
      poly_Rq_mul(state, t.z, t.x, t.y);
    });
  }

  /// Reduces c f, centred mod q, mod (3, Phi_n). [NTRU20, DPKE_Decrypt]
  static void reduce_cf(State& state) {
    state.each([&](Item& t, size_t) { poly_Rq_to_S3<P>(t.a, t.z); });
  }

  /// Computes m = c f / f mod (3, Phi_n). [NTRU20, DPKE_Decrypt]
  static void mul_m(State& state) {
    state.each([&](Item& t, size_t) { Prims::template mul_S3<P>(t.b, t.a, t.inverse_f, state.prim_workspace); });
  }

  /// Computes c - Lift(m). [NTRU20, DPKE_Decrypt]
  static void lift_sub(State& state) {
    state.each([&](Item& t, size_t) {
      poly_lift<P>(t.y, t.b);
      for (size_t i = 0; i < P.n; ++i)
        t.x.c[i] = static_cast<uint16_t>(t.x.c[i] - t.y.c[i]);
    });
  }

  /// Computes r = (c - Lift(m)) / h mod (q, Phi_n). [NTRU20, DPKE_Decrypt]
  static void mul_r(State& state) {
    state.each([&](Item& t, size_t) {
      poly_Rq_mul(state, t.z, t.x, t.u);
      poly_mod_q_Phi_n<P>(t.z.c);
    });
  }

  /// Checks that r is ternary and m has its weight. [NTRU20, DPKE_Decrypt]
  static void check_rm(State& state) {
    state.each([&](Item& t, size_t) { t.fail |= recover_r<P>(t.a, t.z) | wrong_weight<P>(t.b); });
  }

  /// Computes the secret of a rejected ciphertext. [NTRU20, Decapsulate]
  static void hash_reject(State& state) {
    state.each([&](Item& t, size_t i) {
      sha3_256(t.rejection, {state.sk(i) + P.prf_key_offset(), P.kPrfKeyBytes}, {state.ct(i), P.ciphertext_bytes()});
    });
  }

  /// Selects the shared secret, or that of a rejected ciphertext. [NTRU20, Decapsulate]
  static void select(State& state) {
    state.each([&](Item& t, size_t i) {
      uint8_t* ss = state.ss_out(i);
      ct::select_bytes(ss, ss, t.rejection, P.kSharedSecretBytes, t.fail);
    });
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::ntru::ref
