// SPDX-License-Identifier: Apache-2.0
// Every stage of one item: neighbouring coefficients of a polynomial in a register, Keccak states of its matrix, its
// noise and its hashes in another. Polynomials are canonical between stages.
#pragma once

#include "core/operations.hpp"
#include "prim/drbg/drbg.hpp"
#include "prim/ntt/lanes/one_products.hpp"
#include "prim/ntt/ntt_lanes.hpp"
#include "schemes/mlkem/record_bytes.hpp"
#include "schemes/mlkem/single/chunk.hpp"
#include "schemes/mlkem/single/kem.hpp"
#include "schemes/mlkem/single/poly.hpp"

#ifdef POLYKEM_ISA_AVX512
#include "prim/ntt/avx512/one.hpp"
#endif

namespace polykem::mlkem::single {
inline namespace POLYKEM_ISA {

/// Isa: an InstructionSet.
template <MlkemParams P, class Isa>
struct Ops {
  static constexpr Dims D = P;
  static constexpr size_t kK = P.k;
  static constexpr size_t kEkBlocks = decltype(HashSpace<D>::ek)::kBlocks;
  static constexpr size_t kRejectBlocks = decltype(HashSpace<D>::reject)::kBlocks;
  static constexpr size_t kRound3Blocks = decltype(HashSpace<D>::round3)::kBlocks;
  using Chunk = single::Chunk<P>;

  static void forward(Poly& a) {
#ifdef POLYKEM_ISA_AVX512
    ntt::forward_one(a.c);
#else
    Isa::ntt_one().forward(a.c);
#endif
  }
  static void inverse(Poly& a) {
#ifdef POLYKEM_ISA_AVX512
    ntt::inverse_one(a.c);
#else
    Isa::ntt_one().inverse(a.c);
#endif
  }

  /// a = a + b.
  static void add(Poly& a, const Poly& b) {
    ntt::map_one(
        a.c, [&](size_t i, V16 x) __attribute__((always_inline)) { return ntt::reduced_once(x + V16::load(b.c + i)); });
  }

  template <unsigned kEta>
  static void sample(Poly& a, const uint8_t* row) {
    for (size_t i = 0; i < kN; i += V16::kLanes)
      ntt::cbd_one<kEta>(row, i).store(a.c + i);
  }

  static void draw(Chunk& c, size_t bytes) {
    if (c.io.coins == nullptr) c.io.drbg->fill({c.t.coins, bytes}, Isa::keystream());
  }

  // ---- keygen: seeds = rho, sigma, u = t

  static void draw_keygen(Chunk& c) {
    draw(c, kKeygenCoinBytes);
  }

  static void hash_d(Chunk& c) {
    auto& t = c.t;
    std::memcpy(t.hashed, c.coins, kSymBytes);
    t.hashed[kSymBytes] = kK;
    polykem::lanes::sha3_512_one<kSymBytes + (P.kyber() ? 0 : 1)>(t.seeds, t.hashed);
    ct::declassify(t.seeds, kSymBytes);  // rho is a part of ek
  }

  static void gen_a(Chunk& c) {
    MatrixSampler<kK>(c.t.own.pk.rows, c.t.seeds, false, c.t.hash.squeezed).sample(c.t.states);
  }

  static void sample_se(Chunk& c) {
    auto& t = c.t;
    prf_rows<2 * kK, P.eta1 == 3 ? 2 * kK : 0>(t.poly.prf[0], sizeof t.poly.prf[0], t.seeds + kSymBytes, t.states);
    sample_se_from_rows(c);
  }

  /// Whether the last entries of the matrix leave room for the noise beside them.
  static constexpr bool kNoiseBesideMatrix = MatrixSampler<kK>::kRest > 0;

  static void gen_a_sample_se(Chunk& c) {
    static_assert(offsetof(Polys<D>, prf) >= sizeof(Squeezed));  // both are in use
    auto& t = c.t;
    MatrixSampler<kK> sampler(t.own.pk.rows, t.seeds, false, t.hash.squeezed);
    sampler.template sample_with_noise<2 * kK, P.eta1 - 1>(t.states, t.poly.prf[0], sizeof t.poly.prf[0],
                                                           t.seeds + kSymBytes);
    sample_se_from_rows(c);
  }

  static void sample_se_from_rows(Chunk& c) {
    auto& t = c.t;
    for (size_t i = 0; i < kK; ++i) {
      sample<P.eta1>(t.poly.s[i], t.poly.prf[i]);
      sample<P.eta1>(t.poly.e[i], t.poly.prf[kK + i]);
    }
  }

  static void ntt_se(Chunk& c) {
    for (size_t i = 0; i < kK; ++i) {
      forward(c.t.poly.s[i]);
      forward(c.t.poly.e[i]);
    }
  }

  static void mul_as(Chunk& c) {
    auto& t = c.t;
    ntt::multiply_one_rows<kK, kK>(t.poly.u->c, t.own.pk.rows->c, t.poly.s->c);
    for (size_t i = 0; i < kK; ++i)
      add(t.poly.u[i], t.poly.e[i]);
  }

  static void store_keys(Chunk& c) {
    auto& t = c.t;
    uint8_t *const pk = c.io.pk_out, *const sk = c.io.sk_out;
    for (size_t i = 0; i < kK; ++i) {
      store<12>(sk + i * kPolyBytes, t.poly.s[i]);
      store<12>(pk + i * kPolyBytes, t.poly.u[i]);
    }
    std::memcpy(pk + P.vector_bytes(), t.seeds, kSymBytes);
    std::memcpy(sk + P.ek_offset(), pk, P.public_key_bytes());
    std::memcpy(sk + P.z_offset(), c.coins + kSymBytes, kSymBytes);
  }

  static void hash_new_ek(Chunk& c) {
    polykem::lanes::sha3_256_one<P.public_key_bytes()>(c.io.sk_out + P.hash_offset(), c.io.pk_out);
  }

  // ---- encaps: seeds = K, r, s = y, e = e1, e2

  static void draw_encaps(Chunk& c) {
    draw(c, kEncapsCoinBytes);
    if constexpr (P.kyber()) {
      polykem::lanes::sha3_256_one<kSymBytes>(c.t.hashed, c.coins);
    } else {
      std::memcpy(c.t.hashed, c.coins, kSymBytes);
    }
  }

  static void hash_ek_gen_a(Chunk& c) {
    if (c.expanded()) return;
    auto& t = c.t;
    ct::declassify(c.io.pk, P.public_key_bytes());
    t.hash.ek.set(c.io.pk, 0, c.io.pk, polykem::lanes::kSha3Suffix);
    MatrixSampler<kK> sampler(t.own.pk.rows, c.io.pk + P.vector_bytes(), true, t.hash.squeezed);
    sampler.template sample_beside<kEkBlocks, 1>(t.states, {t.hash.ek.bytes});
    store_digest(t.own.pk.hash, t.states, 0);
  }

  static void hash_m(Chunk& c) {
    std::memcpy(c.t.hashed + kSymBytes, c.pk().hash, kSymBytes);
    polykem::lanes::sha3_512_one<2 * kSymBytes>(c.t.seeds, c.t.hashed);
  }

  static void load_ek(Chunk& c) {
    if (!c.expanded()) load_t<P>(c.t.own.pk, c.io.pk);
  }

  static void sample_noise(Chunk& c) {
    auto& t = c.t;
    constexpr size_t kLong = P.eta1 == 3 ? kK : 0;
    prf_rows<D.noise_polys(), kLong>(t.poly.prf[0], sizeof t.poly.prf[0], t.seeds + kSymBytes, t.states);
    for (size_t i = 0; i < kK; ++i)
      sample<P.eta1>(t.poly.s[i], t.poly.prf[i]);
    for (size_t i = 0; i <= kK; ++i)
      sample<P.kEta2>(t.poly.e[i], t.poly.prf[kK + i]);
  }

  static void ntt_y(Chunk& c) {
    for (Poly& y : c.t.poly.s)
      forward(y);
  }

  /// t^ follows A^T.
  static void mul_ay(Chunk& c) {
    ntt::multiply_one_rows<kK, kK + 1>(c.t.poly.u->c, c.pk().rows->c, c.t.poly.s->c);
  }

  static void inverse_uv(Chunk& c) {
    for (Poly& u : c.t.poly.u)
      inverse(u);
  }

  static void add_noise(Chunk& c) {
    auto& t = c.t;
    for (size_t i = 0; i <= kK; ++i)
      add(t.poly.u[i], t.poly.e[i]);
    ntt::map_one(
        t.poly.u[kK].c, [&](size_t i, V16 x) __attribute__((always_inline)) {
          return ntt::reduced_once(x + ntt::message_one(t.hashed, i));
        });
  }

  static void store_c(Chunk& c) {
    store_uv<D>(c.io.ct_out, c.t.poly.u);
  }

  /// Round 3: SHAKE256(secret, H(c)).
  static void derive_kyber(Chunk& c) {
    auto& t = c.t;
    std::memcpy(t.kdf, t.seeds, kSymBytes);
    std::memcpy(t.kdf + kSymBytes, t.other, kSymBytes);
    polykem::lanes::shake256_one<2 * kSymBytes>(c.io.ss_out, t.kdf);
  }

  static void store_ss(Chunk& c) {
    if constexpr (P.kyber()) {
      polykem::lanes::sha3_256_one<P.ciphertext_bytes()>(c.t.other, c.io.ct_out);
      derive_kyber(c);
    } else {
      std::memcpy(c.io.ss_out, c.t.seeds, kSymBytes);
      if (c.pk().valid) return;
      *c.io.item_status = Status::public_key;
      std::memset(c.io.ct_out, 0, P.ciphertext_bytes());
      std::memset(c.io.ss_out, 0, kSymBytes);
    }
  }

  // ---- decaps: u, v from c, then those of the second encryption

  /// Hashes what depends on z and c, and for ML-KEM compares the hash of ek with the stored one. Both are public.
  /// [FIPS203, 7.3]
  static void hash_inputs_gen_a(Chunk& c) {
    auto& t = c.t;
    if (c.expanded()) return hash_reject(c);
    const uint8_t *const dk = c.io.sk, *const ek = dk + P.ek_offset(), *const stored = dk + P.hash_offset();
    ct::declassify(ek, P.public_key_bytes() + kSymBytes);
    MatrixSampler<kK> sampler(t.own.pk.rows, ek + P.vector_bytes(), true, t.hash.squeezed);
    t.own.valid = 1;
    if constexpr (P.kyber()) {
      t.hash.round3.set(c.io.ct, 0, c.io.ct, polykem::lanes::kSha3Suffix);
      sampler.template sample_beside<kRound3Blocks, 1>(t.states, {t.hash.round3.bytes});
      store_digest(t.other, t.states, 0);
    } else {
      static_assert(kRejectBlocks == kEkBlocks);
      t.hash.ek.set(ek, 0, ek, polykem::lanes::kSha3Suffix);
      t.hash.reject.set(dk + P.z_offset(), kSymBytes, c.io.ct, polykem::lanes::kShakeSuffix);
      sampler.template sample_beside<kEkBlocks, 2>(t.states, {t.hash.ek.bytes, t.hash.reject.bytes});
      store_digest(t.own.pk.hash, t.states, 0);
      store_digest(t.other, t.states, 1);
      t.own.valid = std::memcmp(t.own.pk.hash, stored, kSymBytes) == 0;
    }
    std::memcpy(t.own.pk.hash, stored, kSymBytes);
  }

  static void hash_reject(Chunk& c) {
    auto& t = c.t;
    if constexpr (P.kyber()) {
      polykem::lanes::sha3_256_one<P.ciphertext_bytes()>(t.other, c.io.ct);
    } else {
      std::memcpy(t.hash.reject.bytes, c.sk().z, kSymBytes);
      std::memcpy(t.hash.reject.bytes + kSymBytes, c.io.ct, P.ciphertext_bytes());
      polykem::lanes::shake256_one<kSymBytes + P.ciphertext_bytes()>(t.other, t.hash.reject.bytes);
    }
  }

  static void load_c_dk(Chunk& c) {
    auto& t = c.t;
    for (size_t i = 0; i < kK; ++i)
      load_compressed<P.du>(t.poly.u[i], c.io.ct + i * (kN * P.du / 8));
    load_compressed<P.dv>(t.poly.u[kK], c.io.ct + P.u_bytes());
    if (c.expanded()) return;
    load_dk<P>(t.own, c.io.sk);
  }

  static void ntt_u(Chunk& c) {
    for (size_t i = 0; i < kK; ++i)
      forward(c.t.poly.u[i]);
  }

  static void mul_su(Chunk& c) {
    ntt::multiply_one_rows<kK, 1>(c.t.poly.w.c, c.sk().s->c, c.t.poly.u->c);
  }

  static void inverse_su(Chunk& c) {
    inverse(c.t.poly.w);
  }

  static void decode_m(Chunk& c) {
    store_message(c.t.hashed, c.t.poly.u[kK], c.t.poly.w);
  }

  static void compare_c(Chunk& c) {
    auto& t = c.t;
    store_uv<D>(t.poly.ct, t.poly.u);
    t.fail = differ(t.poly.ct, c.io.ct, P.ciphertext_bytes());
  }

  static void select(Chunk& c) {
    auto& t = c.t;
    const uint8_t* rejected = P.kyber() ? c.sk().z : t.other;
    ct::select_bytes(t.seeds, t.seeds, rejected, kSymBytes, t.fail);
    if constexpr (P.kyber()) {
      derive_kyber(c);
    } else {
      std::memcpy(c.io.ss_out, t.seeds, kSymBytes);
      if (c.sk().valid) return;
      *c.io.item_status = Status::secret_key;
      std::memset(c.io.ss_out, 0, kSymBytes);
    }
  }
};

/// Runs each item's plan before the next item's: its working memory stays in the nearest cache. But the hashes that end
/// keygen and round 3's encaps are computed for several items side by side.
template <MlkemParams P, class Isa, size_t kFewestTogether>
struct SingleOperations {
  using One = Operations<Kem<Ops<P, Isa>>, Chunk<P>>;
  static constexpr size_t kGranule = 1;
  template <Op kOp>
  static constexpr size_t kItems = 1;
  template <Op kOp>
  static constexpr auto kInfos = One::template kInfos<kOp>;

  /// What an item of round 3's encaps keeps for its last step: K, H(c).
  template <Op kOp>
  static constexpr size_t kKeptBytes = P.kyber() && kOp == Op::encaps ? 2 * kSymBytes : 0;
  /// Whether the last step is computed for all items at once, if they are kFewestTogether.
  template <Op kOp>
  static constexpr bool kEndsTogether = kOp == Op::keygen || kKeptBytes<kOp> != 0;

  template <Op kOp>
  static size_t workspace_bytes(size_t items) {
    return One::template workspace_bytes<kOp>(1) + Arena::bytes<uint8_t>(items * kKeptBytes<kOp>);
  }

  template <Op kOp>
  static Status run(const void*, const Batch& batch, std::byte* workspace, StepTimes* times) {
    const auto item = [&](size_t i) { return Batch{batch.slice(record_bytes<P>(kOp), i, 1), batch.drbg}; };
    if constexpr (kEndsTogether<kOp>) {
      if (batch.count >= kFewestTogether) return run_together<kOp>(batch, item, workspace, times);
    }
    for (size_t i = 0; i < batch.count; ++i) {
      const Status status = One::template run<kOp>(nullptr, item(i), workspace, times);
      if (status != Status::ok) return status;
    }
    return Status::ok;
  }

 private:
  template <Op kOp, class Item>
  static Status run_together(const Batch& batch, Item&& item, std::byte* workspace, StepTimes* times) {
    constexpr const auto& plan = One::template plan<kOp>();
    Arena arena(workspace);
    auto* const of_one = arena.take<std::byte>(One::template workspace_bytes<kOp>(1));
    auto* const kept = arena.take<uint8_t>(batch.count * kKeptBytes<kOp>);
    for (size_t i = 0; i < batch.count; ++i) {
      const Batch alone = item(i);
      Chunk<P> chunk(alone, of_one);
      run_all_but_last(plan, chunk, times);
      if constexpr (kKeptBytes<kOp> != 0) std::memcpy(kept + i * kKeptBytes<kOp>, chunk.t.seeds, kSymBytes);
    }
    StepClock clock(times);
    end_together<kOp>(batch, kept);
    clock.stop(plan.size() - 1, batch.count);
    return Status::ok;
  }

  /// The last step of all items: hash_new_ek, or store_ss of round 3.
  template <Op kOp>
  static void end_together(const Batch& batch, uint8_t* kept) {
    static_assert(One::template plan<kOp>().back().run ==
                  (kOp == Op::keygen ? Ops<P, Isa>::hash_new_ek : Ops<P, Isa>::store_ss));
    const KeccakLanes& keccak = Isa::keccak();
    if constexpr (kOp == Op::keygen) {
      keccak.sha3_256({batch.sk_out + P.hash_offset(), P.secret_key_bytes()}, {batch.pk_out, P.public_key_bytes()},
                      P.public_key_bytes(), batch.count);
    } else {
      constexpr size_t kBytes = kKeptBytes<kOp>;
      keccak.sha3_256({kept + kSymBytes, kBytes}, {batch.ct_out, P.ciphertext_bytes()}, P.ciphertext_bytes(),
                      batch.count);
      keccak.shake256({batch.ss_out, kSymBytes}, kSymBytes, {kept, kBytes}, kBytes, batch.count);
    }
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem::single
