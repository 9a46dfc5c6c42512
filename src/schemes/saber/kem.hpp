// SPDX-License-Identifier: Apache-2.0
// The three operations of Saber. Read this first: it has one step per stage, in order. `Steps` computes each step on a
// chunk of items.
#pragma once

#include <array>

#include "core/plan.hpp"
#include "schemes/saber/stages.hpp"

namespace polykem::saber {

template <class Steps>
struct Kem {
  using State = typename Steps::State;

  static constexpr auto keygen = plan_of<kKeygenStages, State>({
      {"randombytes", Steps::make_keygen_coins},
      {"shake128", Steps::hash_seed},
      {"gen_matrix", Steps::gen_a_transposed},
      {"gen_secret", Steps::gen_s},
      {"matrix_vector_mul", Steps::mul_as},
      {"round_tobytes", Steps::store_keys},
      {"sha3_256.pk", Steps::hash_new_pk},
  });

  static constexpr auto encaps = plan_of<kEncapsStages, State>({
      {"randombytes", Steps::make_encaps_coins},
      {"sha3_256.pk", Steps::hash_pk},
      {"sha3_512", Steps::hash_m},
      {"gen_matrix", Steps::gen_a},
      {"gen_secret", Steps::gen_s},
      {"matrix_vector_mul", Steps::mul_abs},
      {"round_tobytes", Steps::store_c},
      {"sha3_256.c", Steps::store_ss},
  });

  static constexpr auto decaps = plan_of<kDecapsStages, State>({
      {"frombytes", Steps::load_c_sk},
      {"inner_prod", Steps::mul_bs},
      {"tomsg", Steps::decode_m},
      {"sha3_512", Steps::hash_m},
      {"gen_matrix", Steps::gen_a},
      {"gen_secret", Steps::gen_s},
      {"matrix_vector_mul", Steps::mul_abs},
      {"round_compare", Steps::compare_c},
      {"sha3_256.c", Steps::hash_c},
      {"cmov", Steps::select},
  });
};

}  // namespace polykem::saber
