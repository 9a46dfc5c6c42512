// SPDX-License-Identifier: Apache-2.0
// Computes the stages of key generation on a few blocks of items that share their inversions;
// docs/adr/0010-shared-inversions.md has the measurements. The tiled steps of the plan run block by block. ops.hpp
// describes `Isa`.
#pragma once

#include <cstring>

#include "core/arena.hpp"
#include "core/scheme.hpp"
#include "prim/drbg/drbg.hpp"
#include "schemes/ntru/interleaved/records.hpp"

namespace polykem::ntru::interleaved {
inline namespace POLYKEM_ISA {

/// The number of blocks that share an inversion. An eighth of an inversion costs less than the products that sharing
/// needs, so more blocks would gain little.
inline constexpr size_t kKeygenBlocks = 8;

/// The data that a block keeps from the first step to the last.
template <NtruParams P>
struct alignas(64) KeyBlock {
  LanePoly<P, S3> f, g, inverse_f;
  LanePoly<P, Rq> lifted_f, G, Gf, v;  ///< v = 1/(G f)
  uint8_t coins[kLanes][P.keygen_coin_bytes()];
};

/// Working memory that the blocks use in turn.
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
    work = arena.take<KeygenScratch<P>>(1);
    mul_workspace = arena.take<std::byte>(Isa::mul(P.n)->workspace_bytes);
    inverse_workspace = arena.take<std::byte>(Isa::inverse().workspace_bytes);
  }

  const Batch& io;
  const size_t blocks;
  KeyBlock<P>* block;
  KeygenScratch<P>* work;
  std::byte* mul_workspace;
  std::byte* inverse_workspace;
  size_t tile = 0;

  /// Moves on to the next block. Returns false after the last one, when the first one follows again. Called by
  /// run_plan.
  bool next_tile() {
    tile = tile + 1 == blocks ? 0 : tile + 1;
    return tile != 0;
  }

  KeyBlock<P>& now() const { return block[tile]; }
  size_t first() const { return tile * kLanes; }
  size_t count() const { return io.count - first() < kLanes ? io.count - first() : kLanes; }
  ConstByteRows coins(size_t offset) const {
    constexpr size_t kBytes = P.keygen_coin_bytes();
    const uint8_t* rows = io.coins != nullptr ? io.coins + first() * kBytes : now().coins[0];
    return {rows + offset, kBytes};
  }
  ByteRows pk_out() const { return {io.pk_out + first() * P.public_key_bytes(), P.public_key_bytes()}; }
  ByteRows sk_out(size_t offset) const {
    return {io.sk_out + first() * P.secret_key_bytes() + offset, P.secret_key_bytes()};
  }
};

template <NtruParams P, class Isa>
struct KeygenOps {
  using KeygenChunk = interleaved::KeygenChunk<P, Isa>;
  using Rq = LanePoly<P, ntru::Rq>;
  using S3 = LanePoly<P, ntru::S3>;

  /// Computes out = a b mod (q, x^n - 1). c: a chunk of any operation.
  template <class Chunk>
  static void poly_Rq_mul(Chunk& c, Rq& out, const Rq& a, const Rq& b) {
    Isa::mul(P.n)->mul_cyclic(out.data(), a.data(), b.data(), c.mul_workspace);
  }

  static void make_keygen_coins(KeygenChunk& c) {
    if (c.io.coins != nullptr) return;
    c.io.drbg->fill({c.now().coins[0], c.count() * P.keygen_coin_bytes()});
  }

  /// Samples f and g. Lanes without an item repeat the last item.
  static void sample_fg(KeygenChunk& c) {
    KeyBlock<P>& b = c.now();
    sample_iid<P>(b.f, c.coins(0), c.count(), c.work->records);
    const ConstByteRows second = c.coins(P.iid_coin_bytes());
    if constexpr (P.variant == Variant::kHps) {
      sample_fixed_type<P>(b.g, second, c.count(), c.work->records);
    } else {
      sample_iid<P>(b.g, second, c.count(), c.work->records);
      poly_plus(b.f);
      poly_plus(b.g);
    }
  }

