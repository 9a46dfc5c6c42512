// SPDX-License-Identifier: Apache-2.0
// NTRU in little memory: one item at a time, products in place, and for each operation a layout in which data that are
// needed at different times share memory. `Prims` has the members of ref::PortablePrims and keeps two promises: c of
// mul_cyclic and mul_S3 may be an operand, and sorting and inverting need no workspace.
#pragma once

#include <algorithm>
#include <cstring>

#include "core/arena.hpp"
#include "core/operations.hpp"
#include "prim/keccak/keccak.hpp"
#include "schemes/ntru/ref/pack.hpp"
#include "schemes/ntru/ref/poly.hpp"
#include "schemes/ntru/ref/sample.hpp"
#include "schemes/ntru/sort/sort.hpp"
#include "schemes/ntru/stages.hpp"

namespace polykem::ntru::low_memory {
inline namespace POLYKEM_ISA {

template <NtruParams P, class Prims>
struct KeygenWorkspace {
  struct Sampling {
    uint8_t coins[P.keygen_coin_bytes()];
    int32_t keys[P.n + kSortRoom];
    Poly<P, S3> inverse_f;
  };
  struct Solving {
    std::byte product[Prims::workspace_bytes(P.n)];
    Poly<P, Rq> Gf, v, u;
  };
  union {
    Sampling sampling;
    Solving solving;
  };
  Poly<P, S3> f, g;  ///< later f mod q and G
};

template <NtruParams P, class Prims>
struct EncapsWorkspace {
  struct Sampling {
    uint8_t coins[P.encaps_coin_bytes()];
    int32_t keys[P.n + kSortRoom];
    uint8_t rm[2 * P.trits_bytes()];
  };
  struct Encrypting {
    std::byte product[Prims::workspace_bytes(P.n)];
    Poly<P, Rq> c;  ///< first h, then h r, then c
  };
  union {
    Sampling sampling;
    Encrypting encrypting;
  };
  Poly<P, S3> m;
  union {
    Poly<P, S3> r;  ///< later r mod q
    Poly<P, Rq> lifted;
  };
};

template <NtruParams P, class Prims>
struct DecapsWorkspace {
  struct Hashing {
    uint8_t rm[2 * P.trits_bytes()];
    uint8_t rejection[P.kSharedSecretBytes];
  };
  union {
    std::byte product[Prims::workspace_bytes(P.n)];
    Hashing hashing;
  };
  Poly<P, Rq> c;  ///< first c, then c - Lift(m), then r mod q
  Poly<P, S3> m;  ///< first c f mod 3, then m
  union {
    Poly<P, S3> f, inverse_f, r;
    Poly<P, Rq> cf, lifted, inverse_h;
  };
  uint32_t fail;  ///< all ones if the ciphertext is rejected
};

/// One item with its records and an operation's working memory.
template <class Workspace>
struct State {
  static constexpr size_t workspace_bytes() { return Arena::bytes<Workspace>(1); }

  State(const Batch& batch, std::byte* workspace) : io(batch), work(*Arena(workspace).take<Workspace>(1)) {}

  const Batch& io;
  Workspace& work;
};

template <NtruParams P, class Prims>
struct Steps {
  using KeygenWorkspace = low_memory::KeygenWorkspace<P, Prims>;
  using EncapsWorkspace = low_memory::EncapsWorkspace<P, Prims>;
  using DecapsWorkspace = low_memory::DecapsWorkspace<P, Prims>;
  using KeygenState = State<KeygenWorkspace>;
  using EncapsState = State<EncapsWorkspace>;
  using DecapsState = State<DecapsWorkspace>;

  /// Computes c = a b mod (q, x^n - 1). The operands may be of any domain; they are taken as 16-bit representatives.
  template <class A, class B>
  static void poly_Rq_mul(Poly<P, Rq>& c, const Poly<P, A>& a, const Poly<P, B>& b, void* product) {
    Prims::template mul_cyclic<P.n>(c.c, a.c, b.c, product);
  }

  // ---- keygen

  static void sample_fg(KeygenState& state) {
    auto& [coins, keys, inverse_f] = state.work.sampling;
    ref::sample_fg<P, Prims>(state.work.f, state.work.g, coins, keys, nullptr);
  }

  static void invert_f(KeygenState& state) {
    Prims::inverse_mod3(state.work.sampling.inverse_f.c, state.work.f.c, P.n, nullptr);
  }

  static void store_f(KeygenState& state) {
    const auto& [coins, keys, inverse_f] = state.work.sampling;
    ref::poly_S3_tobytes<P>(state.io.sk_out, state.work.f);
    ref::poly_S3_tobytes<P>(state.io.sk_out + P.inverse_f_offset(), inverse_f);
    std::memcpy(state.io.sk_out + P.prf_key_offset(), coins + P.pair_coin_bytes(), P.kPrfKeyBytes);
  }

  /// Lifts f, and replaces g by G = 3 g for HPS, 3 (x - 1) g for HRSS.
  static void lift_fg(KeygenState& state) {
    auto& g = state.work.g.c;
    ref::poly_Z3_to_Zq<P>(state.work.f.c);
    ref::poly_Z3_to_Zq<P>(g);
    if constexpr (P.variant == Variant::kHps) {
      for (auto& x : g)
        x = static_cast<uint16_t>(3u * x);
    } else {
      const uint16_t last = g[P.n - 1];
      for (size_t i = P.n - 1; i > 0; --i)
        g[i] = static_cast<uint16_t>(3u * (g[i - 1] - g[i]));
      g[0] = static_cast<uint16_t>(3u * (last - g[0]));
    }
  }

  static void mul_Gf(KeygenState& state) {
    auto& w = state.work.solving;
    poly_Rq_mul(w.Gf, state.work.g, state.work.f, w.product);
  }

  /// Computes v = 1/(G f) mod (q, Phi_n): mod 2 by division steps, then by Newton's iteration v <- v (2 - G f v), which
  /// doubles the number of correct bits each time. [NTRU20, Sq_inverse]
  static void invert_Gf(KeygenState& state) {
    auto& [product, Gf, v, u] = state.work.solving;
    std::memcpy(u.c, Gf.c, sizeof u.c);
    ref::poly_mod_q_Phi_n<P>(u.c);
    Prims::inverse_mod2(v.c, u.c, P.n, nullptr);
    for (unsigned bits = 1; bits < P.logq; bits *= 2) {
      poly_Rq_mul(u, Gf, v, product);
      for (auto& x : u.c)
        x = static_cast<uint16_t>(0u - x);
      u.c[0] = static_cast<uint16_t>(u.c[0] + 2);
      poly_Rq_mul(v, u, v, product);
    }
  }

  static void mul_vf(KeygenState& state) {
    auto& w = state.work.solving;
    poly_Rq_mul(w.u, w.v, state.work.f, w.product);
  }
  static void mul_invh(KeygenState& state) {
    auto& w = state.work.solving;
    poly_Rq_mul(w.u, w.u, state.work.f, w.product);
    ref::poly_mod_q_Phi_n<P>(w.u.c);
  }
  static void store_invh(KeygenState& state) {
    ref::poly_Sq_tobytes<P>(state.io.sk_out + P.inverse_h_offset(), state.work.solving.u.c);
  }
  static void mul_vG(KeygenState& state) {
    auto& w = state.work.solving;
    poly_Rq_mul(w.u, w.v, state.work.g, w.product);
  }
  static void mul_h(KeygenState& state) {
    auto& w = state.work.solving;
    poly_Rq_mul(w.u, w.u, state.work.g, w.product);
  }
  static void store_h(KeygenState& state) { ref::poly_Sq_tobytes<P>(state.io.pk_out, state.work.solving.u.c); }

  // ---- encaps

  static void sample_rm(EncapsState& state) {
    auto& w = state.work.sampling;
    ref::sample_rm<P, Prims>(state.work.r, state.work.m, w.coins, w.keys, nullptr);
  }

  static void pack_rm(EncapsState& state) { pack(state.work.sampling.rm, state.work.r, state.work.m); }
  static void pack(uint8_t* rm, const Poly<P, S3>& r, const Poly<P, S3>& m) {
    ref::poly_S3_tobytes<P>(rm, r);
    ref::poly_S3_tobytes<P>(rm + P.trits_bytes(), m);
  }

  static void hash_rm(EncapsState& state) { sha3_256(state.io.ss_out, state.work.sampling.rm); }

  static void load_h(EncapsState& state) { ref::poly_Rq_sum_zero_frombytes<P>(state.work.encrypting.c, state.io.pk); }

  static void mul_hr(EncapsState& state) {
    auto& w = state.work.encrypting;
    ref::poly_Z3_to_Zq<P>(state.work.r.c);
    poly_Rq_mul(w.c, w.c, state.work.r, w.product);
  }

  static void lift_add(EncapsState& state) {
    auto& sum = state.work.encrypting.c;
    ref::poly_lift<P>(state.work.lifted, state.work.m);
    for (size_t i = 0; i < P.n; ++i)
      sum.c[i] = static_cast<uint16_t>(sum.c[i] + state.work.lifted.c[i]);
  }

  static void store_c(EncapsState& state) { ref::poly_Sq_tobytes<P>(state.io.ct_out, state.work.encrypting.c.c); }

  // ---- decaps

  static void load_c_f(DecapsState& state) {
    ref::poly_Rq_sum_zero_frombytes<P>(state.work.c, state.io.ct);
    ref::poly_S3_frombytes<P>(state.work.f, state.io.sk);
    state.work.fail = ref::padding_mask<P>(state.io.ct);
  }

  static void mul_cf(DecapsState& state) {
    ref::poly_Z3_to_Zq<P>(state.work.f.c);
    poly_Rq_mul(state.work.cf, state.work.c, state.work.f, state.work.product);
  }

  static void reduce_cf(DecapsState& state) { ref::poly_Rq_to_S3<P>(state.work.m, state.work.cf); }

  static void mul_m(DecapsState& state) {
    auto& w = state.work;
    ref::poly_S3_frombytes<P>(w.inverse_f, state.io.sk + P.inverse_f_offset());
    Prims::template mul_S3<P>(w.m, w.m, w.inverse_f, w.product);
  }

  static void lift_sub(DecapsState& state) {
    auto& w = state.work;
    ref::poly_lift<P>(w.lifted, w.m);
    for (size_t i = 0; i < P.n; ++i)
      w.c.c[i] = static_cast<uint16_t>(w.c.c[i] - w.lifted.c[i]);
  }

  static void mul_r(DecapsState& state) {
    auto& w = state.work;
    ref::poly_Sq_frombytes<P>(w.inverse_h.c, state.io.sk + P.inverse_h_offset());
    poly_Rq_mul(w.c, w.c, w.inverse_h, w.product);
    ref::poly_mod_q_Phi_n<P>(w.c.c);
  }

  static void check_rm(DecapsState& state) {
    state.work.fail |= ref::recover_r<P>(state.work.r, state.work.c) | ref::wrong_weight<P>(state.work.m);
  }

  static void pack_rm(DecapsState& state) { Steps::pack(state.work.hashing.rm, state.work.r, state.work.m); }

  static void hash_rm(DecapsState& state) { sha3_256(state.io.ss_out, state.work.hashing.rm); }

  static void hash_reject(DecapsState& state) {
    sha3_256(state.work.hashing.rejection, {state.io.sk + P.prf_key_offset(), P.kPrfKeyBytes},
             {state.io.ct, P.ciphertext_bytes()});
  }

  static void select(DecapsState& state) {
    uint8_t* ss = state.io.ss_out;
    ct::select_bytes(ss, ss, state.work.hashing.rejection, P.kSharedSecretBytes, state.work.fail);
  }
};

/// The plans of the three operations. `Steps` inherits the functions above and adds two, which make coins. 1/f and 1/h
/// are unpacked only when they are needed.
template <class Steps>
struct Kem {
  using KeygenState = typename Steps::KeygenState;
  using EncapsState = typename Steps::EncapsState;
  using DecapsState = typename Steps::DecapsState;
  static constexpr auto keygen = plan_of<kKeygenStages, KeygenState>({
      {"randombytes", Steps::make_keygen_coins},
      {"sample_fg", Steps::sample_fg},
      {"poly_S3_inv", Steps::invert_f},
      {"poly_S3_tobytes", Steps::store_f},
      {"poly_Z3_to_Zq", Steps::lift_fg},
      {"poly_Rq_mul.Gf", Steps::mul_Gf},
      {"poly_Rq_inv", Steps::invert_Gf},
      {"poly_Rq_mul.vf", Steps::mul_vf},
      {"poly_Sq_mul.invh", Steps::mul_invh},
      {"poly_Sq_tobytes", Steps::store_invh},
      {"poly_Rq_mul.vG", Steps::mul_vG},
      {"poly_Rq_mul.h", Steps::mul_h},
      {"poly_Rq_sum_zero_tobytes", Steps::store_h},
  });

  static constexpr auto encaps = plan_of<kEncapsStages, EncapsState>({
      {"randombytes", Steps::make_encaps_coins},
      {"sample_rm", Steps::sample_rm},
      {"poly_S3_tobytes", Steps::pack_rm},
      {"sha3_256", Steps::hash_rm},
      {"poly_Rq_sum_zero_frombytes", Steps::load_h},
      {"poly_Rq_mul", Steps::mul_hr},
      {"poly_lift_add", Steps::lift_add},
      {"poly_Rq_sum_zero_tobytes", Steps::store_c},
  });

  static constexpr auto decaps = plan_of<kDecapsStages, DecapsState>({
      {"frombytes", Steps::load_c_f},
      {"poly_Rq_mul.cf", Steps::mul_cf},
      {"poly_Rq_to_S3", Steps::reduce_cf},
      {"poly_S3_mul", Steps::mul_m},
      {"poly_lift_sub", Steps::lift_sub},
      {"poly_Sq_mul", Steps::mul_r},
      {"check_rm", Steps::check_rm},
      {"poly_S3_tobytes", Steps::pack_rm},
      {"sha3_256", Steps::hash_rm},
      {"sha3_256.reject", Steps::hash_reject},
      {"cmov", Steps::select},
  });
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::ntru::low_memory
