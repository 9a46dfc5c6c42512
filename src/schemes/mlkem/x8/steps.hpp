// SPDX-License-Identifier: Apache-2.0
// The steps of eight items that differ from mlkem/steps.hpp, because they are fused over the polynomials of all items
// (kem.hpp).
#pragma once

#include "core/unroll.hpp"
#include "prim/keccak/row_hashes.hpp"
#include "schemes/mlkem/single/poly.hpp"
#include "schemes/mlkem/steps.hpp"
#include "schemes/mlkem/x8/arithmetic.hpp"
#include "schemes/mlkem/x8/kem.hpp"
#include "schemes/mlkem/x8/noise.hpp"
#include "schemes/mlkem/x8/noise_prf.hpp"
#include "schemes/mlkem/x8/state.hpp"

namespace polykem::mlkem::x8 {
inline namespace POLYKEM_ISA {

template <MlkemParams P, InstructionSet Isa>
struct Steps : KeySteps<P, Arithmetic<P, Isa>> {
  using Arithmetic = x8::Arithmetic<P, Isa>;
  static_assert(KeyArithmetic<Arithmetic>);
  static constexpr size_t kK = P.k;
  using State = x8::State<P>;
  using Poly = mlkem::Poly;
  using Steps::KeySteps::each;

  /// Computes the PRF's output for s and e, or for y, e1 and e2, nonce by nonce.
  template <unsigned kEta>
  static void hash_noise(State& state, size_t others) {
    auto& work = state.work;
    RowPointers s, e;
    for (size_t l = 0; l < kItems; ++l) {
      s.at[l] = work.prf_s[l][0];
      e.at[l] = work.prf_e[l][0];
    }
    Seeds seeds = Seeds::load(rows_of(work.fo.seeds, kSymBytes), state.count);
    NoisePrf prf(seeds);
    for (size_t n = 0; n < kK; ++n)
      prf.next<P.eta1>(n, s, n * sizeof work.prf_s[0][0]);
    for (size_t n = 0; n < others; ++n)
      prf.next<kEta>(kK + n, e, n * sizeof work.prf_e[0][0]);
    prf.end();
    zeroize(&seeds, sizeof seeds);
  }

  static void sample_se(State& state) {
    auto& work = state.work;
    constexpr size_t kRow = sizeof work.prf_s[0][0];
    hash_noise<P.eta1>(state, kK);
    forward_noise<P.eta1, ntt::Canonical>(work.s[0][0].c, work.prf_s[0][0], kRow, state.count * kK);
    for (size_t l = 0; l < state.count; ++l)
      forward_noise<P.eta1, ntt::Unreduced, ntt::kInverseR>(work.e[l][0].c, work.prf_e[l][0], kRow, kK);
  }

  /// Computes t^ = A^ s^ + e^ and stores both keys. The sum of e^ and a product fits 16 bits; both carry the factor
  /// 2^-16.
  static void mul_as_store(State& state) {
    auto& work = state.work;
    const ntt::Twiddle scale = ntt::Twiddle::of(ntt::StoredTwiddle::of(ntt::kR));
    static_assert(kNoiseTransformBound<P.eta1, ntt::kInverseR> + int{ntt::kQ} <= ntt::kWordBound);
    each(state, [&](size_t l) {
      uint8_t* const pk = state.pk_out().at(l);
      uint8_t* const sk = state.sk_out().at(l);
      for (size_t i = 0; i < kK; ++i)
        single::store<12>(sk + i * kPolyBytes, work.s[l][i]);
      ntt::each_product_single<kK, kK>(
          work.own[l].pk.rows->c, work.s[l]->c, [&](size_t at, V16(&x)[kK]) __attribute__((always_inline)) {
            unroll<kK>([&](auto i) __attribute__((always_inline)) {
              x[i] = ntt::to_unsigned(ntt::mul(x[i] + V16::load(work.e[l][i].c + at), scale));
            });
            unroll<kK>([&](auto i)
                           __attribute__((always_inline)) { ntt::pack_single<12>(pk + i * kPolyBytes, at, x[i]); });
          });
      Steps::store_rho_pk_z(state, l);
    });
  }

  static void sample_noise(State& state) {
    auto& work = state.work;
    hash_noise<P.kEta2>(state, kK + 1);
    forward_noise<P.eta1, ntt::Reduced>(work.s[0][0].c, work.prf_s[0][0], sizeof work.prf_s[0][0], state.count * kK);
  }

  /// Computes 2^-16 A^T y^ and 2^-16 t^T y^; the inverse transform multiplies by 2^16. t^ follows A^T in memory.
  static void mul_ay(State& state) {
    auto& work = state.work;
    each(state, [&](size_t l) {
      ntt::each_product_single<kK, kK + 1>(
          state.public_key(l).rows->c, work.s[l]->c, [&](size_t at, V16(&x)[kK + 1]) __attribute__((always_inline)) {
            for (size_t i = 0; i < kK; ++i)
              x[i].store(work.u[l][i].c + at);
            x[kK].store(work.v[l].c + at);
          });
    });
  }

  template <unsigned kBits>
  using Bits = std::integral_constant<unsigned, kBits>;

  /// Calls use(bits, l, offset, i, x) for every register of u and v of each item l. x has the coefficients from i on,
  /// compressed to `bits` bits, of a polynomial that begins at byte `offset` of a ciphertext. Before they are
  /// compressed, 2 q is added, so that they are in [q - 2, 4 q).
  template <class Use>
  static POLYKEM_INLINE void each_compressed(State& state, Use&& use) {
    static_assert(P.kEta2 == 2);  // as noise_single() assumes
    auto& work = state.work;
    const auto of_poly = [&](auto bits, size_t l, size_t n, size_t offset, const Poly& poly, auto&& message)
        __attribute__((always_inline)) {
      V16 x[ntt::kSingleRegisters];
      unroll<ntt::kSingleRegisters>([&](auto r) __attribute__((always_inline)) {
        constexpr size_t kAt = r * V16::kLanes;
        x[r] = V16::load(poly.c + kAt) + noise_single<2 * ntt::kQ>(work.prf_e[l][n], kAt) + message(kAt);
      });
      unroll<ntt::kSingleRegisters>([&](auto r) __attribute__((always_inline)) { x[r] = ntt::compress<bits>(x[r]); });
      unroll<ntt::kSingleRegisters>([&](auto r) __attribute__((always_inline)) {
        use(bits, l, offset, r * V16::kLanes, x[r]);
      });
    };
    ntt::each_inverse<ntt::kR>(
        work.u[0]->c, state.count * kK, [&](size_t number) __attribute__((always_inline)) {
          const size_t l = number / kK, n = number % kK;
          of_poly(Bits<P.du>(), l, n, n * (kN * P.du / 8), work.u[l][n], [](size_t) { return V16::zero(); });
        });
    ntt::each_inverse<ntt::kR>(
        work.v->c, state.count, [&](size_t l) __attribute__((always_inline)) {
          of_poly(Bits<P.dv>(), l, kK, P.u_bytes(), work.v[l],
                  [&](size_t i) { return ntt::message_single(work.fo.hashed[l], i); });
        });
  }

  static void store_c(State& state) {
    each_compressed(
        state, [&](auto bits, size_t l, size_t offset, size_t i, V16 x)
                   __attribute__((always_inline)) { ntt::pack_single<bits>(state.ct_out().at(l) + offset, i, x); });
  }

  static void load_c_sk(State& state) {
    auto& work = state.work;
    each(state, [&](size_t l) {
      for (size_t i = 0; i < kK; ++i)
        single::load_compressed<P.du>(work.e[l][i], state.ct_in().at(l) + i * (kN * P.du / 8));
      single::load_compressed<P.dv>(work.v[l], state.ct_in().at(l) + P.u_bytes());
    });
    Arithmetic::load_sk(state);
  }

  static void ntt_u(State& state) { ntt::forward_polys<ntt::Reduced>(state.work.e[0][0].c, state.count * kK); }

  static void mul_su(State& state) {
    auto& work = state.work;
    each(state, [&](size_t l) {
      ntt::each_product_single<kK, 1>(
          state.secret_key(l).s->c,
          work.e[l]->c, [&](size_t at, V16(&x)[1]) __attribute__((always_inline)) { x[0].store(work.w[l].c + at); });
    });
  }

  /// Computes m = Compress_1(v - s^T u). q is added first, so that the difference is in (0, 3 q).
  static void decode_m(State& state) {
    auto& work = state.work;
    ntt::each_inverse<ntt::kR>(
        work.w->c, state.count, [&](size_t l) __attribute__((always_inline)) {
          for (size_t i = 0; i < kN; i += V16::kLanes) {
            const V16 noisy = V16::load(work.v[l].c + i) - V16::load(work.w[l].c + i) + V16::set1(ntt::kQ);
            ntt::store_bits_single(work.fo.hashed[l], i, ntt::compress<1>(noisy));
          }
        });
  }

  static void compare_c(State& state) {
    auto& work = state.work;
    each(state, [&](size_t l) { V16::zero().store(work.different[l]); });
    each_compressed(
        state, [&](auto bits, size_t l, size_t offset, size_t i, V16 x) __attribute__((always_inline)) {
          const V16 different = ntt::differs_from_packed<bits>(state.ct_in().at(l) + offset, i, x);
          (V16::load(work.different[l]) | different).store(work.different[l]);
        });
    each(state, [&](size_t l) { work.fo.fail[l] = ct::mask_nonzero(single::any_bits(work.different[l])); });
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem::x8
