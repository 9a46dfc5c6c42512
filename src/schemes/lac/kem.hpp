// SPDX-License-Identifier: Apache-2.0
// The three operations of LAC. Read this first: one step per stage, in order. `Ops` computes a step on a chunk of
// items.
#pragma once

#include <array>

#include "core/plan.hpp"
#include "schemes/lac/stages.hpp"

namespace polykem::lac {

template <class Ops>
struct Kem {
  using Chunk = typename Ops::Chunk;
  using Step = polykem::Step<Chunk>;

  static constexpr std::array keygen{
      Step{{"randombytes", 0, 1}, Ops::make_coins},
      Step{{"prg", 1, 1}, Ops::expand_seeds},
      Step{{"gen_a", 2, 1}, Ops::gen_a},
      Step{{"gen_psi_fix", 3, 1}, Ops::sample_fixed},
      Step{{"poly_aff", 4, 1}, Ops::multiply_a},
      Step{{"tobytes", 5, 1}, Ops::store_keys},
  };

  static constexpr std::array encaps{
      Step{{"randombytes", 0, 1}, Ops::make_coins},   Step{{"sha256.m", 1, 1}, Ops::hash_m},
      Step{{"prg", 2, 1}, Ops::expand_seeds},         Step{{"gen_a", 3, 1}, Ops::gen_a},
      Step{{"gen_psi_fix", 4, 1}, Ops::sample_fixed}, Step{{"gen_psi", 5, 1}, Ops::sample_e2},
      Step{{"poly_aff.c1", 6, 1}, Ops::multiply_a},   Step{{"ecc_enc", 7, 1}, Ops::encode},
      Step{{"poly_aff.c2", 8, 1}, Ops::multiply_b},   Step{{"compress", 9, 1}, Ops::store_ct},
      Step{{"sha256.ss", 10, 1}, Ops::hash_ss},
  };

  static constexpr std::array decaps{
      Step{{"decompress", 0, 1}, Ops::load_ct_sk},
      Step{{"poly_mul", 1, 1}, Ops::multiply_s},
      Step{{"demodulate", 2, 1}, Ops::demodulate},
      Step{{"ecc_dec", 3, 1}, Ops::decode},
      Step{{"sha256.m", 4, 1}, Ops::hash_m},
      Step{{"prg", 5, 1}, Ops::expand_seeds},
      Step{{"gen_a", 6, 1}, Ops::gen_a},
      Step{{"gen_psi_fix", 7, 1}, Ops::sample_fixed},
      Step{{"gen_psi", 8, 1}, Ops::sample_e2},
      Step{{"poly_aff.c1", 9, 1}, Ops::multiply_a},
      Step{{"ecc_enc", 10, 1}, Ops::encode},
      Step{{"poly_aff.c2", 11, 1}, Ops::multiply_b},
      Step{{"compress_compare", 12, 1}, Ops::compare_ct},
      Step{{"sha256.reject", 13, 1}, Ops::hash_reject},
      Step{{"sha256.ss", 14, 1}, Ops::hash_ss},
  };

  static_assert(covers_each_stage_once(keygen, kKeygenStages.size()));
  static_assert(covers_each_stage_once(encaps, kEncapsStages.size()));
  static_assert(covers_each_stage_once(decaps, kDecapsStages.size()));
};

}  // namespace polykem::lac
