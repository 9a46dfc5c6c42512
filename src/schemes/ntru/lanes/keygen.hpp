// SPDX-License-Identifier: Apache-2.0
// Key generation's stages on a few blocks of items that share their inversions; docs/adr/0010-shared-inversions.md has
// the measurements. The tiled steps of the plan run block by block. `Isa` as in ops.hpp.
#pragma once

#include <cstring>

#include "core/arena.hpp"
#include "core/scheme.hpp"
#include "prim/drbg/drbg.hpp"
#include "schemes/ntru/lanes/records.hpp"

namespace polykem::ntru::lanes {
inline namespace POLYKEM_ISA {

/// Blocks that share an inversion: an eighth of one costs less than the products that share it.
inline constexpr size_t kKeygenBlocks = 8;

/// What is kept of a block from the first step to the last.
template <NtruParams P>
struct alignas(64) KeyBlock {
  LanePoly<P, S3> f, g, inverse_f;
  LanePoly<P, Rq> lifted_f, G, Gf, v;  ///< v = 1/(G f)
  uint8_t draws[kLanes][P.keygen_draw_bytes()];
};

/// What all blocks use in turn.
template <NtruParams P>
struct alignas(64) KeygenScratch {
  LanePoly<P, S3> rest_S3;
  LanePoly<P, Rq> rest, u, z;
  Scratch<P> records;
};

template <NtruParams P, class Isa>
struct KeygenChunk {
  static constexpr size_t kGranule = kLanes;
  static constexpr size_t kItems = kKeygenBlocks * kLanes;
  static constexpr size_t blocks_of(size_t items) { return (items + kLanes - 1) / kLanes; }
  static size_t workspace_bytes(size_t items) {
    return Arena::bytes<KeyBlock<P>>(blocks_of(items)) + Arena::bytes<KeygenScratch<P>>(1) +
           Arena::bytes<std::byte>(Isa::mul(P.n)->workspace_bytes) +
           Arena::bytes<std::byte>(Isa::inverse().workspace_bytes);
  }

  KeygenChunk(const Batch& batch, std::byte* workspace) : io(batch), blocks(blocks_of(batch.count)) {
    Arena arena(workspace);
    block = arena.take<KeyBlock<P>>(blocks);
    t = arena.take<KeygenScratch<P>>(1);
    mul_workspace = arena.take<std::byte>(Isa::mul(P.n)->workspace_bytes);
    inverse_workspace = arena.take<std::byte>(Isa::inverse().workspace_bytes);
  }

  const Batch& io;
  const size_t blocks;
  KeyBlock<P>* block;
  KeygenScratch<P>* t;
  std::byte* mul_workspace;
  std::byte* inverse_workspace;
  size_t tile = 0;

  /// For run_plan.
  bool next_tile() {
    tile = tile + 1 == blocks ? 0 : tile + 1;
    return tile != 0;
  }

  KeyBlock<P>& now() const { return block[tile]; }
  size_t first() const { return tile * kLanes; }
  size_t count() const { return io.count - first() < kLanes ? io.count - first() : kLanes; }
  ConstByteRows draws(size_t offset) const {
    constexpr size_t kBytes = P.keygen_draw_bytes();
    const uint8_t* rows = io.draws != nullptr ? io.draws + first() * kBytes : now().draws[0];
    return {rows + offset, kBytes};
  }
  ByteRows pk_out() const { return {io.pk_out + first() * P.public_key_bytes(), P.public_key_bytes()}; }
  ByteRows sk_out(size_t offset) const {
    return {io.sk_out + first() * P.secret_key_bytes() + offset, P.secret_key_bytes()};
  }
};

template <NtruParams P, class Isa>
struct KeygenOps {
  using KeygenChunk = lanes::KeygenChunk<P, Isa>;
  using Rq = LanePoly<P, ntru::Rq>;
  using S3 = LanePoly<P, ntru::S3>;

  static void poly_Rq_mul(KeygenChunk& c, Rq& out, const Rq& a, const Rq& b) {
    Isa::mul(P.n)->mul_cyclic(out.data(), a.data(), b.data(), c.mul_workspace);
  }

  static void draw_keygen(KeygenChunk& c) {
    if (c.io.draws != nullptr) return;
    c.io.drbg->fill({c.now().draws[0], c.count() * P.keygen_draw_bytes()}, Isa::kKeystream);
  }

  /// Lanes without an item repeat the last one.
  static void sample_fg(KeygenChunk& c) {
    KeyBlock<P>& b = c.now();
    sample_iid<P>(b.f, c.draws(0), c.count(), c.t->records);
    const ConstByteRows second = c.draws(P.iid_draw_bytes());
    if constexpr (P.variant == Variant::hps) {
      sample_fixed_type<P>(b.g, second, c.count(), c.t->records);
    } else {
      sample_iid<P>(b.g, second, c.count(), c.t->records);
      poly_plus(b.f);
      poly_plus(b.g);
    }
  }

  /// `inverse(b)` of each block b = 1 / `a(b)`, lane by lane, from one inversion and three products a block.
  /// [MONT87, 10.3.1]
  template <class Poly, class A, class Inverse, class Mul, class Invert>
  static void invert_together(KeygenChunk& c, Poly& rest, A a, Inverse inverse, Mul mul, Invert invert) {
    inverse(c.block[0]) = a(c.block[0]);
    for (size_t k = 1; k < c.blocks; ++k)
      mul(inverse(c.block[k]), inverse(c.block[k - 1]), a(c.block[k]));
    invert(rest, inverse(c.block[c.blocks - 1]));
    for (size_t k = c.blocks - 1; k > 0; --k) {
      mul(inverse(c.block[k]), rest, inverse(c.block[k - 1]));
      mul(rest, rest, a(c.block[k]));
    }
    inverse(c.block[0]) = rest;
  }

  /// A zero, which has no inverse, would spoil the others: 1 takes its place, and its own inverse becomes 0.
  static void invert_f(KeygenChunk& c) {
    const auto mul = [&](S3& out, const S3& a, const S3& b) {
      Isa::mul(P.n)->mul_s3(out.data(), a.data(), b.data(), c.mul_workspace);
    };
    const auto invert = [&](S3& out, const S3& a) {
      Isa::inverse().inverse_mod3(out.data(), a.data(), P.n, c.inverse_workspace);
    };
    if (c.blocks == 1) return invert(c.now().inverse_f, c.now().f);
    V16 alive[kKeygenBlocks];
    for (size_t k = 0; k < c.blocks; ++k) {
      S3& f = c.block[k].f;
      alive[k] = nonzero_lanes<P>(f);
      f.set(0, one_unless(alive[k], f.get(0)));
    }
    invert_together(
        c, c.t->rest_S3, [](KeyBlock<P>& b) -> S3& { return b.f; }, [](KeyBlock<P>& b) -> S3& { return b.inverse_f; },
        mul, invert);
    for (size_t k = 0; k < c.blocks; ++k) {
      S3& f = c.block[k].f;
      f.set(0, f.get(0) & alive[k]);
      keep_lanes<P>(c.block[k].inverse_f, alive[k]);
    }
  }

  static void store_f(KeygenChunk& c) {
    store_S3<P>(c.sk_out(0), c.now().f, c.count(), c.t->records);
    store_S3<P>(c.sk_out(P.inverse_f_offset()), c.now().inverse_f, c.count(), c.t->records);
    const ConstByteRows from = c.draws(P.pair_draw_bytes());
    const ByteRows to = c.sk_out(P.prf_key_offset());
    for (size_t l = 0; l < c.count(); ++l)
      std::memcpy(to.data + l * to.stride, from.data + l * from.stride, P.kPrfKeyBytes);
  }

  static void lift_fg(KeygenChunk& c) {
    poly_Z3_to_Zq<P>(c.now().lifted_f, c.now().f);
    poly_G<P>(c.now().G, c.now().g);
  }

  static void mul_Gf(KeygenChunk& c) { poly_Rq_mul(c, c.now().Gf, c.now().G, c.now().lifted_f); }

  /// 1/a mod (q, Phi_n): mod 2 by division steps, then Newton's v <- v (2 - a v), doubling the bits. [NTRU20,
  /// Sq_inverse]
  static void poly_Rq_inv(KeygenChunk& c, Rq& v, const Rq& a) {
    Rq& u = c.t->u;
    u = a;
    poly_mod_q_Phi_n<P>(u);
    Isa::inverse().inverse_mod2(v.data(), u.data(), P.n, c.inverse_workspace);
    for (unsigned bits = 1; bits < P.logq; bits *= 2) {
      poly_Rq_mul(c, u, a, v);
      two_minus<P>(u);
      poly_Rq_mul(c, v, u, v);
    }
  }

  static void invert_Gf(KeygenChunk& c) {
    if (c.blocks == 1) return poly_Rq_inv(c, c.now().v, c.now().Gf);
    V16 alive[kKeygenBlocks];
    for (size_t k = 0; k < c.blocks; ++k) {
      KeyBlock<P>& b = c.block[k];
      alive[k] = nonzero_lanes<P>(b.f) & nonzero_lanes<P>(b.g);
      b.Gf.set(0, one_unless(alive[k], b.Gf.get(0)));
    }
    invert_together(
        c, c.t->rest, [](KeyBlock<P>& b) -> Rq& { return b.Gf; }, [](KeyBlock<P>& b) -> Rq& { return b.v; },
        [&](Rq& out, const Rq& a, const Rq& b) { poly_Rq_mul(c, out, a, b); },
        [&](Rq& out, const Rq& a) { poly_Rq_inv(c, out, a); });
    for (size_t k = 0; k < c.blocks; ++k)
      keep_lanes<P>(c.block[k].v, alive[k]);
  }

  static void mul_vf(KeygenChunk& c) { poly_Rq_mul(c, c.t->u, c.now().v, c.now().lifted_f); }
  static void mul_invh(KeygenChunk& c) {
    poly_Rq_mul(c, c.t->z, c.t->u, c.now().lifted_f);
    poly_mod_q_Phi_n<P>(c.t->z);
  }
  static void store_invh(KeygenChunk& c) {
    store_Sq<P>(c.sk_out(P.inverse_h_offset()), c.t->z, c.count(), c.t->records);
  }
  static void mul_vG(KeygenChunk& c) { poly_Rq_mul(c, c.t->u, c.now().v, c.now().G); }
  static void mul_h(KeygenChunk& c) { poly_Rq_mul(c, c.t->z, c.t->u, c.now().G); }
  static void store_h(KeygenChunk& c) { store_Sq<P>(c.pk_out(), c.t->z, c.count(), c.t->records); }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::ntru::lanes
