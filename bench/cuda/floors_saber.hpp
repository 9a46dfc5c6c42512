// SPDX-License-Identifier: Apache-2.0
// The least work of Saber's stages, in permutations, products on int8 tensor cores and integer operations.
#pragma once

#include <string_view>
#include <utility>

#include "floors_units.hpp"
#include "schemes/saber/params.hpp"
#include "schemes/saber/stages.hpp"

namespace polykem::bench {

inline constexpr std::pair<const char*, saber::SaberParams> kSaberSets[] = {
    {"lightsaber", saber::kLightSaber}, {"saber", saber::kSaber}, {"firesaber", saber::kFireSaber}};

/// Returns false if the stage is unknown. shared: the batch has one public key, and work that depends only on it is not
/// counted. A product takes n^2 multiply-adds for each of the two bytes of A or b. Operations: 2 for a coefficient that
/// is packed or unpacked (shift, mask), 3 for one of s (four at a time in a word), 3 for one that is rounded, added or
/// compared.
constexpr bool saber_work(const saber::SaberParams& p, Op op, std::string_view stage, bool shared, Work& work) {
  constexpr double kShakeRate = 168, kRate = 136, n = saber::kN, kProduct = 2 * n * n;
  const double l = static_cast<double>(p.l);
  const double pk = static_cast<double>(p.public_key_bytes()), ct = static_cast<double>(p.ciphertext_bytes());
  const bool keygen = op == Op::kKeygen;
  if (stage == "randombytes") return work = {.permutations = keygen ? 0.0 : 1, .random_blocks = keygen ? 2.0 : 1}, true;
  if (stage == "shake128" || stage == "sha3_512") return work.permutations = 1, true;
  if (stage == "gen_matrix") {
    if (!shared || keygen) {
      work.permutations = squeezed(static_cast<double>(p.matrix_bytes()), kShakeRate);
      work.operations = 2 * n * l * l;
    }
    return true;
  }
  if (stage == "gen_secret") {
    work.permutations = squeezed(static_cast<double>(p.noise_bytes()), kShakeRate);
    return work.operations = 3 * n * l, true;
  }
  if (stage == "matrix_vector_mul") return work.macs = kProduct * l * (keygen ? l : l + 1), true;
  if (stage == "inner_prod") return work.macs = kProduct * l, true;
  if (stage == "round_tobytes" || stage == "round_compare") return work.operations = 5 * n * (l + 1), true;
  if (stage == "frombytes") return work.operations = 2 * n * (2 * l + 1), true;
  if (stage == "tomsg") return work.operations = 3 * n, true;
  if (stage == "sha3_256.pk") {
    if (!shared || keygen) work.permutations = absorbed(pk, kRate);
    return true;
  }
  if (stage == "sha3_256.c") {
    work.permutations = absorbed(ct, kRate) + (op == Op::kEncaps ? 1 : 0);
    return true;
  }
  if (stage == "cmov") {
    work.permutations = 1;
    if (!shared) work.skipped_bytes = static_cast<double>(p.secret_key_bytes() - saber::kSymBytes);  // it reads only z
    return true;
  }
  return false;
}

constexpr bool saber_floors_are_complete() {
  for (const Op op : {Op::kKeygen, Op::kEncaps, Op::kDecaps}) {
    for (const Stage& stage : saber::kStages.of(op)) {
      Work work;
      if (!saber_work(saber::kSaber, op, stage.name, false, work)) return false;
    }
  }
  return true;
}
static_assert(saber_floors_are_complete());

}  // namespace polykem::bench