  /// Computes x.*inverse = 1 / x.*a of each block x, lane by lane, with one inversion and three products per block.
  /// [MONT87, 10.3.1] A zero has no inverse and would spoil the others: 1 takes its place, and its own inverse becomes
  /// 0. nonzero(x): returns all ones in the lanes where x.*a is not 0. rest: memory for a polynomial.
  template <class Poly, class Nonzero, class Mul, class Invert>
  static void invert_together(KeygenChunk& c, Poly KeyBlock<P>::*inverse, Poly KeyBlock<P>::*a, Poly& rest,
                              Nonzero nonzero, Mul mul, Invert invert) {
    KeyBlock<P>* const x = c.block;
    if (c.blocks == 1) return invert(x->*inverse, x->*a);
    V16 invertible_lanes[kKeygenBlocks];
    for (size_t k = 0; k < c.blocks; ++k) {
      invertible_lanes[k] = nonzero(x[k]);
      (x[k].*a).set(0, select_or_one(invertible_lanes[k], (x[k].*a).get(0)));
    }
    x[0].*inverse = x[0].*a;
    for (size_t k = 1; k < c.blocks; ++k)
      mul(x[k].*inverse, x[k - 1].*inverse, x[k].*a);
    invert(rest, x[c.blocks - 1].*inverse);
    for (size_t k = c.blocks - 1; k > 0; --k) {
      mul(x[k].*inverse, rest, x[k - 1].*inverse);
      mul(rest, rest, x[k].*a);
    }
    x[0].*inverse = rest;
    for (size_t k = 0; k < c.blocks; ++k) {
      (x[k].*a).set(0, (x[k].*a).get(0) & invertible_lanes[k]);
      mask_lanes<P>(x[k].*inverse, invertible_lanes[k]);
    }
  }

  static void invert_f(KeygenChunk& c) {
    invert_together(
        c, &KeyBlock<P>::inverse_f, &KeyBlock<P>::f, c.work->rest_S3,
        [](const KeyBlock<P>& x) { return nonzero_lanes<P>(x.f); },
        [&](S3& out, const S3& a, const S3& b) {
          Isa::mul(P.n)->mul_s3(out.data(), a.data(), b.data(), c.mul_workspace);
        },
        [&](S3& out, const S3& a) { Isa::inverse().inverse_mod3(out.data(), a.data(), P.n, c.inverse_workspace); });
  }

  static void store_f(KeygenChunk& c) {
    store_S3<P>(c.sk_out(0), c.now().f, c.count(), c.work->records);
    store_S3<P>(c.sk_out(P.inverse_f_offset()), c.now().inverse_f, c.count(), c.work->records);
    const ConstByteRows from = c.coins(P.pair_coin_bytes());
    const ByteRows to = c.sk_out(P.prf_key_offset());
    for (size_t l = 0; l < c.count(); ++l)
      std::memcpy(to.data + l * to.stride, from.data + l * from.stride, P.kPrfKeyBytes);
  }

  static void lift_fg(KeygenChunk& c) {
    poly_Z3_to_Zq<P>(c.now().lifted_f, c.now().f);
    poly_G<P>(c.now().G, c.now().g);
  }

  static void mul_Gf(KeygenChunk& c) { poly_Rq_mul(c, c.now().Gf, c.now().G, c.now().lifted_f); }

  /// Computes v = 1/a mod (q, Phi_n): mod 2 by division steps, then by Newton's iteration v <- v (2 - a v), which
  /// doubles the number of correct bits each time. [NTRU20, Sq_inverse]
  static void poly_Rq_inv(KeygenChunk& c, Rq& v, const Rq& a) {
    Rq& u = c.work->u;
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
    invert_together(
        c, &KeyBlock<P>::v, &KeyBlock<P>::Gf, c.work->rest,
        [](const KeyBlock<P>& x) { return nonzero_lanes<P>(x.f) & nonzero_lanes<P>(x.g); },
        [&](Rq& out, const Rq& a, const Rq& b) { poly_Rq_mul(c, out, a, b); },
        [&](Rq& out, const Rq& a) { poly_Rq_inv(c, out, a); });
  }

  static void mul_vf(KeygenChunk& c) { poly_Rq_mul(c, c.work->u, c.now().v, c.now().lifted_f); }
  static void mul_invh(KeygenChunk& c) {
    poly_Rq_mul(c, c.work->z, c.work->u, c.now().lifted_f);
    poly_mod_q_Phi_n<P>(c.work->z);
  }
  static void store_invh(KeygenChunk& c) {
    store_Sq<P>(c.sk_out(P.inverse_h_offset()), c.work->z, c.count(), c.work->records);
  }
  static void mul_vG(KeygenChunk& c) { poly_Rq_mul(c, c.work->u, c.now().v, c.now().G); }
  static void mul_h(KeygenChunk& c) { poly_Rq_mul(c, c.work->z, c.work->u, c.now().G); }
  static void store_h(KeygenChunk& c) { store_Sq<P>(c.pk_out(), c.work->z, c.count(), c.work->records); }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::ntru::interleaved
