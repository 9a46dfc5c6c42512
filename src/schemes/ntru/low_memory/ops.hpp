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
struct KeygenWork {
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
struct EncapsWork {
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
struct DecapsWork {
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
template <class Work>
struct Chunk {
  static constexpr size_t workspace_bytes() { return Arena::bytes<Work>(1); }

  Chunk(const Batch& batch, std::byte* workspace) : io(batch), work(*Arena(workspace).take<Work>(1)) {}

  const Batch& io;
  Work& work;
};

template <NtruParams P, class Prims>
struct Ops {
  using KeygenWork = low_memory::KeygenWork<P, Prims>;
  using EncapsWork = low_memory::EncapsWork<P, Prims>;
  using DecapsWork = low_memory::DecapsWork<P, Prims>;
  using KeygenChunk = Chunk<KeygenWork>;
  using EncapsChunk = Chunk<EncapsWork>;
  using DecapsChunk = Chunk<DecapsWork>;

  /// Computes c = a b mod (q, x^n - 1). The operands may be of any domain; they are taken as 16-bit representatives.
  template <class A, class B>
  static void poly_Rq_mul(Poly<P, Rq>& c, const Poly<P, A>& a, const Poly<P, B>& b, void* product) {
    Prims::template mul_cyclic<P.n>(c.c, a.c, b.c, product);
  }

  // ---- keygen

  static void sample_fg(KeygenChunk& c) {
    auto& [coins, keys, inverse_f] = c.work.sampling;
    ref::sample_fg<P, Prims>(c.work.f, c.work.g, coins, keys, nullptr);
  }

  static void invert_f(KeygenChunk& c) { Prims::inverse_mod3(c.work.sampling.inverse_f.c, c.work.f.c, P.n, nullptr); }

  static void store_f(KeygenChunk& c) {
    const auto& [coins, keys, inverse_f] = c.work.sampling;
    ref::poly_S3_tobytes<P>(c.io.sk_out, c.work.f);
    ref::poly_S3_tobytes<P>(c.io.sk_out + P.inverse_f_offset(), inverse_f);
    std::memcpy(c.io.sk_out + P.prf_key_offset(), coins + P.pair_coin_bytes(), P.kPrfKeyBytes);
  }

