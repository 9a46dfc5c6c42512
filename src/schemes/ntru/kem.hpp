// SPDX-License-Identifier: Apache-2.0
// NTRU's three operations. Read this first: one step per stage, in order. `Steps` computes a step on a chunk of items;
// a backend that fuses stages declares its own plan over the same stages. Inversions may be shared by all tiles of a
// chunk, so key generation is tiled around them; it may have Steps of its own.
#pragma once

#include <array>

#include "core/plan.hpp"
#include "schemes/ntru/stages.hpp"

namespace polykem::ntru {

template <class Steps, class KeygenSteps = Steps>
struct Kem {
  using State = typename Steps::State;
  using KeygenState = typename KeygenSteps::KeygenState;

  static constexpr auto keygen = plan_of<kKeygenStages, KeygenState>({
      {tiled("randombytes"), KeygenSteps::make_keygen_coins},
      {tiled("sample_fg"), KeygenSteps::sample_fg},
      {"poly_S3_inv", KeygenSteps::invert_f},
      {tiled("poly_S3_tobytes"), KeygenSteps::store_f},
      {tiled("poly_Z3_to_Zq"), KeygenSteps::lift_fg},
      {tiled("poly_Rq_mul.Gf"), KeygenSteps::mul_Gf},
      {"poly_Rq_inv", KeygenSteps::invert_Gf},
      {tiled("poly_Rq_mul.vf"), KeygenSteps::mul_vf},
      {tiled("poly_Sq_mul.invh"), KeygenSteps::mul_invh},
      {tiled("poly_Sq_tobytes"), KeygenSteps::store_invh},
      {tiled("poly_Rq_mul.vG"), KeygenSteps::mul_vG},
      {tiled("poly_Rq_mul.h"), KeygenSteps::mul_h},
      {tiled("poly_Rq_sum_zero_tobytes"), KeygenSteps::store_h},
  });

  static constexpr auto encaps = plan_of<kEncapsStages, State>({
      {"randombytes", Steps::make_encaps_coins},
      {"sample_rm", Steps::sample_rm},
      {"poly_S3_tobytes", Steps::pack_rm},
      {"sha3_256", Steps::hash_rm},
      {"poly_Rq_sum_zero_frombytes", Steps::load_h},
      {"poly_Rq_mul", Steps::mul_hr},
      {"poly_lift_add", Steps::lift_add},
      {"poly_Rq_sum_zero_tobytes", Steps::store_c},
  });

  static constexpr auto decaps = plan_of<kDecapsStages, State>({
      {"frombytes", Steps::load_c_sk},
      {"poly_Rq_mul.cf", Steps::mul_cf},
      {"poly_Rq_to_S3", Steps::reduce_cf},
      {"poly_S3_mul", Steps::mul_m},
      {"poly_lift_sub", Steps::lift_sub},
      {"poly_Sq_mul", Steps::mul_r},
      {"check_rm", Steps::check_rm},
      {"poly_S3_tobytes", Steps::pack_rm},
      {"sha3_256", Steps::hash_rm},
      {"sha3_256.reject", Steps::hash_reject},
      {"cmov", Steps::select},
  });
};

}  // namespace polykem::ntru
