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
/// counted. A product takes n^2 multiply-adds for each of the two bytes of A or b. Operations: 1 for a coefficient that
/// is packed, unpacked or sampled, or whose two products are joined, 2 for one of the message (subtract, round). A, b
/// and s' stay packed until they are multiplied: of two coefficients in a register each must be moved by a distance of
/// its own and parted from what is between them, for which no operation suffices.
constexpr bool saber_work(const saber::SaberParams& p, Op op, std::string_view stage, bool shared, Work& work) {
  constexpr double kShakeRate = 168, kRate = 136, n = saber::kN, kProduct = 2 * n * n;
  const double l = static_cast<double>(p.l), vector = static_cast<double>(p.vector_bytes());
  const double pk = static_cast<double>(p.public_key_bytes()), ct = static_cast<double>(p.ciphertext_bytes());
  const double sk = static_cast<double>(p.secret_key_bytes()), secret = static_cast<double>(p.secret_bytes());
  const bool keygen = op == Op::kKeygen;
  if (stage == "randombytes") return work = {.permutations = keygen ? 0.0 : 1, .random_blocks = keygen ? 2.0 : 1}, true;
  if (stage == "shake128" || stage == "sha3_512") return work.permutations = 1, true;
  if (stage == "gen_matrix") {
    if (!shared || keygen) work.permutations = squeezed(static_cast<double>(p.matrix_bytes()), kShakeRate);
    return true;
  }
  if (stage == "gen_secret")
    return work.permutations = squeezed(static_cast<double>(p.noise_bytes()), kShakeRate), true;
  if (stage == "matrix_vector_mul") {
    work = {.operations = n * l, .macs = kProduct * l * (keygen ? l : l + 1)};
    if (!shared || keygen) work.operations += n * l * l;
    if (!shared && !keygen) work.operations += n * l, work.bytes = vector;
    return true;
  }
  if (stage == "inner_prod") return work.macs = kProduct * l, true;
  if (stage == "round_tobytes" && keygen)
    return work = {.operations = 2 * n * l, .bytes = pk + sk - saber::kSymBytes}, true;
  if (stage == "round_tobytes" || stage == "round_compare")
    return work = {.operations = 2 * n * (l + 1), .bytes = ct}, true;
  if (stage == "frombytes") {
    work = {.operations = n * (l + 1), .bytes = ct};
    if (!shared) work.operations += n * l, work.bytes += secret;
    return true;
  }
  if (stage == "tomsg") return work.operations = 2 * n, true;
  if (stage == "sha3_256.pk") {
    if (!shared || keygen) work = {.permutations = absorbed(pk, kRate), .bytes = pk};
    return true;
  }
  if (stage == "sha3_256.c")
    return work = {.permutations = absorbed(ct, kRate) + (op == Op::kEncaps ? 1 : 0), .bytes = ct}, true;
  if (stage == "cmov") return work.permutations = 1, true;
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
