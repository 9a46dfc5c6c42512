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
  using Chunk = typename Ops::Chunk;
  using Step = polykem::Step<Chunk>;
  using KeygenStep = polykem::Step<typename KeygenOps::KeygenChunk>;

  static constexpr std::array keygen{
      KeygenStep{{"randombytes", 0, 1, true}, KeygenOps::make_keygen_coins},
      KeygenStep{{"sample_fg", 1, 1, true}, KeygenOps::sample_fg},
      KeygenStep{{"poly_S3_inv", 2, 1}, KeygenOps::invert_f},
      KeygenStep{{"poly_S3_tobytes", 3, 1, true}, KeygenOps::store_f},
      KeygenStep{{"poly_Z3_to_Zq", 4, 1, true}, KeygenOps::lift_fg},
      KeygenStep{{"poly_Rq_mul.Gf", 5, 1, true}, KeygenOps::mul_Gf},
      KeygenStep{{"poly_Rq_inv", 6, 1}, KeygenOps::invert_Gf},
      KeygenStep{{"poly_Rq_mul.vf", 7, 1, true}, KeygenOps::mul_vf},
      KeygenStep{{"poly_Sq_mul.invh", 8, 1, true}, KeygenOps::mul_invh},
      KeygenStep{{"poly_Sq_tobytes", 9, 1, true}, KeygenOps::store_invh},
      KeygenStep{{"poly_Rq_mul.vG", 10, 1, true}, KeygenOps::mul_vG},
      KeygenStep{{"poly_Rq_mul.h", 11, 1, true}, KeygenOps::mul_h},
      KeygenStep{{"poly_Rq_sum_zero_tobytes", 12, 1, true}, KeygenOps::store_h},
  };

  static constexpr std::array encaps{
      Step{{"randombytes", 0, 1}, Ops::make_encaps_coins},
      Step{{"sample_rm", 1, 1}, Ops::sample_rm},
      Step{{"poly_S3_tobytes", 2, 1}, Ops::pack_rm},
      Step{{"sha3_256", 3, 1}, Ops::hash_rm},
      Step{{"poly_Rq_sum_zero_frombytes", 4, 1}, Ops::load_h},
      Step{{"poly_Rq_mul", 5, 1}, Ops::mul_hr},
      Step{{"poly_lift_add", 6, 1}, Ops::lift_add},
      Step{{"poly_Rq_sum_zero_tobytes", 7, 1}, Ops::store_c},
  };

  static constexpr std::array decaps{
      Step{{"frombytes", 0, 1}, Ops::load_c_sk},
      Step{{"poly_Rq_mul.cf", 1, 1}, Ops::mul_cf},
      Step{{"poly_Rq_to_S3", 2, 1}, Ops::reduce_cf},
      Step{{"poly_S3_mul", 3, 1}, Ops::mul_m},
      Step{{"poly_lift_sub", 4, 1}, Ops::lift_sub},
      Step{{"poly_Sq_mul", 5, 1}, Ops::mul_r},
      Step{{"check_rm", 6, 1}, Ops::check_rm},
      Step{{"poly_S3_tobytes", 7, 1}, Ops::pack_rm},
      Step{{"sha3_256", 8, 1}, Ops::hash_rm},
      Step{{"sha3_256.reject", 9, 1}, Ops::hash_reject},
      Step{{"cmov", 10, 1}, Ops::select},
  };

  static_assert(covers_each_stage_once(keygen, kKeygenStages.size()));
  static_assert(covers_each_stage_once(encaps, kEncapsStages.size()));
  static_assert(covers_each_stage_once(decaps, kDecapsStages.size()));
};

}  // namespace polykem::ntru
