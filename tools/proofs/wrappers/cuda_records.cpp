// SPDX-License-Identifier: Apache-2.0
// Packing, noise and operands of tensor cores in the device headers of Saber, NTRU, ML-DSA and LAC, compiled for the
// host, for proofs: tools/proofs/README.md.
#include "core/isa.hpp"

#if !defined(POLYKEM_ISA_AVX2) && !defined(POLYKEM_ISA_AVX512) && !defined(POLYKEM_ISA_NEON)

#include <array>
#include <cstring>
#include <tuple>
#include <utility>

#include "tools/proofs/wrappers/cuda_warp.hpp"

// After the keywords. The exchange between columns and rows is for NVIDIA's compiler only.
#define __CUDACC__
#include "prim/ntt/cuda/ntt.cuh"
#undef __CUDACC__
#include "schemes/lac/cuda/code.cuh"
#include "schemes/lac/cuda/products.cuh"
#include "schemes/mldsa/cuda/response.cuh"
#include "schemes/ntru/cuda/groups.cuh"
#include "schemes/saber/cuda/fields.cuh"

using polykem::host_warp::as_warp;

#define FUNCTION(name) extern "C" void cuda_##name

// ---- Saber

namespace saber = polykem::saber::cuda;

namespace {
template <int kBits>
void saber_unpack(uint32_t* out, const uint8_t* packed) {
  as_warp(1, [&](unsigned lane) {
    const saber::PackedPolys<kBits> polys(packed, lane);
    typename saber::PackedPolys<kBits>::Group group;
    polys.load(group, 0);
    saber::Pairs pairs;
    polys.unpack(pairs, group);
    std::memcpy(out + 4 * lane, pairs, sizeof pairs);
  });
}
template <class F>
void each_pairs(const uint32_t* in, F f) {
  as_warp(1, [&](unsigned lane) {
    saber::Pairs pairs;
    std::memcpy(pairs, in + 4 * lane, sizeof pairs);
    f(pairs, lane);
  });
}
void put(uint8_t* to, uint2 bytes) {
  std::memcpy(to, &bytes, sizeof bytes);
}
/// The difference of sums of bits, as signed bytes, their negatives, and mod 2^13.
template <int kMu>
void saber_secret(uint8_t* bytes, uint8_t* negated, uint32_t* words, const uint32_t* fields) {
  each_pairs(fields, [&](const saber::Pairs& pairs, unsigned lane) {
    const saber::SecretGroup<kMu> group(pairs);
    saber::ByteGroup own, minus;
    group.to_bytes(own, minus);
    put(bytes + 8 * lane, own[0]), put(negated + 8 * lane, minus[0]);
    saber::Pairs mod_q;
    group.to_pairs(mod_q);
    std::memcpy(words + 4 * lane, mod_q, sizeof mod_q);
  });
}
}  // namespace

#define SABER_UNPACK(bits)                                               \
  FUNCTION(saber_unpack_##bits)(uint32_t * out, const uint8_t* packed) { \
    saber_unpack<bits>(out, packed);                                     \
  }
SABER_UNPACK(6)
SABER_UNPACK(8)
SABER_UNPACK(10)
SABER_UNPACK(13)
#define SABER_PACK(bits)                                                                                      \
  FUNCTION(saber_pack_##bits)(uint8_t * out, const uint32_t* in) {                                            \
    each_pairs(in, [&](const auto& pairs, unsigned lane) { saber::pack_to_shared<bits>(out, pairs, lane); }); \
  }
SABER_PACK(3)
SABER_PACK(4)
SABER_PACK(6)
SABER_PACK(10)
SABER_PACK(13)
#define SABER_SECRET(mu)                                                                                      \
  FUNCTION(saber_secret_##mu)(uint8_t * bytes, uint8_t * negated, uint32_t * words, const uint32_t* fields) { \
    saber_secret<mu>(bytes, negated, words, fields);                                                          \
  }
