// SPDX-License-Identifier: Apache-2.0
// FrodoKEM's three operations. Read this first: one step per stage, in order, the same on every instruction set. The
// tiled steps take turns: each round generates and multiplies a few rows of A. Where a CPU does both at once, they are
// one step.
#pragma once

#include <array>

#include "schemes/frodo/stages.hpp"
#include "schemes/frodo/state.hpp"
#include "schemes/frodo/steps.hpp"

namespace polykem::frodo {

/// Returns a plan of one step per stage in which `both` takes the place of the two steps that it covers.
template <const auto& kStages, size_t N>
consteval auto fused(const std::array<Step<State>, N>& plan, const Step<State, StepStages>& both) {
  const Step<State> step{step_info(kStages, both.info), both.run};
  std::array<Step<State>, N - 1> result{};
  for (size_t i = 0; i + 1 < N; ++i)
    result[i] = i < step.info.first ? plan[i] : i == step.info.first ? step : plan[i + 1];
  return result;
}

struct Kem {
  static constexpr auto keygen = plan_of<kKeygenStages, State>({
      {"randombytes", steps::make_keygen_coins},
      {"shake.seed_a", steps::expand_seed_a},
      {"shake.r", steps::expand_r_keygen},
      {"sample_matrix", steps::sample_s_e},
      {tiled("gen_a"), steps::gen_a_keygen},
      {tiled("matmul.as"), steps::mul_a_s},
      {"pack", steps::pack_b},
      {"shake.pkh", steps::hash_new_pk},
      {"store_sk", steps::store_sk},
  });

  static constexpr auto encaps = plan_of<kEncapsStages, State>({
      {"randombytes", steps::make_encaps_coins},
      {"shake.pkh", steps::hash_pk},
      {"shake.seed_se", steps::derive_seed_k},
      {"shake.r", steps::expand_r},
      {"sample_matrix", steps::sample_s1_e1_e2},
      {tiled("gen_a"), steps::gen_a},
      {tiled("matmul.sa"), steps::mul_s1_a},
      {"pack.c1", steps::pack_c1},
      {"unpack.b", steps::unpack_b},
      {"matmul.sb", steps::mul_s1_b},
      {"encode", steps::encode_mu},
      {"pack.c2", steps::pack_c2},
      {"shake.ss", steps::hash_ct_k},
  });

  static constexpr auto decaps = plan_of<kDecapsStages, State>({
      {"unpack.c", steps::unpack_c},
      {"matmul.bs", steps::mul_b1_s},
      {"decode", steps::decode_m},
      {"shake.seed_se", steps::derive_seed_k},
      {"shake.r", steps::expand_r},
      {"sample_matrix", steps::sample_s1_e1_e2},
      {tiled("gen_a"), steps::gen_a},
      {tiled("matmul.sa"), steps::mul_s1_a},
      {"unpack.b", steps::unpack_b},
      {"matmul.sb", steps::mul_s1_b},
      {"encode", steps::encode_mu},
      {"compare", steps::compare_ct},
      {"select", steps::select_k_or_s},
      {"shake.ss", steps::hash_ct_k},
  });
};

/// Kem with A multiplied while it is generated, by tile_products.hpp or row_products.hpp.
struct FusedKem {
  static constexpr auto keygen =
      fused<kKeygenStages>(Kem::keygen, {{"gen_a.matmul.as", "gen_a", "matmul.as"}, steps::gen_a_and_mul_a_s});
  static constexpr auto encaps =
      fused<kEncapsStages>(Kem::encaps, {{"gen_a.matmul.sa", "gen_a", "matmul.sa"}, steps::gen_a_and_mul_s1_a});
  static constexpr auto decaps =
      fused<kDecapsStages>(Kem::decaps, {{"gen_a.matmul.sa", "gen_a", "matmul.sa"}, steps::gen_a_and_mul_s1_a});

  static_assert(covers_each_stage_once(keygen, kKeygenStages.size()));
  static_assert(covers_each_stage_once(encaps, kEncapsStages.size()));
  static_assert(covers_each_stage_once(decaps, kDecapsStages.size()));
};

}  // namespace polykem::frodo
