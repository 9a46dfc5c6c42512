// SPDX-License-Identifier: Apache-2.0
// The three operations of Saber. Read this first: it has one step per stage, in order. `Ops` computes each step on a
// chunk of items.
#pragma once

#include <array>

#include "core/plan.hpp"
#include "schemes/saber/stages.hpp"

namespace polykem::saber {

template <class Ops>
struct Kem {
  using State = typename Ops::State;

  static constexpr auto keygen = plan_of<kKeygenStages, State>({
      {"randombytes", Ops::make_keygen_coins},
      {"shake128", Ops::hash_seed},
      {"gen_matrix", Ops::gen_a_transposed},
      {"gen_secret", Ops::gen_s},
      {"matrix_vector_mul", Ops::mul_as},
      {"round_tobytes", Ops::store_keys},
      {"sha3_256.pk", Ops::hash_new_pk},
  });

  static constexpr auto encaps = plan_of<kEncapsStages, State>({
      {"randombytes", Ops::make_encaps_coins},
      {"sha3_256.pk", Ops::hash_pk},
      {"sha3_512", Ops::hash_m},
      {"gen_matrix", Ops::gen_a},
      {"gen_secret", Ops::gen_s},
      {"matrix_vector_mul", Ops::mul_abs},
      {"round_tobytes", Ops::store_c},
      {"sha3_256.c", Ops::store_ss},
  });

  static constexpr auto decaps = plan_of<kDecapsStages, State>({
      {"frombytes", Ops::load_c_sk},
      {"inner_prod", Ops::mul_bs},
      {"tomsg", Ops::decode_m},
      {"sha3_512", Ops::hash_m},
      {"gen_matrix", Ops::gen_a},
      {"gen_secret", Ops::gen_s},
      {"matrix_vector_mul", Ops::mul_abs},
      {"round_compare", Ops::compare_c},
      {"sha3_256.c", Ops::hash_c},
      {"cmov", Ops::select},
  });
};

}  // namespace polykem::saber
