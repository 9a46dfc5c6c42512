// SPDX-License-Identifier: Apache-2.0
// The three operations of ML-KEM and Kyber. Read this first: one step per stage, in order. `Ops` is
// steps.hpp's Steps; a step computes a chunk of items.
#pragma once

#include <array>

#include "core/plan.hpp"
#include "schemes/mlkem/stages.hpp"

namespace polykem::mlkem {

template <class Ops>
struct Kem {
  using Chunk = typename Ops::Chunk;
  using Step = polykem::Step<Chunk>;

  static constexpr std::array keygen{
      Step{{"randombytes", 0, 1}, Ops::make_keygen_coins},
      Step{{"sha3_512", 1, 1}, Ops::hash_d},
      Step{{"gen_a", 2, 1}, Ops::gen_a},
      Step{{"sample_cbd", 3, 1}, Ops::sample_se},
      Step{{"ntt", 4, 1}, Ops::ntt_se},
      Step{{"basemul", 5, 1}, Ops::mul_as},
      Step{{"tobytes", 6, 1}, Ops::store_keys},
      Step{{"sha3_256.ek", 7, 1}, Ops::hash_new_pk},
  };

  static constexpr std::array encaps{
      Step{{"randombytes", 0, 1}, Ops::make_encaps_coins},
      Step{{"sha3_256.ek", 1, 1}, Ops::hash_pk},
      Step{{"sha3_512", 2, 1}, Ops::hash_m},
      Step{{"frombytes", 3, 1}, Ops::load_ek},
      Step{{"gen_a", 4, 1}, Ops::gen_a_transposed},
      Step{{"sample_cbd", 5, 1}, Ops::sample_noise},
      Step{{"ntt", 6, 1}, Ops::ntt_y},
      Step{{"basemul", 7, 1}, Ops::mul_ay},
      Step{{"invntt", 8, 1}, Ops::inverse_uv},
      Step{{"add", 9, 1}, Ops::add_noise},
      Step{{"compress_tobytes", 10, 1}, Ops::store_c},
      Step{{"shared_secret", 11, 1}, Ops::store_ss},
  };

  static constexpr std::array decaps{
      Step{{"sha3_256.ek", 0, 1}, Ops::check_dk},
      Step{{"frombytes", 1, 1}, Ops::load_c_dk},
      Step{{"ntt.u", 2, 1}, Ops::ntt_u},
      Step{{"basemul.su", 3, 1}, Ops::mul_su},
      Step{{"invntt.su", 4, 1}, Ops::inverse_su},
      Step{{"tomsg", 5, 1}, Ops::decode_m},
      Step{{"sha3_512", 6, 1}, Ops::hash_m},
      Step{{"shake256.reject", 7, 1}, Ops::hash_c},
      Step{{"gen_a", 8, 1}, Ops::gen_a_transposed},
      Step{{"sample_cbd", 9, 1}, Ops::sample_noise},
      Step{{"ntt", 10, 1}, Ops::ntt_y},
      Step{{"basemul", 11, 1}, Ops::mul_ay},
      Step{{"invntt", 12, 1}, Ops::inverse_uv},
      Step{{"add", 13, 1}, Ops::add_noise},
      Step{{"compress_compare", 14, 1}, Ops::compare_c},
      Step{{"cmov", 15, 1}, Ops::select},
  };

  static_assert(covers_each_stage_once(keygen, kKeygenStages.size()));
  static_assert(covers_each_stage_once(encaps, kEncapsStages.size()));
  static_assert(covers_each_stage_once(decaps, kDecapsStages.size()));
};

}  // namespace polykem::mlkem
