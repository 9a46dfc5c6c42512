// SPDX-License-Identifier: Apache-2.0
// FrodoKEM's three operations. Read this first: one step per stage, in order, the same on every instruction set. The
// tiled steps take turns: each round generates and multiplies a few rows of A. Where a CPU does both at once, they are
// one step.
#pragma once

#include <array>

#include "schemes/frodo/chunk.hpp"
#include "schemes/frodo/ops.hpp"
#include "schemes/frodo/stages.hpp"

namespace polykem::frodo {

/// The steps with `step` in the place of the two that it covers.
template <size_t N>
consteval auto fused(const std::array<Step<Chunk>, N>& steps, const Step<Chunk>& step) {
  std::array<Step<Chunk>, N - 1> result{};
  for (size_t i = 0; i + 1 < N; ++i)
    result[i] = i < step.info.first ? steps[i] : i == step.info.first ? step : steps[i + 1];
  return result;
}

struct Kem {
  using Step = polykem::Step<Chunk>;
  static constexpr bool kTiled = true;

  static constexpr std::array keygen{
      Step{{"randombytes", 0, 1}, ops::make_keygen_coins},
      Step{{"shake.seed_a", 1, 1}, ops::expand_seed_a},
      Step{{"shake.r", 2, 1}, ops::expand_r_keygen},
      Step{{"sample_matrix", 3, 1}, ops::sample_s_e},
      Step{{"gen_a", 4, 1, kTiled}, ops::gen_a_keygen},
      Step{{"matmul.as", 5, 1, kTiled}, ops::mul_a_s},
      Step{{"pack", 6, 1}, ops::pack_b},
      Step{{"shake.pkh", 7, 1}, ops::hash_new_pk},
      Step{{"store_sk", 8, 1}, ops::store_sk},
  };

  static constexpr std::array encaps{
      Step{{"randombytes", 0, 1}, ops::make_encaps_coins},
      Step{{"shake.pkh", 1, 1}, ops::hash_pk},
      Step{{"shake.seed_se", 2, 1}, ops::derive_seed_k},
      Step{{"shake.r", 3, 1}, ops::expand_r},
      Step{{"sample_matrix", 4, 1}, ops::sample_s1_e1_e2},
      Step{{"gen_a", 5, 1, kTiled}, ops::gen_a},
      Step{{"matmul.sa", 6, 1, kTiled}, ops::mul_s1_a},
      Step{{"pack.c1", 7, 1}, ops::pack_c1},
      Step{{"unpack.b", 8, 1}, ops::unpack_b},
      Step{{"matmul.sb", 9, 1}, ops::mul_s1_b},
      Step{{"encode", 10, 1}, ops::encode_mu},
      Step{{"pack.c2", 11, 1}, ops::pack_c2},
      Step{{"shake.ss", 12, 1}, ops::hash_ct_k},
  };

  static constexpr std::array decaps{
      Step{{"unpack.c", 0, 1}, ops::unpack_c},     Step{{"matmul.bs", 1, 1}, ops::mul_b1_s},
      Step{{"decode", 2, 1}, ops::decode_m},       Step{{"shake.seed_se", 3, 1}, ops::derive_seed_k},
      Step{{"shake.r", 4, 1}, ops::expand_r},      Step{{"sample_matrix", 5, 1}, ops::sample_s1_e1_e2},
      Step{{"gen_a", 6, 1, kTiled}, ops::gen_a},   Step{{"matmul.sa", 7, 1, kTiled}, ops::mul_s1_a},
      Step{{"unpack.b", 8, 1}, ops::unpack_b},     Step{{"matmul.sb", 9, 1}, ops::mul_s1_b},
      Step{{"encode", 10, 1}, ops::encode_mu},     Step{{"compare", 11, 1}, ops::compare_ct},
      Step{{"select", 12, 1}, ops::select_k_or_s}, Step{{"shake.ss", 13, 1}, ops::hash_ct_k},
  };

  static_assert(covers_each_stage_once(keygen, kKeygenStages.size()));
  static_assert(covers_each_stage_once(encaps, kEncapsStages.size()));
  static_assert(covers_each_stage_once(decaps, kDecapsStages.size()));
};

/// The same with A multiplied while it is generated: by tile_products.hpp or row_products.hpp.
struct FusedKem {
  using Step = Kem::Step;

  static constexpr auto keygen = fused(Kem::keygen, {{"gen_a.matmul.as", 4, 2}, ops::gen_mul_a_s});
  static constexpr auto encaps = fused(Kem::encaps, {{"gen_a.matmul.sa", 5, 2}, ops::gen_mul_s1_a});
  static constexpr auto decaps = fused(Kem::decaps, {{"gen_a.matmul.sa", 6, 2}, ops::gen_mul_s1_a});

  static_assert(covers_each_stage_once(keygen, kKeygenStages.size()));
  static_assert(covers_each_stage_once(encaps, kEncapsStages.size()));
  static_assert(covers_each_stage_once(decaps, kDecapsStages.size()));
};

}  // namespace polykem::frodo