SABER_SECRET(6)
SABER_SECRET(8)
SABER_SECRET(10)
/// Both bytes of words below 2^13, then those of their negatives.
FUNCTION(saber_limbs)(uint8_t* out, const uint32_t* in) {
  each_pairs(in, [&](const saber::Pairs& pairs, unsigned lane) {
    const saber::Limbs limbs(pairs);
    for (int limb = 0; limb < 2; ++limb) {
      put(out + 256 * limb + 8 * lane, limbs.bytes[limb][0]);
      put(out + 512 + 256 * limb + 8 * lane, limbs.negated[limb][0]);
    }
  });
}

// ---- operands of negacyclic products

namespace {
template <int N>
void negacyclic_groups(const uint8_t* row, unsigned lane, polykem::cuda::NegacyclicGroups<N>& groups) {
  for (size_t i = 0; i < N / 256; ++i)
    std::memcpy(&groups[i], row + 8 * (lane + 32 * i), 8);
}
/// Writes one limb of both operands, each from a polynomial's bytes and those of its negative.
template <int N>
void negacyclic_store(uint8_t* plain, uint8_t* reversed, const uint8_t* bytes, const uint8_t* negated) {
  as_warp(2, [&](unsigned lane) {
    polykem::cuda::NegacyclicGroups<N> own, minus;
    negacyclic_groups<N>(bytes, lane, own), negacyclic_groups<N>(negated, lane, minus);
    polykem::cuda::store_plain<N>(plain, own, minus, lane);
    polykem::cuda::store_reversed<N>(reversed, own, minus, lane);
  });
}
}  // namespace

