// SPDX-License-Identifier: Apache-2.0
// The steps of encaps and decaps on interleaved items, one per vector lane.
#pragma once

#include <cstring>

#include "ct/ct.hpp"
#include "schemes/ntru/interleaved/keygen.hpp"

namespace polykem::ntru::interleaved {
inline namespace POLYKEM_ISA {

/// The working memory of a state.
template <NtruParams P>
struct alignas(64) Workspace {
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

template <NtruParams P, InstructionSet Isa>
struct State {
  static constexpr size_t kItemsPerVector = kLanes;
  static constexpr size_t kItems = kLanes;
  static size_t workspace_bytes(size_t) {
    return Arena::bytes<Workspace<P>>(1) + Arena::bytes<std::byte>(Isa::mul(P.n)->workspace_bytes);
  }

  State(const Batch& batch, std::byte* workspace) : io(batch), count(batch.count) {
    Arena arena(workspace);
    work = arena.take<Workspace<P>>(1);
    mul_workspace = arena.take<std::byte>(Isa::mul(P.n)->workspace_bytes);
    coins = {io.coins != nullptr ? io.coins : work->coins[0], P.encaps_coin_bytes()};
  }

  const Batch& io;
  const size_t count;
  Workspace<P>* work;
  std::byte* mul_workspace;
  ConstByteRows coins;

  ConstByteRows pk() const { return {io.pk, io.shared_key ? 0 : P.public_key_bytes()}; }
  ConstByteRows sk(size_t offset) const { return {io.sk + offset, io.shared_key ? 0 : P.secret_key_bytes()}; }
  ConstByteRows ct() const { return {io.ct, P.ciphertext_bytes()}; }
  ByteRows rm(size_t offset) const { return {work->rm[0] + offset, sizeof work->rm[0]}; }
  ConstByteRows coins_from(size_t offset) const { return {coins.data + offset, coins.stride}; }
};

template <NtruParams P, InstructionSet Isa>
struct Steps : KeygenSteps<P, Isa> {
  using State = interleaved::State<P, Isa>;
  using Rq = LanePoly<P, ntru::Rq>;

  using KeygenSteps<P, Isa>::poly_Rq_mul;

  // ---- encaps. The fields hold a = r, b = m, x = h, y = r mod q; z = h r, then c.

  static void make_encaps_coins(State& state) {
    if (state.io.coins == nullptr) state.io.drbg->fill({state.work->coins[0], state.count * P.encaps_coin_bytes()});
  }

  static void sample_rm(State& state) {
    sample_iid<P>(state.work->a, state.coins, state.count, state.work->scratch);
    const ConstByteRows second = state.coins_from(P.iid_coin_bytes());
    if constexpr (P.variant == Variant::kHps) {
      sample_fixed_type<P>(state.work->b, second, state.count, state.work->scratch);
    } else {
      sample_iid<P>(state.work->b, second, state.count, state.work->scratch);
    }
  }

  static void pack_rm(State& state) {
    store_S3<P>(state.rm(0), state.work->a, state.count, state.work->scratch);
    store_S3<P>(state.rm(P.trits_bytes()), state.work->b, state.count, state.work->scratch);
  }

  static void hash_rm(State& state) {
    const ByteRows rm = state.rm(0);
    Isa::keccak().sha3_256({state.io.ss_out, P.kSharedSecretBytes}, {rm.data, rm.stride}, 2 * P.trits_bytes(),
                           state.count);
  }

  static void load_h(State& state) { load_Rq_sum_zero<P>(state.work->x, state.pk(), state.count, state.work->scratch); }

  static void mul_hr(State& state) {
    poly_Z3_to_Zq<P>(state.work->y, state.work->a);
    poly_Rq_mul(state, state.work->z, state.work->x, state.work->y);
  }

  static void lift_add(State& state) {
    Rq& z = state.work->z;
    for_lifted<P>(state.work->b, [&](size_t i, V16 lifted) { z.set(i, z.get(i) + lifted); });
  }

  static void store_c(State& state) {
    store_Sq<P>({state.io.ct_out, P.ciphertext_bytes()}, state.work->z, state.count, state.work->scratch);
  }

  // ---- decaps. The fields hold b = m, y = f mod q, u = 1/h; a = f, then c f mod 3, then r; x = c, then c - Lift(m);
  // z = c f, then r mod q.

  static void load_c_sk(State& state) {
    auto& work = *state.work;
    load_Rq_sum_zero<P>(work.x, state.ct(), state.count, work.scratch);
    load_S3<P>(work.a, state.sk(0), state.count, work.scratch);
    load_S3<P>(work.inverse_f, state.sk(P.inverse_f_offset()), state.count, work.scratch);
    load_Sq<P>(work.u, state.sk(P.inverse_h_offset()), state.count, work.scratch);
    constexpr unsigned kUsedBits = (P.n - 1) * P.logq % 8;
    for (size_t l = 0; l < state.count; ++l) {
      const uint8_t last = state.io.ct[(l + 1) * P.ciphertext_bytes() - 1];
      work.fail[l] = kUsedBits == 0 ? 0 : static_cast<uint16_t>(last >> kUsedBits);
    }
  }

  static void mul_cf(State& state) {
    poly_Z3_to_Zq<P>(state.work->y, state.work->a);
    poly_Rq_mul(state, state.work->z, state.work->x, state.work->y);
  }

  static void reduce_cf(State& state) { poly_Rq_to_S3<P>(state.work->a, state.work->z); }

  static void mul_m(State& state) {
    Isa::mul(P.n)->mul_s3(state.work->b.data(), state.work->a.data(), state.work->inverse_f.data(),
                          state.mul_workspace);
  }

  static void lift_sub(State& state) {
    Rq& x = state.work->x;
    for_lifted<P>(state.work->b, [&](size_t i, V16 lifted) { x.set(i, x.get(i) - lifted); });
  }

  static void mul_r(State& state) {
    poly_Rq_mul(state, state.work->z, state.work->x, state.work->u);
    poly_mod_q_Phi_n<P>(state.work->z);
  }

  static void check_rm(State& state) {
    V16 bad = poly_ternary<P>(state.work->a, state.work->z);
    if constexpr (P.variant == Variant::kHps) bad = bad | wrong_weight<P>(state.work->b);
    alignas(64) uint16_t lanes[kLanes];
    bad.store(lanes);
    for (size_t l = 0; l < state.count; ++l)
      state.work->fail[l] |= lanes[l];
  }

  static void hash_reject(State& state) {
    const ConstByteRows key = state.sk(P.prf_key_offset());
    for (size_t l = 0; l < state.count; ++l) {
      std::memcpy(state.work->reject[l], key.data + l * key.stride, P.kPrfKeyBytes);
      std::memcpy(state.work->reject[l] + P.kPrfKeyBytes, state.io.ct + l * P.ciphertext_bytes(), P.ciphertext_bytes());
    }
    constexpr size_t kLength = sizeof state.work->reject[0];
    Isa::keccak().sha3_256({state.work->rejection[0], P.kSharedSecretBytes}, {state.work->reject[0], kLength}, kLength,
                           state.count);
  }

  static void select(State& state) {
    for (size_t l = 0; l < state.count; ++l) {
      uint8_t* ss = state.io.ss_out + l * P.kSharedSecretBytes;
      ct::select_bytes(ss, ss, state.work->rejection[l], P.kSharedSecretBytes, ct::mask_nonzero(state.work->fail[l]));
    }
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::ntru::interleaved
