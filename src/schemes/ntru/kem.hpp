// SPDX-License-Identifier: Apache-2.0
// NTRU's three operations. Read this first: one step per stage, in order. `Ops` computes a step on a chunk of items; a
// backend that fuses stages declares its own plan over the same stages. Inversions may be shared by all tiles of a
// chunk, so key generation is tiled around them; it may have Ops of its own.
#pragma once

#include <array>

#include "core/plan.hpp"
#include "schemes/ntru/stages.hpp"

namespace polykem::ntru {

template <class Ops, class KeygenOps = Ops>
struct Kem {
  using State = typename Ops::State;
  using KeygenState = typename KeygenOps::KeygenState;

  static constexpr auto keygen = plan_of<kKeygenStages, KeygenState>({
      {tiled("randombytes"), KeygenOps::make_keygen_coins},
      {tiled("sample_fg"), KeygenOps::sample_fg},
      {"poly_S3_inv", KeygenOps::invert_f},
      {tiled("poly_S3_tobytes"), KeygenOps::store_f},
      {tiled("poly_Z3_to_Zq"), KeygenOps::lift_fg},
      {tiled("poly_Rq_mul.Gf"), KeygenOps::mul_Gf},
      {"poly_Rq_inv", KeygenOps::invert_Gf},
      {tiled("poly_Rq_mul.vf"), KeygenOps::mul_vf},
      {tiled("poly_Sq_mul.invh"), KeygenOps::mul_invh},
      {tiled("poly_Sq_tobytes"), KeygenOps::store_invh},
      {tiled("poly_Rq_mul.vG"), KeygenOps::mul_vG},
      {tiled("poly_Rq_mul.h"), KeygenOps::mul_h},
      {tiled("poly_Rq_sum_zero_tobytes"), KeygenOps::store_h},
  });

  static constexpr auto encaps = plan_of<kEncapsStages, State>({
      {"randombytes", Ops::make_encaps_coins},
      {"sample_rm", Ops::sample_rm},
      {"poly_S3_tobytes", Ops::pack_rm},
      {"sha3_256", Ops::hash_rm},
      {"poly_Rq_sum_zero_frombytes", Ops::load_h},
      {"poly_Rq_mul", Ops::mul_hr},
      {"poly_lift_add", Ops::lift_add},
      {"poly_Rq_sum_zero_tobytes", Ops::store_c},
  });

  static constexpr auto decaps = plan_of<kDecapsStages, State>({
      {"frombytes", Ops::load_c_sk},
      {"poly_Rq_mul.cf", Ops::mul_cf},
      {"poly_Rq_to_S3", Ops::reduce_cf},
      {"poly_S3_mul", Ops::mul_m},
      {"poly_lift_sub", Ops::lift_sub},
      {"poly_Sq_mul", Ops::mul_r},
      {"check_rm", Ops::check_rm},
      {"poly_S3_tobytes", Ops::pack_rm},
      {"sha3_256", Ops::hash_rm},
      {"sha3_256.reject", Ops::hash_reject},
      {"cmov", Ops::select},
  });
};

}  // namespace polykem::ntru