  /// Lifts f, and replaces g by G = 3 g for HPS, 3 (x - 1) g for HRSS.
  static void lift_fg(KeygenChunk& c) {
    auto& g = c.work.g.c;
    ref::poly_Z3_to_Zq<P>(c.work.f.c);
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

  static void mul_Gf(KeygenChunk& c) {
    auto& w = c.work.solving;
    poly_Rq_mul(w.Gf, c.work.g, c.work.f, w.product);
  }

  /// Computes v = 1/(G f) mod (q, Phi_n): mod 2 by division steps, then by Newton's iteration v <- v (2 - G f v), which
  /// doubles the number of correct bits each time. [NTRU20, Sq_inverse]
  static void invert_Gf(KeygenChunk& c) {
    auto& [product, Gf, v, u] = c.work.solving;
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

  static void mul_vf(KeygenChunk& c) {
    auto& w = c.work.solving;
    poly_Rq_mul(w.u, w.v, c.work.f, w.product);
  }
  static void mul_invh(KeygenChunk& c) {
    auto& w = c.work.solving;
    poly_Rq_mul(w.u, w.u, c.work.f, w.product);
    ref::poly_mod_q_Phi_n<P>(w.u.c);
  }
  static void store_invh(KeygenChunk& c) {
    ref::poly_Sq_tobytes<P>(c.io.sk_out + P.inverse_h_offset(), c.work.solving.u.c);
  }
  static void mul_vG(KeygenChunk& c) {
    auto& w = c.work.solving;
    poly_Rq_mul(w.u, w.v, c.work.g, w.product);
  }
  static void mul_h(KeygenChunk& c) {
    auto& w = c.work.solving;
    poly_Rq_mul(w.u, w.u, c.work.g, w.product);
  }
  static void store_h(KeygenChunk& c) { ref::poly_Sq_tobytes<P>(c.io.pk_out, c.work.solving.u.c); }

  // ---- encaps

  static void sample_rm(EncapsChunk& c) {
    auto& w = c.work.sampling;
    ref::sample_rm<P, Prims>(c.work.r, c.work.m, w.coins, w.keys, nullptr);
  }

  static void pack_rm(EncapsChunk& c) { pack(c.work.sampling.rm, c.work.r, c.work.m); }
  static void pack(uint8_t* rm, const Poly<P, S3>& r, const Poly<P, S3>& m) {
    ref::poly_S3_tobytes<P>(rm, r);
    ref::poly_S3_tobytes<P>(rm + P.trits_bytes(), m);
  }

  static void hash_rm(EncapsChunk& c) { sha3_256(c.io.ss_out, c.work.sampling.rm); }

  static void load_h(EncapsChunk& c) { ref::poly_Rq_sum_zero_frombytes<P>(c.work.encrypting.c, c.io.pk); }

  static void mul_hr(EncapsChunk& c) {
    auto& w = c.work.encrypting;
    ref::poly_Z3_to_Zq<P>(c.work.r.c);
    poly_Rq_mul(w.c, w.c, c.work.r, w.product);
  }

  static void lift_add(EncapsChunk& c) {
    auto& sum = c.work.encrypting.c;
    ref::poly_lift<P>(c.work.lifted, c.work.m);
    for (size_t i = 0; i < P.n; ++i)
      sum.c[i] = static_cast<uint16_t>(sum.c[i] + c.work.lifted.c[i]);
  }

  static void store_c(EncapsChunk& c) { ref::poly_Sq_tobytes<P>(c.io.ct_out, c.work.encrypting.c.c); }

  // ---- decaps

  static void load_c_f(DecapsChunk& c) {
    ref::poly_Rq_sum_zero_frombytes<P>(c.work.c, c.io.ct);
    ref::poly_S3_frombytes<P>(c.work.f, c.io.sk);
    c.work.fail = ref::padding_mask<P>(c.io.ct);
  }

  static void mul_cf(DecapsChunk& c) {
    ref::poly_Z3_to_Zq<P>(c.work.f.c);
    poly_Rq_mul(c.work.cf, c.work.c, c.work.f, c.work.product);
  }

  static void reduce_cf(DecapsChunk& c) { ref::poly_Rq_to_S3<P>(c.work.m, c.work.cf); }

  static void mul_m(DecapsChunk& c) {
    auto& w = c.work;
    ref::poly_S3_frombytes<P>(w.inverse_f, c.io.sk + P.inverse_f_offset());
    Prims::template mul_S3<P>(w.m, w.m, w.inverse_f, w.product);
  }

  static void lift_sub(DecapsChunk& c) {
    auto& w = c.work;
    ref::poly_lift<P>(w.lifted, w.m);
    for (size_t i = 0; i < P.n; ++i)
      w.c.c[i] = static_cast<uint16_t>(w.c.c[i] - w.lifted.c[i]);
  }

  static void mul_r(DecapsChunk& c) {
    auto& w = c.work;
    ref::poly_Sq_frombytes<P>(w.inverse_h.c, c.io.sk + P.inverse_h_offset());
    poly_Rq_mul(w.c, w.c, w.inverse_h, w.product);
    ref::poly_mod_q_Phi_n<P>(w.c.c);
  }

  static void check_rm(DecapsChunk& c) {
    c.work.fail |= ref::recover_r<P>(c.work.r, c.work.c) | ref::wrong_weight<P>(c.work.m);
  }

  static void pack_rm(DecapsChunk& c) { Ops::pack(c.work.hashing.rm, c.work.r, c.work.m); }

  static void hash_rm(DecapsChunk& c) { sha3_256(c.io.ss_out, c.work.hashing.rm); }

  static void hash_reject(DecapsChunk& c) {
    sha3_256(c.work.hashing.rejection, {c.io.sk + P.prf_key_offset(), P.kPrfKeyBytes}, {c.io.ct, P.ciphertext_bytes()});
  }

  static void select(DecapsChunk& c) {
    uint8_t* ss = c.io.ss_out;
    ct::select_bytes(ss, ss, c.work.hashing.rejection, P.kSharedSecretBytes, c.work.fail);
  }
};

/// The plans of the three operations. `Ops` inherits the functions above and adds two, which make coins. 1/f and 1/h
/// are unpacked only when they are needed.
template <class Ops>
struct Kem {
  using KeygenChunk = typename Ops::KeygenChunk;
  using EncapsChunk = typename Ops::EncapsChunk;
  using DecapsChunk = typename Ops::DecapsChunk;
  static constexpr auto keygen = plan_of<kKeygenStages, KeygenChunk>({
      {"randombytes", Ops::make_keygen_coins},
      {"sample_fg", Ops::sample_fg},
      {"poly_S3_inv", Ops::invert_f},
      {"poly_S3_tobytes", Ops::store_f},
      {"poly_Z3_to_Zq", Ops::lift_fg},
      {"poly_Rq_mul.Gf", Ops::mul_Gf},
      {"poly_Rq_inv", Ops::invert_Gf},
      {"poly_Rq_mul.vf", Ops::mul_vf},
      {"poly_Sq_mul.invh", Ops::mul_invh},
      {"poly_Sq_tobytes", Ops::store_invh},
      {"poly_Rq_mul.vG", Ops::mul_vG},
      {"poly_Rq_mul.h", Ops::mul_h},
      {"poly_Rq_sum_zero_tobytes", Ops::store_h},
  });

  static constexpr auto encaps = plan_of<kEncapsStages, EncapsChunk>({
      {"randombytes", Ops::make_encaps_coins},
      {"sample_rm", Ops::sample_rm},
      {"poly_S3_tobytes", Ops::pack_rm},
      {"sha3_256", Ops::hash_rm},
      {"poly_Rq_sum_zero_frombytes", Ops::load_h},
      {"poly_Rq_mul", Ops::mul_hr},
      {"poly_lift_add", Ops::lift_add},
      {"poly_Rq_sum_zero_tobytes", Ops::store_c},
  });

  static constexpr auto decaps = plan_of<kDecapsStages, DecapsChunk>({
      {"frombytes", Ops::load_c_f},
      {"poly_Rq_mul.cf", Ops::mul_cf},
      {"poly_Rq_to_S3", Ops::reduce_cf},
      {"poly_S3_mul", Ops::mul_m},
      {"poly_lift_sub", Ops::lift_sub},
      {"poly_Sq_mul", Ops::mul_r},
      {"check_rm", Ops::check_rm},
      {"poly_S3_tobytes", Ops::pack_rm},
      {"sha3_256", Ops::hash_rm},
      {"sha3_256.reject", Ops::hash_reject},
      {"cmov", Ops::select},
  });
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::ntru::low_memory
