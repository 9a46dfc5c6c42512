// SPDX-License-Identifier: Apache-2.0
// Computes the stages of encaps and decaps on a block of items at once, one item per vector lane. `Isa` names the
// primitives of an instruction set: kName, mul(n), keccak(), inverse().
#pragma once

#include <cstring>

#include "ct/ct.hpp"
#include "schemes/ntru/interleaved/keygen.hpp"

namespace polykem::ntru::interleaved {
inline namespace POLYKEM_ISA {

/// Working memory of one block.
template <NtruParams P>
struct alignas(64) Block {
  LanePoly<P, S3> a, b;  ///< r and m
  LanePoly<P, S3> inverse_f;
  LanePoly<P, Rq> x, y, z, u;
  Scratch<P> scratch;
  uint8_t coins[kLanes][P.encaps_coin_bytes()];
  uint8_t rm[kLanes][2 * P.trits_bytes()];
  uint8_t reject[kLanes][P.kPrfKeyBytes + P.ciphertext_bytes()];  ///< PRF key, ciphertext
  uint8_t rejection[kLanes][P.kSharedSecretBytes];
  uint16_t fail[kLanes];  ///< not 0 if the ciphertext is rejected
};

template <NtruParams P, class Isa>
struct Chunk {
  static constexpr size_t kGranule = kLanes;
  static constexpr size_t kItems = kLanes;
  static size_t workspace_bytes(size_t) {
    return Arena::bytes<Block<P>>(1) + Arena::bytes<std::byte>(Isa::mul(P.n)->workspace_bytes);
  }

  Chunk(const Batch& batch, std::byte* workspace) : io(batch), count(batch.count) {
    Arena arena(workspace);
    work = arena.take<Block<P>>(1);
    mul_workspace = arena.take<std::byte>(Isa::mul(P.n)->workspace_bytes);
    coins = {io.coins != nullptr ? io.coins : work->coins[0], P.encaps_coin_bytes()};
  }

  const Batch& io;
  const size_t count;
  Block<P>* work;
  std::byte* mul_workspace;
  ConstByteRows coins;

  ConstByteRows pk() const { return {io.pk, io.shared_key ? 0 : P.public_key_bytes()}; }
  ConstByteRows sk(size_t offset) const { return {io.sk + offset, io.shared_key ? 0 : P.secret_key_bytes()}; }
  ConstByteRows ct() const { return {io.ct, P.ciphertext_bytes()}; }
  ByteRows rm(size_t offset) const { return {work->rm[0] + offset, sizeof work->rm[0]}; }
  ConstByteRows coins_from(size_t offset) const { return {coins.data + offset, coins.stride}; }
};

template <NtruParams P, class Isa>
struct Ops : KeygenOps<P, Isa> {
  using Chunk = interleaved::Chunk<P, Isa>;
  using Rq = LanePoly<P, ntru::Rq>;

  using KeygenOps<P, Isa>::poly_Rq_mul;

  // ---- encaps. The fields hold a = r, b = m, x = h, y = r mod q; z = h r, then c.

  static void make_encaps_coins(Chunk& c) {
    if (c.io.coins == nullptr) c.io.drbg->fill({c.work->coins[0], c.count * P.encaps_coin_bytes()});
  }

  static void sample_rm(Chunk& c) {
    sample_iid<P>(c.work->a, c.coins, c.count, c.work->scratch);
    const ConstByteRows second = c.coins_from(P.iid_coin_bytes());
    if constexpr (P.variant == Variant::kHps) {
      sample_fixed_type<P>(c.work->b, second, c.count, c.work->scratch);
    } else {
      sample_iid<P>(c.work->b, second, c.count, c.work->scratch);
    }
  }

  static void pack_rm(Chunk& c) {
    store_S3<P>(c.rm(0), c.work->a, c.count, c.work->scratch);
    store_S3<P>(c.rm(P.trits_bytes()), c.work->b, c.count, c.work->scratch);
  }

  static void hash_rm(Chunk& c) {
    const ByteRows rm = c.rm(0);
    Isa::keccak().sha3_256({c.io.ss_out, P.kSharedSecretBytes}, {rm.data, rm.stride}, 2 * P.trits_bytes(), c.count);
  }

  static void load_h(Chunk& c) { load_Rq_sum_zero<P>(c.work->x, c.pk(), c.count, c.work->scratch); }

  static void mul_hr(Chunk& c) {
    poly_Z3_to_Zq<P>(c.work->y, c.work->a);
    poly_Rq_mul(c, c.work->z, c.work->x, c.work->y);
  }

  static void lift_add(Chunk& c) {
    Rq& z = c.work->z;
    for_lifted<P>(c.work->b, [&](size_t i, V16 lifted) { z.set(i, z.get(i) + lifted); });
  }

  static void store_c(Chunk& c) {
    store_Sq<P>({c.io.ct_out, P.ciphertext_bytes()}, c.work->z, c.count, c.work->scratch);
  }

  // ---- decaps. The fields hold b = m, y = f mod q, u = 1/h; a = f, then c f mod 3, then r; x = c, then c - Lift(m);
  // z = c f, then r mod q.

  static void load_c_sk(Chunk& c) {
    auto& work = *c.work;
    load_Rq_sum_zero<P>(work.x, c.ct(), c.count, work.scratch);
    load_S3<P>(work.a, c.sk(0), c.count, work.scratch);
    load_S3<P>(work.inverse_f, c.sk(P.inverse_f_offset()), c.count, work.scratch);
    load_Sq<P>(work.u, c.sk(P.inverse_h_offset()), c.count, work.scratch);
    constexpr unsigned kUsedBits = (P.n - 1) * P.logq % 8;
    for (size_t l = 0; l < c.count; ++l) {
      const uint8_t last = c.io.ct[(l + 1) * P.ciphertext_bytes() - 1];
      work.fail[l] = kUsedBits == 0 ? 0 : static_cast<uint16_t>(last >> kUsedBits);
    }
  }

  static void mul_cf(Chunk& c) {
    poly_Z3_to_Zq<P>(c.work->y, c.work->a);
    poly_Rq_mul(c, c.work->z, c.work->x, c.work->y);
  }

  static void reduce_cf(Chunk& c) { poly_Rq_to_S3<P>(c.work->a, c.work->z); }

  static void mul_m(Chunk& c) {
    Isa::mul(P.n)->mul_s3(c.work->b.data(), c.work->a.data(), c.work->inverse_f.data(), c.mul_workspace);
  }

  static void lift_sub(Chunk& c) {
    Rq& x = c.work->x;
    for_lifted<P>(c.work->b, [&](size_t i, V16 lifted) { x.set(i, x.get(i) - lifted); });
  }

  static void mul_r(Chunk& c) {
    poly_Rq_mul(c, c.work->z, c.work->x, c.work->u);
    poly_mod_q_Phi_n<P>(c.work->z);
  }

  static void check_rm(Chunk& c) {
    V16 bad = poly_ternary<P>(c.work->a, c.work->z);
    if constexpr (P.variant == Variant::kHps) bad = bad | wrong_weight<P>(c.work->b);
    alignas(64) uint16_t lanes[kLanes];
    bad.store(lanes);
    for (size_t l = 0; l < c.count; ++l)
      c.work->fail[l] |= lanes[l];
  }

  static void hash_reject(Chunk& c) {
    const ConstByteRows key = c.sk(P.prf_key_offset());
    for (size_t l = 0; l < c.count; ++l) {
      std::memcpy(c.work->reject[l], key.data + l * key.stride, P.kPrfKeyBytes);
      std::memcpy(c.work->reject[l] + P.kPrfKeyBytes, c.io.ct + l * P.ciphertext_bytes(), P.ciphertext_bytes());
    }
    constexpr size_t kLength = sizeof c.work->reject[0];
    Isa::keccak().sha3_256({c.work->rejection[0], P.kSharedSecretBytes}, {c.work->reject[0], kLength}, kLength,
                           c.count);
  }

  static void select(Chunk& c) {
    for (size_t l = 0; l < c.count; ++l) {
      uint8_t* ss = c.io.ss_out + l * P.kSharedSecretBytes;
      ct::select_bytes(ss, ss, c.work->rejection[l], P.kSharedSecretBytes, ct::mask_nonzero(c.work->fail[l]));
    }
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::ntru::interleaved