#define NEGACYCLIC(n)                                                                   \
  FUNCTION(negacyclic_##n)                                                              \
  (uint8_t * plain, uint8_t * reversed, const uint8_t* bytes, const uint8_t* negated) { \
    negacyclic_store<n>(plain, reversed, bytes, negated);                               \
  }
NEGACYCLIC(256)
NEGACYCLIC(512)
NEGACYCLIC(1024)

// ---- operands of NTRU's products

namespace {
template <int N, polykem::cuda::MulKind kKind, int kLimbBits>
void cyclic_store(uint8_t* shared, const uint16_t* a, const uint16_t* b) {
  as_warp(2, [&](unsigned) {
    polykem::cuda::LimbOperands<N, kKind, kLimbBits> operands(shared);
    typename polykem::cuda::LimbOperands<N, kKind, kLimbBits>::Groups group;
    polykem::cuda::load_groups<N, kKind>(group, a);
    operands.store_a(group);
    polykem::cuda::load_groups<N, kKind>(group, b);
    operands.store_b(group);
  });
}
}  // namespace

#define CYCLIC(n)                                                                       \
  FUNCTION(limbs_##n)(uint8_t * shared, const uint16_t* a, const uint16_t* b) {         \
    cyclic_store<n, polykem::cuda::MulKind::kGeneral, 8>(shared, a, b);                 \
  }                                                                                     \
  FUNCTION(limbs_ternary_##n)(uint8_t * shared, const uint16_t* a, const uint16_t* b) { \
    cyclic_store<n, polykem::cuda::MulKind::kTernary, 7>(shared, a, b);                 \
  }
CYCLIC(509)
CYCLIC(677)
CYCLIC(701)
CYCLIC(821)
CYCLIC(1229)
CYCLIC(1373)

// ---- NTRU

namespace ntru = polykem::ntru::cuda;

#define EACH(name, expression)       \
  FUNCTION(name)(uint32_t * a) {     \
    for (size_t n = 0; n < 8; ++n) { \
      const uint32_t x = a[n];       \
      a[n] = expression;             \
    }                                \
  }
EACH(ntru_mod3, ntru::mod3(x))
EACH(ntru_mod3_bytes, ntru::mod3_bytes(x))
EACH(ntru_centred_bytes, ntru::centred_bytes(x))
EACH(ntru_trit_bytes, ntru::trit_bytes(x))

namespace {
constexpr int kGuard = ntru::kGuard;
template <class Set>
void ntru_unpack(uint16_t* out, const uint8_t* packed) {
  as_warp(1, [&](unsigned lane) {
    ntru::Groups<Set> c;
    ntru::load_packed<Set>(c, packed, lane);
    ntru::for_each_group<Set>(lane, [&](int i, int j) { std::memcpy(out + 8 * j, &c[i], sizeof c[i]); });
  });
}
template <class Set>
void ntru_close_sum(uint16_t* row) {
  as_warp(6, [&](unsigned lane) {
    ntru::Groups<Set> c;
    ntru::for_each_group<Set>(lane, [&](int i, int j) { std::memcpy(&c[i], row + 8 * j, sizeof c[i]); });
    ntru::close_sum<Set>(c, lane);
    constexpr int kLast = ntru::GroupShape<Set>::kLastGroup;
    if (lane == kLast % 32) row[ntru::Shape<Set>::kN - 1] = static_cast<uint16_t>(c[kLast / 32].z);
  });
}
template <class Set>
void ntru_lift(uint8_t* trits, const uint8_t* m) {
  as_warp(
      13, [&](unsigned lane) { ntru::lift_quotient<Set>(trits, lane); },
      [&] { std::memcpy(trits, m, ntru::Shape<Set>::kRow); });
}
}  // namespace

#define NTRU(name, Set)                                                                     \
  FUNCTION(ntru_pack_##name)(uint8_t * out, uint16_t * c) {                                 \
    as_warp(2, [&](unsigned lane) { ntru::store_rq<ntru::Set>(out, c + kGuard, lane); });   \
  }                                                                                         \
  FUNCTION(ntru_unpack_##name)(uint16_t * out, const uint8_t* packed) {                     \
    ntru_unpack<ntru::Set>(out, packed);                                                    \
  }                                                                                         \
  FUNCTION(ntru_close_sum_##name)(uint16_t * row) {                                         \
    ntru_close_sum<ntru::Set>(row);                                                         \
  }                                                                                         \
  FUNCTION(ntru_pack_trits_##name)(uint8_t * out, const uint8_t* trits) {                   \
    as_warp(1, [&](unsigned lane) { ntru::store_trits<ntru::Set>(out, trits, lane); });     \
  }                                                                                         \
  FUNCTION(ntru_unpack_trits_##name)(uint8_t * trits, const uint8_t* packed) {              \
    as_warp(1, [&](unsigned lane) { ntru::unpack_trits<ntru::Set>(trits, packed, lane); }); \
  }                                                                                         \
  FUNCTION(ntru_lifted_##name)(uint8_t * row, const uint8_t* trits) {                       \
    as_warp(1, [&](unsigned lane) { ntru::store_lifted<ntru::Set>(row, trits, lane); });    \
  }                                                                                         \
  FUNCTION(ntru_sample_##name)(uint8_t * trits, const uint8_t* coins) {                     \
    as_warp(1, [&](unsigned lane) { ntru::sample_iid<ntru::Set>(trits, coins, lane); });    \
  }
NTRU(hps2048509, Hps2048509)
NTRU(hps2048677, Hps2048677)
NTRU(hps4096821, Hps4096821)
NTRU(hrss701, Hrss701)
NTRU(hps40961229, Hps40961229)
NTRU(hrss1373, Hrss1373)
FUNCTION(ntru_lift_hrss701)(uint8_t* trits, const uint8_t* m) {
  ntru_lift<ntru::Hrss701>(trits, m);
}
FUNCTION(ntru_lift_hrss1373)(uint8_t* trits, const uint8_t* m) {
  ntru_lift<ntru::Hrss1373>(trits, m);
}

// ---- ML-DSA

namespace dsa = polykem::mldsa::cuda;
using polykem::cuda::Coefficients, polykem::cuda::kPolyLanes, polykem::cuda::kLaneCoefficients;

namespace {
/// Calls f(coefficients, lane) for the 16 lanes of a polynomial, which read it in columns or rows and write it in such.
template <bool kRowsBefore, bool kRowsAfter, class F>
void each_lane(uint32_t* out, const uint32_t* in, unsigned passes, F f) {
  const auto at = [](bool rows, unsigned l, unsigned r) { return rows ? 16 * l + r : l + 16 * r; };
  as_warp(passes, [&](unsigned lane) {
    if (lane >= kPolyLanes) return;
    Coefficients own{};  // GCC does not see that f sets what `in` does not
    for (unsigned r = 0; in != nullptr && r < kLaneCoefficients; ++r)
      own[r] = in[at(kRowsBefore, lane, r)];
    f(own, lane);
    for (unsigned r = 0; out != nullptr && r < kLaneCoefficients; ++r)
      out[at(kRowsAfter, lane, r)] = own[r];
  });
}
template <int kBits>
void mldsa_pack(uint32_t* out, const uint32_t* fields) {
  each_lane<true, true>(nullptr, fields, 1,
                        [&](Coefficients& own, unsigned l) { polykem::cuda::pack_to_shared<kBits>(out, own, l); });
}
template <int kBits>
void mldsa_unpack(uint32_t* out, const uint8_t* packed) {
  each_lane<false, false>(out, nullptr, 1, [&](Coefficients& own, unsigned l) {
    for (unsigned r = 0; r < kLaneCoefficients; ++r)
      own[r] = polykem::cuda::packed_field<kBits>(packed, l + kPolyLanes * r);
  });
}
template <class Set, bool kMinus>
void mldsa_small(uint32_t* out, const uint8_t* packed) {
  for (unsigned i = 0; i < 64; ++i)
    out[i] = dsa::small_bytes<Set, kMinus>(packed, i);
}
}  // namespace

#define MLDSA_PACK(bits)                                                 \
  FUNCTION(mldsa_pack_##bits)(uint32_t * out, const uint32_t* fields) {  \
    mldsa_pack<bits>(out, fields);                                       \
  }                                                                      \
  FUNCTION(mldsa_unpack_##bits)(uint32_t * out, const uint8_t* packed) { \
    mldsa_unpack<bits>(out, packed);                                     \
  }
MLDSA_PACK(3)
MLDSA_PACK(4)
MLDSA_PACK(10)
MLDSA_PACK(13)
MLDSA_PACK(18)
MLDSA_PACK(20)
#define MLDSA_UNPACK_BELOW(bits)                                                                                   \
  FUNCTION(mldsa_unpack_below_##bits)(uint32_t * out, const uint8_t* packed, uint32_t top) {                       \
    each_lane<false, false>(out, nullptr, 1,                                                                       \
                            [&](Coefficients& own, unsigned l) { dsa::unpack_below<bits>(own, packed, top, l); }); \
  }
MLDSA_UNPACK_BELOW(18)
MLDSA_UNPACK_BELOW(20)
#define MLDSA_W1(bits)                                                                                           \
  FUNCTION(mldsa_w1_##bits)(uint8_t * out, const uint32_t* w1, uint32_t* exchange) {                             \
    each_lane<false, false>(nullptr, w1, 2,                                                                      \
                            [&](Coefficients& own, unsigned l) { dsa::store_w1<bits>(out, own, exchange, l); }); \
  }
MLDSA_W1(4)
MLDSA_W1(6)
#define MLDSA_SMALL(name, Set)                                             \
  FUNCTION(mldsa_small_##name)(uint32_t * out, const uint8_t* packed) {    \
    mldsa_small<dsa::Set, false>(out, packed);                             \
  }                                                                        \
  FUNCTION(mldsa_negative_##name)(uint32_t * out, const uint8_t* packed) { \
    mldsa_small<dsa::Set, true>(out, packed);                              \
  }
MLDSA_SMALL(2, Mldsa44)
MLDSA_SMALL(4, Mldsa65)
FUNCTION(mldsa_t0_bytes)(uint32_t* low, uint32_t* high, const uint8_t* packed) {
  for (unsigned i = 0; i < 64; ++i)
    dsa::t0_bytes(low[i], high[i], packed, i);
}
FUNCTION(mldsa_candidates)(uint32_t* out, const uint64_t* state) {
  const auto& words = *reinterpret_cast<const uint64_t(*)[25]>(state);
  for (int n = 0; n < dsa::kCandidates; ++n)
    out[n] = dsa::candidate(words, n);
}
EACH(mldsa_reduced_twice, dsa::reduced_once(dsa::reduced_once(x)))
/// Sums of products of `terms` pairs of polynomials, word by word.
FUNCTION(mldsa_products)(uint32_t* out, const uint32_t* a, const uint32_t* b, unsigned terms) {
  each_lane<true, true>(out, nullptr, 1, [&](Coefficients& own, unsigned l) {
    dsa::Sums sums;
    for (unsigned term = 0; term < terms; ++term) {
      Coefficients x, y;
      std::memcpy(x, a + 256 * term + 16 * l, sizeof x), std::memcpy(y, b + 256 * term + 16 * l, sizeof y);
      sums.add(x, y);
    }
    sums.reduce(own);
  });
}

// ---- LAC

namespace lac = polykem::lac::cuda;

namespace {
template <size_t kSet>
using LacProduct = lac::Product<lac::Shape<kSet>>;
}

EACH(lac_signs, LacProduct<0>::sign_bytes(x))
EACH(lac_negated_signs, LacProduct<0>::negated_signs(x))
EACH(lac_reduced_bytes, LacProduct<0>::reduced_bytes(x))
EACH(lac_reduced, LacProduct<1>::reduced(static_cast<int>(x)))
EACH(lac_spread_bits, lac::spread_bits(x & 0xffff))
FUNCTION(lac_compressed)(uint8_t* out, const uint8_t* in) {
  for (size_t n = 0; n < 8; ++n)
    out[n] = static_cast<uint8_t>(lac::compressed(in[2 * n] | uint32_t{in[2 * n + 1]} << 16));
}
using LacScratch = lac::ProductScratch<lac::Shape<0>, 1, 16>;
#define LAC_LOAD(set)                                                             \
  FUNCTION(lac_load_##set)(uint8_t * out, const uint8_t* record, LacScratch& s) { \
    as_warp(1, [&](unsigned lane) {                                               \
      const LacProduct<set> product(s, lane);                                     \
      typename LacProduct<set>::Groups groups;                                    \
      product.load(groups, record);                                               \
      for (size_t i = 0; i < LacProduct<set>::kRounds; ++i)                       \
        put(out + 8 * (lane + 32 * i), groups[i]);                                \
    });                                                                           \
  }
LAC_LOAD(0)
LAC_LOAD(1)

/// e2 from the PRG's bytes, and 125 times the bits of `code`.
#define LAC_NOISE2(set)                                                                      \
  FUNCTION(lac_noise2_##set)(uint8_t * row, const uint32_t* stream, const uint32_t* code) {  \
    using S = lac::Shape<set>;                                                               \
    uint32_t words[4 * S::kNoise2Blocks];                                                    \
    std::memcpy(words, stream, sizeof words);                                                \
    for (int w = 0; w < S::kC2Words; ++w) {                                                  \
      const uint2 signs = lac::noise2_signs<S, false>(words, w);                             \
      for (unsigned i = 0; i < 32; ++i)                                                      \
        row[32 * w + i] = static_cast<uint8_t>(lac::noise_at(signs.x, signs.y, code[w], i)); \
    }                                                                                        \
  }
LAC_NOISE2(0)
LAC_NOISE2(1)
LAC_NOISE2(2)

#endif
