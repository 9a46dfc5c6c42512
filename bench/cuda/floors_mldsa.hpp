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
/// counted. Messages have 32 bytes. Operations: 4 for each candidate of rejection sampling (extract, compare, count,
/// store), 2 for a coefficient that is packed or unpacked (shift, mask) or multiplied and added, 6 for one that is
/// decomposed or compared with a bound.
constexpr bool mldsa_work(const MldsaSet& set, Op op, std::string_view stage, bool shared, Work& work) {
  constexpr double kRate = 136, kTransform = 8 * 128, n = mldsa::kN, kBall = 1;
  const mldsa::MldsaParams& p = set.params;
  const double k = static_cast<double>(p.k), l = static_cast<double>(p.l);
  const double pk = static_cast<double>(p.public_key_bytes()), eta_candidates = p.eta == 2 ? n * 16 / 15 : n * 16 / 9;
  const double challenge = absorbed(64 + k * static_cast<double>(p.w1_bytes()), kRate);
  const double attempts = op == Op::kSign ? set.attempts : 1;
  const bool keygen = op == Op::kKeygen;
  const auto each_attempt = [&](Work one) {
    for (double* amount : {&one.permutations, &one.butterflies, &one.operations, &one.macs})
      *amount *= attempts;
    return work = one, true;
  };
  if (stage == "randombytes") return work.random_blocks = 1, true;
  if (stage == "shake256.seed") return work.permutations = 1, true;
  if (stage == "expand_a") {
    if (!shared) work = {.permutations = 5 * k * l, .operations = 4 * 256 * k * l};
    return true;
  }
  if (stage == "expand_s")
    return work = {.permutations = (k + l) * squeezed(eta_candidates / 2, kRate),
                   .operations = 4 * eta_candidates * (k + l)},
           true;
  if (stage == "ntt") return work.butterflies = kTransform * (keygen ? l : l + 1 + (shared ? 0 : k)), true;
  if (stage == "multiply") return work.operations = 2 * n * (keygen ? k * l : k * l + k), true;
  if (stage == "inverse_ntt") return work.butterflies = kTransform * k, true;
  if (stage == "power2round_pack") return work.operations = 2 * 2 * n * k, true;
  if (stage == "pack_sk") return work.operations = 2 * n * (k + l), true;
  if (stage == "shake256.tr") {
    if (!shared || keygen) work.permutations = absorbed(pk, kRate);
    return true;
  }
  if (stage == "shake256.mu") return work.permutations = 1, true;
  // Products with s1, s2 and t0 have small integers as factors and need no transforms.
  if (stage == "unpack_sk" || stage == "ntt.key") return true;
  if (stage == "unpack") return work.operations = 2 * n * (l + k), true;
  if (stage == "expand_mask")
    return each_attempt({.permutations = l * squeezed(static_cast<double>(p.z_bytes()), kRate)});
  if (stage == "ntt.y") return each_attempt({.butterflies = kTransform * l, .operations = 2 * n * l});
  if (stage == "multiply.ay") return each_attempt({.operations = 2 * n * k * l});
  if (stage == "inverse_ntt.w") return each_attempt({.butterflies = kTransform * k});
  if (stage == "high_bits") return each_attempt({.operations = 6 * n * k});
  if (stage == "shake256.c") return each_attempt({.permutations = challenge});
  if (stage == "sample_in_ball") return each_attempt({.permutations = kBall});
  if (stage == "low_bits") return each_attempt({.operations = 6 * n * k, .macs = n * n * k});
  if (stage == "response") return work = {.operations = 6 * n * l, .macs = n * n * l}, true;
  if (stage == "hint") return work = {.operations = 6 * n * k, .macs = 2 * n * n * k}, true;
  if (stage == "pack_signature") return work.operations = 2 * n * l, true;
  if (stage == "use_hint") return work.operations = 6 * n * k, true;
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
