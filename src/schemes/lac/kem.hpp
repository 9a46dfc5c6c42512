// SPDX-License-Identifier: Apache-2.0
// The three operations of LAC. Read this first: one step per stage, in order. `Steps` computes a step on a chunk of
// items.
#pragma once

#include <array>

#include "core/plan.hpp"
#include "schemes/lac/stages.hpp"

namespace polykem::lac {

template <class Steps>
struct Kem {
  using State = typename Steps::State;

  static constexpr auto keygen = plan_of<kKeygenStages, State>({
      {"randombytes", Steps::make_coins},
      {"prg", Steps::expand_seeds},
      {"gen_a", Steps::gen_a},
      {"gen_psi_fix", Steps::sample_fixed},
      {"poly_aff", Steps::multiply_a},
      {"tobytes", Steps::store_keys},
  });

  static constexpr auto encaps = plan_of<kEncapsStages, State>({
      {"randombytes", Steps::make_coins},
      {"sha256.m", Steps::hash_m},
      {"prg", Steps::expand_seeds},
      {"gen_a", Steps::gen_a},
      {"gen_psi_fix", Steps::sample_fixed},
      {"gen_psi", Steps::sample_e2},
      {"poly_aff.c1", Steps::multiply_a},
      {"ecc_enc", Steps::encode},
      {"poly_aff.c2", Steps::multiply_b},
      {"compress", Steps::store_ct},
      {"sha256.ss", Steps::hash_ss},
  });

  static constexpr auto decaps = plan_of<kDecapsStages, State>({
      {"decompress", Steps::load_ct_sk},
      {"poly_mul", Steps::multiply_s},
      {"demodulate", Steps::demodulate},
      {"ecc_dec", Steps::decode},
      {"sha256.m", Steps::hash_m},
      {"prg", Steps::expand_seeds},
      {"gen_a", Steps::gen_a},
      {"gen_psi_fix", Steps::sample_fixed},
      {"gen_psi", Steps::sample_e2},
      {"poly_aff.c1", Steps::multiply_a},
      {"ecc_enc", Steps::encode},
      {"poly_aff.c2", Steps::multiply_b},
      {"compress_compare", Steps::compare_ct},
      {"sha256.reject", Steps::hash_reject},
      {"sha256.ss", Steps::hash_ss},
  });
};

}  // namespace polykem::lac
