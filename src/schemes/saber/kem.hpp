// SPDX-License-Identifier: Apache-2.0
// The three operations of Saber. Read this first: one step per stage, in order. `Ops` computes a step on a chunk of
// items.
#pragma once

#include <array>

#include "core/plan.hpp"
#include "schemes/saber/stages.hpp"

namespace polykem::saber {

template <class Ops>
struct Kem {
  using Chunk = typename Ops::Chunk;
  using Step = polykem::Step<Chunk>;

  static constexpr std::array keygen{
      Step{{"randombytes", 0, 1}, Ops::make_keygen_coins}, Step{{"shake128", 1, 1}, Ops::hash_seed},
      Step{{"gen_matrix", 2, 1}, Ops::gen_a_transposed},   Step{{"gen_secret", 3, 1}, Ops::gen_s},
      Step{{"matrix_vector_mul", 4, 1}, Ops::mul_as},      Step{{"round_tobytes", 5, 1}, Ops::store_keys},
      Step{{"sha3_256.pk", 6, 1}, Ops::hash_new_pk},
  };

  static constexpr std::array encaps{
      Step{{"randombytes", 0, 1}, Ops::make_encaps_coins},
      Step{{"sha3_256.pk", 1, 1}, Ops::hash_pk},
      Step{{"sha3_512", 2, 1}, Ops::hash_m},
      Step{{"gen_matrix", 3, 1}, Ops::gen_a},
      Step{{"gen_secret", 4, 1}, Ops::gen_s},
      Step{{"matrix_vector_mul", 5, 1}, Ops::mul_abs},
      Step{{"round_tobytes", 6, 1}, Ops::store_c},
      Step{{"sha3_256.c", 7, 1}, Ops::store_ss},
  };

  static constexpr std::array decaps{
      Step{{"frombytes", 0, 1}, Ops::load_c_sk},
      Step{{"inner_prod", 1, 1}, Ops::mul_bs},
      Step{{"tomsg", 2, 1}, Ops::decode_m},
      Step{{"sha3_512", 3, 1}, Ops::hash_m},
      Step{{"gen_matrix", 4, 1}, Ops::gen_a},
      Step{{"gen_secret", 5, 1}, Ops::gen_s},
      Step{{"matrix_vector_mul", 6, 1}, Ops::mul_abs},
      Step{{"round_compare", 7, 1}, Ops::compare_c},
      Step{{"sha3_256.c", 8, 1}, Ops::hash_c},
      Step{{"cmov", 9, 1}, Ops::select},
  };

  static_assert(covers_each_stage_once(keygen, kKeygenStages.size()));
  static_assert(covers_each_stage_once(encaps, kEncapsStages.size()));
  static_assert(covers_each_stage_once(decaps, kDecapsStages.size()));
};

}  // namespace polykem::saber
