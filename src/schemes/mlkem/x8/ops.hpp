// SPDX-License-Identifier: Apache-2.0
// Every stage of eight items: hashes with an item in each Keccak state, arithmetic item by item with neighbouring
// coefficients in a register. So nothing that is hashed is transposed further than into the items' rows.
#pragma once

#include "prim/keccak/keccak_lanes.hpp"
#include "prim/ntt/avx512/noise.hpp"
#include "schemes/mlkem/interleaved/fetch.hpp"
#include "schemes/mlkem/single/poly.hpp"
#include "schemes/mlkem/x8/chunk.hpp"
#include "schemes/mlkem/x8/kem.hpp"
#include "schemes/mlkem/x8/matrix_sampler.hpp"
#include "schemes/mlkem/x8/noise_prf.hpp"

namespace polykem::mlkem::x8 {
inline namespace POLYKEM_ISA {

using interleaved::xof_tail, interleaved::Seeds;
using simd::V16, simd::V64;

/// Isa: an InstructionSet.
template <MlkemParams P, class Isa>
struct Ops {
  static constexpr Dims D = P;
  static constexpr size_t kK = P.k;
  using Chunk = x8::Chunk<P>;
  using Poly = mlkem::Poly;

  template <size_t kBytes>
  static ByteRows rows(uint8_t (&table)[kItems][kBytes]) {
    return {table[0], kBytes};
  }
  template <size_t kBytes>
  static ConstByteRows rows(const uint8_t (&table)[kItems][kBytes], size_t offset) {
    return {table[0] + offset, kBytes};
  }

  /// rows[i k + j] of each item's own key = SampleNTT(rho, j, i), or transposed.
  static void sample_matrix(Chunk& c, ConstByteRows rho, bool transposed) {
    MatrixSampler sampler(Seeds::load(rho, c.count));
    for (size_t entry = 0; entry < kK * kK; ++entry) {
      const size_t i = entry / kK, j = entry % kK;
      interleaved::fetch_output<P>(c.io, 0, kItems, entry, kK * kK);
      interleaved::fetch_next_input<P>(c.io, entry, kK * kK);
      sampler.begin(V64::set1(transposed ? xof_tail(i, j) : xof_tail(j, i)));
      if (entry > 0) accept(c, sampler);
      sampler.finish();
      if (entry > 0) store_accepted(c, entry - 1);
    }
    sampler.end();
    accept(c, sampler);
    store_accepted(c, kK * kK - 1);
  }

  static void accept(Chunk& c, const MatrixSampler& sampler) {
    for (size_t l = 0; l < kItems; ++l)
      sampler.accept(c.t.accepted[l], l);
  }

  /// To the keys, which are not in the nearest cache: accept() writes across the lines' ends, which takes longer there.
  static void store_accepted(Chunk& c, size_t entry) {
    auto& t = c.t;
    for (size_t l = 0; l < kItems; ++l) {
      for (size_t n = 0; n < kN; n += V16::kLanes)
        V16::load(t.accepted[l] + n).store(t.own[l].pk.rows[entry].c + n);
    }
  }

  /// The PRF's output for s and e, or y, e1 and e2, nonce by nonce.
  template <unsigned kEta>
  static void hash_noise(Chunk& c, size_t others) {
    auto& t = c.t;
    RowPointers s, e;
    for (size_t l = 0; l < kItems; ++l) {
      s.at[l] = t.prf_s[l][0];
      e.at[l] = t.prf_e[l][0];
    }
    Seeds seeds = Seeds::load(rows(t.seeds, kSymBytes), c.count);
    NoisePrf prf(seeds);
    for (size_t n = 0; n < kK; ++n)
      prf.next<P.eta1>(n, s, n * sizeof t.prf_s[0][0]);
    for (size_t n = 0; n < others; ++n)
      prf.next<kEta>(kK + n, e, n * sizeof t.prf_e[0][0]);
    prf.end();
    secure_zero(&seeds, sizeof seeds);
  }

  // ---- keygen: seeds = rho, sigma

  /// What is drawn comes with the batch.
  static void take_d(Chunk& c) {
    c.each([&](size_t l) {
      std::memcpy(c.t.hashed[l], c.io.coins + l * kKeygenCoinBytes, kSymBytes);
      c.t.hashed[l][kSymBytes] = kK;
    });
  }

  static void hash_d(Chunk& c) {
    auto& t = c.t;
    Isa::keccak().sha3_512(rows(t.seeds), rows(t.hashed, 0), kSymBytes + (P.kyber() ? 0 : 1), c.count);
    c.each([&](size_t l) { ct::declassify(t.seeds[l], kSymBytes); });  // rho is a part of ek
  }

  static void gen_a(Chunk& c) { sample_matrix(c, rows(c.t.seeds, 0), false); }

  static void sample_se(Chunk& c) {
    auto& t = c.t;
    constexpr size_t kRow = sizeof t.prf_s[0][0];
    hash_noise<P.eta1>(c, kK);
    ntt::forward_noise<P.eta1, ntt::Canonical>(t.s[0][0].c, t.prf_s[0][0], kRow, c.count * kK);
    for (size_t l = 0; l < c.count; ++l)
      ntt::forward_noise<P.eta1, ntt::Unreduced, ntt::kInverseR>(t.e[l][0].c, t.prf_e[l][0], kRow, kK);
  }

  /// e^ is within 8.3 q and a product within q, so that their sum has 16 bits. Both carry 2^-16.
  static void mul_as_store(Chunk& c) {
    auto& t = c.t;
    const ntt::Twiddle scale = ntt::Twiddle::of(ntt::Factor::of(ntt::kR));
    c.each([&](size_t l) {
      uint8_t* pk = c.io.pk_out + l * P.public_key_bytes();
      uint8_t* sk = c.io.sk_out + l * P.secret_key_bytes();
      for (size_t i = 0; i < kK; ++i)
        single::store<12>(sk + i * kPolyBytes, t.s[l][i]);
      ntt::each_product_of_one<kK, kK>(
          t.own[l].pk.rows->c, t.s[l]->c, [&](size_t at, V16(&x)[kK]) __attribute__((always_inline)) {
            ntt::unroll<kK>([&](auto i) __attribute__((always_inline)) {
              x[i] = ntt::positive(ntt::mul(x[i] + V16::load(t.e[l][i].c + at), scale));
            });
            ntt::unroll<kK>([&](auto i)
                                __attribute__((always_inline)) { ntt::pack_one<12>(pk + i * kPolyBytes, at, x[i]); });
          });
      std::memcpy(pk + P.vector_bytes(), t.seeds[l], kSymBytes);
      std::memcpy(sk + P.ek_offset(), pk, P.public_key_bytes());
      std::memcpy(sk + P.z_offset(), c.io.coins + l * kKeygenCoinBytes + kSymBytes, kSymBytes);
    });
  }

  static void hash_new_ek(Chunk& c) {
    Isa::keccak().sha3_256({c.io.sk_out + P.hash_offset(), P.secret_key_bytes()}, {c.io.pk_out, P.public_key_bytes()},
                           P.public_key_bytes(), c.count);
  }

  // ---- encaps: seeds = K, r, s = y^

  static void take_m(Chunk& c) {
    auto& t = c.t;
    if constexpr (P.kyber()) {
      Isa::keccak().sha3_256(rows(t.hashed), {c.io.coins, kEncapsCoinBytes}, kSymBytes, c.count);
    } else {
      c.each([&](size_t l) { std::memcpy(t.hashed[l], c.io.coins + l * kEncapsCoinBytes, kSymBytes); });
    }
  }

  static void hash_ek(Chunk& c) {
    if (c.expanded()) return;
    Isa::keccak().sha3_256({c.t.own[0].pk.hash, sizeof c.t.own[0]}, c.ek_rows(0), P.public_key_bytes(), c.count);
  }

  static void hash_m(Chunk& c) {
    auto& t = c.t;
    c.each([&](size_t l) { std::memcpy(t.hashed[l] + kSymBytes, c.pk(l).hash, kSymBytes); });
    Isa::keccak().sha3_512(rows(t.seeds), rows(t.hashed, 0), 2 * kSymBytes, c.count);
  }

  static void load_ek(Chunk& c) {
    if (c.expanded()) return;
    c.each([&](size_t l) { single::load_t<P>(c.t.own[l].pk, c.ek(l)); });
  }

  static void gen_a_transposed(Chunk& c) {
    if (!c.expanded()) sample_matrix(c, c.ek_rows(P.vector_bytes()), true);
  }

  static void sample_noise(Chunk& c) {
    auto& t = c.t;
    hash_noise<P.kEta2>(c, kK + 1);
    ntt::forward_noise<P.eta1, ntt::Reduced>(t.s[0][0].c, t.prf_s[0][0], sizeof t.prf_s[0][0], c.count * kK);
  }

  /// Without the factor 2^16, by which the inverse transform multiplies. t^ follows A^T.
  static void mul_ay(Chunk& c) {
    auto& t = c.t;
    c.each([&](size_t l) {
      ntt::each_product_of_one<kK, kK + 1>(
          c.pk(l).rows->c, t.s[l]->c, [&](size_t at, V16(&x)[kK + 1]) __attribute__((always_inline)) {
            for (size_t i = 0; i < kK; ++i)
              x[i].store(t.u[l][i].c + at);
            x[kK].store(t.v[l].c + at);
          });
    });
  }

  template <unsigned kBits>
  using Bits = std::integral_constant<unsigned, kBits>;

  /// Calls use(bits, l, offset, i, x) for every register of u and v of each item l: x has the coefficients from i on,
  /// compressed to `bits` bits, of a polynomial that begins at byte `offset` of a ciphertext. Before they are
  /// compressed, 2 q is added, so that they are in [q - 2, 4 q).
  template <class Use>
  static POLYKEM_INLINE void each_compressed(Chunk& c, Use&& use) {
    static_assert(P.kEta2 == 2);  // noise_one's
    auto& t = c.t;
    const auto of_poly = [&](auto bits, size_t l, size_t n, size_t offset, const Poly& poly, auto&& message)
        __attribute__((always_inline)) {
      V16 x[ntt::kOneRegisters];
      ntt::unroll<ntt::kOneRegisters>([&](auto r) __attribute__((always_inline)) {
        constexpr size_t kAt = r * V16::kLanes;
        x[r] = V16::load(poly.c + kAt) + ntt::noise_one<2 * ntt::kQ>(t.prf_e[l][n], kAt) + message(kAt);
      });
      ntt::unroll<ntt::kOneRegisters>([&](auto r) __attribute__((always_inline)) { x[r] = ntt::compress<bits>(x[r]); });
      ntt::unroll<ntt::kOneRegisters>([&](auto r) __attribute__((always_inline)) {
        use(bits, l, offset, r * V16::kLanes, x[r]);
      });
    };
    ntt::each_inverse<ntt::kR>(
        t.u[0]->c, c.count * kK, [&](size_t number) __attribute__((always_inline)) {
          const size_t l = number / kK, n = number % kK;
          of_poly(Bits<P.du>(), l, n, n * (kN * P.du / 8), t.u[l][n], [](size_t) { return V16::zero(); });
        });
    ntt::each_inverse<ntt::kR>(
        t.v->c, c.count, [&](size_t l) __attribute__((always_inline)) {
          of_poly(Bits<P.dv>(), l, kK, P.u_bytes(), t.v[l], [&](size_t i) { return ntt::message_one(t.hashed[l], i); });
        });
  }

  static void store_c(Chunk& c) {
    each_compressed(
        c, [&](auto bits, size_t l, size_t offset, size_t i, V16 x)
               __attribute__((always_inline)) { ntt::pack_one<bits>(c.ct_out(l) + offset, i, x); });
  }

  /// Round 3: ss = SHAKE256(K, SHA3-256(c)); t.other has the hashes.
  static void derive_kyber(Chunk& c) {
    auto& t = c.t;
    c.each([&](size_t l) {
      std::memcpy(t.kdf[l], t.seeds[l], kSymBytes);
      std::memcpy(t.kdf[l] + kSymBytes, t.other[l], kSymBytes);
    });
    Isa::keccak().shake256({c.io.ss_out, kSymBytes}, kSymBytes, rows(t.kdf, 0), 2 * kSymBytes, c.count);
  }

  static void store_ss(Chunk& c) {
    auto& t = c.t;
    if constexpr (P.kyber()) {
      Isa::keccak().sha3_256(rows(t.other), {c.io.ct_out, P.ciphertext_bytes()}, P.ciphertext_bytes(), c.count);
      derive_kyber(c);
    } else {
      c.each([&](size_t l) {
        std::memcpy(c.ss_out(l), t.seeds[l], kSymBytes);
        if (c.pk(l).valid) return;
        c.io.item_status[l] = Status::public_key;
        std::memset(c.ct_out(l), 0, P.ciphertext_bytes());
        std::memset(c.ss_out(l), 0, kSymBytes);
      });
    }
  }

  // ---- decaps: e = u^, v from c; then u, v of the second encryption

  /// For ML-KEM, compares the hash of ek with the stored one. Both are public. [FIPS203, 7.3]
  static void check_dk(Chunk& c) {
    auto& t = c.t;
    if (c.expanded()) return;
    c.each([&](size_t l) {
      ct::declassify(c.ek(l), P.public_key_bytes() + kSymBytes);
      t.own[l].valid = 1;
    });
    const auto stored = [&](size_t l) { return c.dk(l) + P.hash_offset(); };
    if constexpr (!P.kyber()) {
      Isa::keccak().sha3_256(rows(t.ek_hash), c.ek_rows(0), P.public_key_bytes(), c.count);
      c.each([&](size_t l) { t.own[l].valid = std::memcmp(t.ek_hash[l], stored(l), kSymBytes) == 0; });
    }
    c.each([&](size_t l) { std::memcpy(t.own[l].pk.hash, stored(l), kSymBytes); });
  }

  static void load_c_dk(Chunk& c) {
    auto& t = c.t;
    c.each([&](size_t l) {
      for (size_t i = 0; i < kK; ++i)
        single::load_compressed<P.du>(t.e[l][i], c.ct(l) + i * (kN * P.du / 8));
      single::load_compressed<P.dv>(t.v[l], c.ct(l) + P.u_bytes());
      if (c.expanded()) return;
      single::load_dk<P>(t.own[l], c.dk(l));
    });
  }

  static void ntt_u(Chunk& c) { ntt::forward_polys<ntt::Reduced>(c.t.e[0][0].c, c.count * kK); }

  static void mul_su(Chunk& c) {
    auto& t = c.t;
    c.each([&](size_t l) {
      ntt::each_product_of_one<kK, 1>(
          c.sk(l).s->c,
          t.e[l]->c, [&](size_t at, V16(&x)[1]) __attribute__((always_inline)) { x[0].store(t.w[l].c + at); });
    });
  }

  /// Of v - s^T u, plus q so that it is in (0, 3 q).
  static void decode_m(Chunk& c) {
    auto& t = c.t;
    ntt::each_inverse<ntt::kR>(
        t.w->c, c.count, [&](size_t l) __attribute__((always_inline)) {
          for (size_t i = 0; i < kN; i += V16::kLanes) {
            const V16 noisy = V16::load(t.v[l].c + i) - V16::load(t.w[l].c + i) + V16::set1(ntt::kQ);
            ntt::store_bits_one(t.hashed[l], i, ntt::compress<1>(noisy));
          }
        });
  }

  static void hash_reject(Chunk& c) {
    auto& t = c.t;
    if constexpr (P.kyber()) {
      Isa::keccak().sha3_256(rows(t.other), {c.io.ct, P.ciphertext_bytes()}, P.ciphertext_bytes(), c.count);
    } else {
      c.each([&](size_t l) {
        std::memcpy(t.reject[l], c.sk(l).z, kSymBytes);
        std::memcpy(t.reject[l] + kSymBytes, c.ct(l), P.ciphertext_bytes());
      });
      Isa::keccak().shake256(rows(t.other), kSymBytes, rows(t.reject, 0), sizeof t.reject[0], c.count);
    }
  }

  static void compare_c(Chunk& c) {
    auto& t = c.t;
    c.each([&](size_t l) { V16::zero().store(t.different[l]); });
    each_compressed(
        c, [&](auto bits, size_t l, size_t offset, size_t i, V16 x) __attribute__((always_inline)) {
          const V16 different = ntt::differs_from_packed<bits>(c.ct(l) + offset, i, x);
          (V16::load(t.different[l]) | different).store(t.different[l]);
        });
    c.each([&](size_t l) { t.fail[l] = ct::mask_nonzero(single::any_bits(t.different[l])); });
  }

  static void select(Chunk& c) {
    auto& t = c.t;
    c.each([&](size_t l) {
      const uint8_t* rejected = P.kyber() ? c.sk(l).z : t.other[l];
      ct::select_bytes(t.seeds[l], t.seeds[l], rejected, kSymBytes, t.fail[l]);
    });
    if constexpr (P.kyber()) {
      derive_kyber(c);
    } else {
      c.each([&](size_t l) {
        std::memcpy(c.ss_out(l), t.seeds[l], kSymBytes);
        if (c.sk(l).valid) return;
        c.io.item_status[l] = Status::secret_key;
        std::memset(c.ss_out(l), 0, kSymBytes);
      });
    }
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem::x8
