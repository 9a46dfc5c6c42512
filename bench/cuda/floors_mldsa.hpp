// SPDX-License-Identifier: Apache-2.0
// The least work of ML-DSA's stages, in permutations, butterflies, tensor-core products and integer operations.
#pragma once

#include <string_view>
#include <utility>

#include "floors_units.hpp"
#include "schemes/mldsa/params.hpp"
#include "schemes/mldsa/stages.hpp"

namespace polykem::bench {

struct MldsaSet {
  const char* name;
  mldsa::MldsaParams params;
  double attempts;  ///< average number of attempts for a signature [FIPS204, 4, Table 1]
};

inline constexpr MldsaSet kMldsaSets[] = {
    {"mldsa44", mldsa::kMldsa44, 4.25}, {"mldsa65", mldsa::kMldsa65, 5.1}, {"mldsa87", mldsa::kMldsa87, 3.85}};

inline constexpr OpStages kMldsaStages{mldsa::kKeygenStages, {}, {}, mldsa::kSignStages, mldsa::kVerifyStages};

/// Returns false if the stage is unknown. shared: the batch has one key, and work that depends only on the key is not
/// counted. Messages have 32 bytes. Operations: 2 for each candidate of rejection sampling (extract, compare), 1 for
/// one of 4 bits, 1 for a coefficient that is packed or unpacked, half of one of s1 and s2, which are bytes before, 2
/// for one that is split in two or added and compared with a bound, 3 for one that is decomposed and packed. A product
/// in the transformed domain has 64 bits.
constexpr bool mldsa_work(const MldsaSet& set, Op op, std::string_view stage, bool shared, Work& work) {
  constexpr double kRate = 136, kTransform = 8 * 128, n = mldsa::kN, kBall = 1, kCandidates = n * 0x800000 / mldsa::kQ;
  const mldsa::MldsaParams& p = set.params;
  const double k = static_cast<double>(p.k), l = static_cast<double>(p.l);
  const double pk = static_cast<double>(p.public_key_bytes()), eta_candidates = p.eta == 2 ? n * 16 / 15 : n * 16 / 9;
  const double eta = static_cast<double>(p.eta_bytes()), t0 = static_cast<double>(p.t0_bytes());
  const double t1 = static_cast<double>(p.t1_bytes()), z = static_cast<double>(p.z_bytes());
  const double challenge = absorbed(64 + k * static_cast<double>(p.w1_bytes()), kRate);
  const double attempts = op == Op::kSign ? set.attempts : 1, of_key = shared ? 0 : 1;
  const bool keygen = op == Op::kKeygen;
  const auto each_attempt = [&](const Work& one) { return work = one.times(attempts), true; };
  if (stage == "randombytes") return work.random_blocks = 1, true;
  if (stage == "shake256.seed") return work.permutations = 1, true;
  if (stage == "expand_a") {
    if (!shared) work = {.permutations = 5 * k * l, .operations = 2 * kCandidates * k * l};
    return true;
  }
  if (stage == "expand_s")
    return work = {.permutations = (k + l) * squeezed(eta_candidates / 2, kRate),
                   .operations = eta_candidates * (k + l)},
           true;
  if (stage == "ntt" && keygen) return work.butterflies = kTransform * l, true;
  if (stage == "ntt") {
    work = {.butterflies = kTransform * (l + 1), .operations = n * l, .bytes = l * z};
    work += Work{.butterflies = kTransform * k, .operations = n * k, .bytes = k * t1}.times(of_key);
    return true;
  }
  if (stage == "multiply") return work.multiplications = 2 * n * (keygen ? k * l : k * l + k), true;
  if (stage == "inverse_ntt") return work.butterflies = kTransform * k, true;
  if (stage == "power2round_pack") return work = {.operations = 4 * n * k, .bytes = pk + k * t0}, true;
  if (stage == "pack_sk") return work = {.operations = n * (k + l) / 2, .bytes = (k + l) * eta}, true;
  if (stage == "shake256.tr") {
    if (!shared || keygen) work = {.permutations = absorbed(pk, kRate), .bytes = pk};
    return true;
  }
  if (stage == "shake256.mu") return work.permutations = 1, true;
  // Products with s1, s2 and t0 have small integers as factors and need no transforms. Keys and signatures are unpacked
  // where they are multiplied.
  if (stage == "unpack_sk" || stage == "ntt.key" || stage == "unpack") return true;
  if (stage == "expand_mask")
    return each_attempt({.permutations = l * squeezed(static_cast<double>(p.z_bytes()), kRate)});
  if (stage == "ntt.y") return each_attempt({.butterflies = kTransform * l, .operations = n * l});
  if (stage == "multiply.ay") return each_attempt({.multiplications = 2 * n * k * l});
  if (stage == "inverse_ntt.w") return each_attempt({.butterflies = kTransform * k});
  if (stage == "high_bits") return each_attempt({.operations = 3 * n * k});
  if (stage == "shake256.c") return each_attempt({.permutations = challenge});
  if (stage == "sample_in_ball") return each_attempt({.permutations = kBall});
  if (stage == "low_bits") {
    each_attempt({.operations = 2 * n * k, .macs = n * n * k});
    return work.bytes = of_key * k * eta, true;
  }
  if (stage == "response") return work = {.operations = 2 * n * l, .macs = n * n * l, .bytes = of_key * l * eta}, true;
  if (stage == "hint") return work = {.operations = 2 * n * k, .macs = 2 * n * n * k, .bytes = of_key * k * t0}, true;
  if (stage == "pack_signature") return work = {.operations = n * l, .bytes = l * z}, true;
  if (stage == "use_hint") return work.operations = 3 * n * k, true;
  if (stage == "compare") return true;
  return false;
}

constexpr bool mldsa_floors_are_complete() {
  for (const Op op : {Op::kKeygen, Op::kSign, Op::kVerify}) {
    for (const Stage& stage : kMldsaStages.of(op)) {
      Work work;
      if (!mldsa_work(kMldsaSets[0], op, stage.name, false, work)) return false;
    }
  }
  return true;
}
static_assert(mldsa_floors_are_complete());

}  // namespace polykem::bench
