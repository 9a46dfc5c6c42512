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
  using State = typename Ops::State;

  static constexpr auto keygen = plan_of<kKeygenStages, State>({
      {"randombytes", Ops::make_coins},
      {"prg", Ops::expand_seeds},
      {"gen_a", Ops::gen_a},
      {"gen_psi_fix", Ops::sample_fixed},
      {"poly_aff", Ops::multiply_a},
      {"tobytes", Ops::store_keys},
  });

  static constexpr auto encaps = plan_of<kEncapsStages, State>({
      {"randombytes", Ops::make_coins},
      {"sha256.m", Ops::hash_m},
      {"prg", Ops::expand_seeds},
      {"gen_a", Ops::gen_a},
      {"gen_psi_fix", Ops::sample_fixed},
      {"gen_psi", Ops::sample_e2},
      {"poly_aff.c1", Ops::multiply_a},
      {"ecc_enc", Ops::encode},
      {"poly_aff.c2", Ops::multiply_b},
      {"compress", Ops::store_ct},
      {"sha256.ss", Ops::hash_ss},
  });

  static constexpr auto decaps = plan_of<kDecapsStages, State>({
      {"decompress", Ops::load_ct_sk},
      {"poly_mul", Ops::multiply_s},
      {"demodulate", Ops::demodulate},
      {"ecc_dec", Ops::decode},
      {"sha256.m", Ops::hash_m},
      {"prg", Ops::expand_seeds},
      {"gen_a", Ops::gen_a},
      {"gen_psi_fix", Ops::sample_fixed},
      {"gen_psi", Ops::sample_e2},
      {"poly_aff.c1", Ops::multiply_a},
      {"ecc_enc", Ops::encode},
      {"poly_aff.c2", Ops::multiply_b},
      {"compress_compare", Ops::compare_ct},
      {"sha256.reject", Ops::hash_reject},
      {"sha256.ss", Ops::hash_ss},
  });
};

}  // namespace polykem::lac
