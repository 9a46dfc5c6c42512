// SPDX-License-Identifier: Apache-2.0
// The steps of key generation on a few vectors of items that share their inversions;
// docs/adr/0010-shared-inversions.md has the measurements. The tiled steps of the plan run vector by vector.
#pragma once

#include <cstring>

#include "core/arena.hpp"
#include "core/scheme.hpp"
#include "prim/drbg/drbg.hpp"
#include "schemes/ntru/interleaved/instruction_set.hpp"
#include "schemes/ntru/interleaved/records.hpp"

namespace polykem::ntru::interleaved {
inline namespace POLYKEM_ISA {

/// The number of vectors of kLanes items that share an inversion. An eighth of an inversion costs less than the
/// products that sharing needs, so more vectors would gain little.
inline constexpr size_t kKeygenVectors = 8;

/// The data that a vector of items keeps from the first step to the last.
template <NtruParams P>
struct alignas(64) KeygenVector {
  LanePoly<P, S3> f, g, inverse_f;
  LanePoly<P, Rq> lifted_f, G, Gf, v;  ///< v = 1/(G f)
  uint8_t coins[kLanes][P.keygen_coin_bytes()];
};

/// Working memory that the vectors use in turn.
template <NtruParams P>
struct alignas(64) KeygenScratch {
  LanePoly<P, S3> rest_S3;
  LanePoly<P, Rq> rest, u, z;
  Scratch<P> records;
};

template <NtruParams P, InstructionSet Isa>
struct KeygenState {
  static constexpr size_t kItemsPerVector = kLanes;
  static constexpr size_t kItems = kKeygenVectors * kLanes;
  static constexpr size_t vectors_of(size_t items) { return (items + kLanes - 1) / kLanes; }
  static size_t workspace_bytes(size_t items) {
    return Arena::bytes<KeygenVector<P>>(vectors_of(items)) + Arena::bytes<KeygenScratch<P>>(1) +
           Arena::bytes<std::byte>(Isa::mul(P.n)->workspace_bytes) +
           Arena::bytes<std::byte>(Isa::inverse().workspace_bytes);
  }

  KeygenState(const Batch& batch, std::byte* workspace) : io(batch), vector_count(vectors_of(batch.count)) {
    Arena arena(workspace);
    vectors = arena.take<KeygenVector<P>>(vector_count);
    work = arena.take<KeygenScratch<P>>(1);
    mul_workspace = arena.take<std::byte>(Isa::mul(P.n)->workspace_bytes);
    inverse_workspace = arena.take<std::byte>(Isa::inverse().workspace_bytes);
  }

  const Batch& io;
  const size_t vector_count;
  KeygenVector<P>* vectors;
  KeygenScratch<P>* work;
  std::byte* mul_workspace;
  std::byte* inverse_workspace;
  size_t tile = 0;

  /// Moves on to the next vector. Returns false after the last one, when the first one follows again. Called by
  /// run_plan.
  bool next_tile() {
    tile = tile + 1 == vector_count ? 0 : tile + 1;
    return tile != 0;
  }

  KeygenVector<P>& now() const { return vectors[tile]; }
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

template <NtruParams P, InstructionSet Isa>
struct KeygenSteps {
  using KeygenState = interleaved::KeygenState<P, Isa>;
  using Rq = LanePoly<P, ntru::Rq>;
  using S3 = LanePoly<P, ntru::S3>;

  /// Computes out = a b mod (q, x^n - 1). state: of any operation.
  template <class State>
  static void poly_Rq_mul(State& state, Rq& out, const Rq& a, const Rq& b) {
    Isa::mul(P.n)->mul_cyclic(out.data(), a.data(), b.data(), state.mul_workspace);
  }

  static void make_keygen_coins(KeygenState& state) {
    if (state.io.coins != nullptr) return;
    state.io.drbg->fill({state.now().coins[0], state.count() * P.keygen_coin_bytes()});
  }

  /// Samples f and g. Lanes without an item repeat the last item.
  static void sample_fg(KeygenState& state) {
    KeygenVector<P>& b = state.now();
    sample_iid<P>(b.f, state.coins(0), state.count(), state.work->records);
    const ConstByteRows second = state.coins(P.iid_coin_bytes());
    if constexpr (P.variant == Variant::kHps) {
      sample_fixed_type<P>(b.g, second, state.count(), state.work->records);
    } else {
      sample_iid<P>(b.g, second, state.count(), state.work->records);
      poly_plus(b.f);
      poly_plus(b.g);
    }
  }

  /// Computes x.*inverse = 1 / x.*a of each vector x, lane by lane, with one inversion and three products per vector.
  /// [MONT87, 10.3.1] A zero has no inverse and would spoil the others: 1 takes its place, and its own inverse becomes
  /// 0. nonzero(x): returns all ones in the lanes where x.*a is not 0. rest: memory for a polynomial.
  template <class Poly, class Nonzero, class Mul, class Invert>
  static void invert_together(KeygenState& state, Poly KeygenVector<P>::*inverse, Poly KeygenVector<P>::*a, Poly& rest,
                              Nonzero nonzero, Mul mul, Invert invert) {
    KeygenVector<P>* const x = state.vectors;
    if (state.vector_count == 1) return invert(x->*inverse, x->*a);
    V16 invertible_lanes[kKeygenVectors];
    for (size_t k = 0; k < state.vector_count; ++k) {
      invertible_lanes[k] = nonzero(x[k]);
      (x[k].*a).set(0, select_or_one(invertible_lanes[k], (x[k].*a).get(0)));
    }
    x[0].*inverse = x[0].*a;
    for (size_t k = 1; k < state.vector_count; ++k)
      mul(x[k].*inverse, x[k - 1].*inverse, x[k].*a);
    invert(rest, x[state.vector_count - 1].*inverse);
    for (size_t k = state.vector_count - 1; k > 0; --k) {
      mul(x[k].*inverse, rest, x[k - 1].*inverse);
      mul(rest, rest, x[k].*a);
    }
    x[0].*inverse = rest;
    for (size_t k = 0; k < state.vector_count; ++k) {
      (x[k].*a).set(0, (x[k].*a).get(0) & invertible_lanes[k]);
      mask_lanes<P>(x[k].*inverse, invertible_lanes[k]);
    }
  }

  static void invert_f(KeygenState& state) {
    invert_together(
        state, &KeygenVector<P>::inverse_f, &KeygenVector<P>::f, state.work->rest_S3,
        [](const KeygenVector<P>& x) { return nonzero_lanes<P>(x.f); },
        [&](S3& out, const S3& a, const S3& b) {
          Isa::mul(P.n)->mul_s3(out.data(), a.data(), b.data(), state.mul_workspace);
        },
        [&](S3& out, const S3& a) { Isa::inverse().inverse_mod3(out.data(), a.data(), P.n, state.inverse_workspace); });
  }

  static void store_f(KeygenState& state) {
    store_S3<P>(state.sk_out(0), state.now().f, state.count(), state.work->records);
    store_S3<P>(state.sk_out(P.inverse_f_offset()), state.now().inverse_f, state.count(), state.work->records);
    const ConstByteRows from = state.coins(P.pair_coin_bytes());
    const ByteRows to = state.sk_out(P.prf_key_offset());
    for (size_t l = 0; l < state.count(); ++l)
      std::memcpy(to.data + l * to.stride, from.data + l * from.stride, P.kPrfKeyBytes);
  }

  static void lift_fg(KeygenState& state) {
    poly_Z3_to_Zq<P>(state.now().lifted_f, state.now().f);
    poly_G<P>(state.now().G, state.now().g);
  }

  static void mul_Gf(KeygenState& state) { poly_Rq_mul(state, state.now().Gf, state.now().G, state.now().lifted_f); }

  /// Computes v = 1/a mod (q, Phi_n): mod 2 by division steps, then by Newton's iteration v <- v (2 - a v), which
  /// doubles the number of correct bits each time. [NTRU20, Sq_inverse]
  static void poly_Rq_inv(KeygenState& state, Rq& v, const Rq& a) {
    Rq& u = state.work->u;
    u = a;
    poly_mod_q_Phi_n<P>(u);
    Isa::inverse().inverse_mod2(v.data(), u.data(), P.n, state.inverse_workspace);
    for (unsigned bits = 1; bits < P.logq; bits *= 2) {
      poly_Rq_mul(state, u, a, v);
      two_minus<P>(u);
      poly_Rq_mul(state, v, u, v);
    }
  }

  static void invert_Gf(KeygenState& state) {
    invert_together(
        state, &KeygenVector<P>::v, &KeygenVector<P>::Gf, state.work->rest,
        [](const KeygenVector<P>& x) { return nonzero_lanes<P>(x.f) & nonzero_lanes<P>(x.g); },
        [&](Rq& out, const Rq& a, const Rq& b) { poly_Rq_mul(state, out, a, b); },
        [&](Rq& out, const Rq& a) { poly_Rq_inv(state, out, a); });
  }

  static void mul_vf(KeygenState& state) { poly_Rq_mul(state, state.work->u, state.now().v, state.now().lifted_f); }
  static void mul_invh(KeygenState& state) {
    poly_Rq_mul(state, state.work->z, state.work->u, state.now().lifted_f);
    poly_mod_q_Phi_n<P>(state.work->z);
  }
  static void store_invh(KeygenState& state) {
    store_Sq<P>(state.sk_out(P.inverse_h_offset()), state.work->z, state.count(), state.work->records);
  }
  static void mul_vG(KeygenState& state) { poly_Rq_mul(state, state.work->u, state.now().v, state.now().G); }
  static void mul_h(KeygenState& state) { poly_Rq_mul(state, state.work->z, state.work->u, state.now().G); }
  static void store_h(KeygenState& state) {
    store_Sq<P>(state.pk_out(), state.work->z, state.count(), state.work->records);
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::ntru::interleaved
