// SPDX-License-Identifier: Apache-2.0
// The plans of a single item. They differ from kem.hpp in one step: what needs only the item's inputs is hashed in the
// same permutations as its matrix. In keygen that is the noise, where the matrix leaves states without work.
#pragma once

#include <array>

#include "core/plan.hpp"
#include "schemes/mlkem/stages.hpp"

namespace polykem::mlkem::single {

/// keygen with one or two steps for the matrix and the noise.
template <class Ops, class... Sampling>
constexpr auto keygen_plan(Sampling... sampling) {
  using Step = polykem::Step<typename Ops::Chunk>;
  return std::array{
      Step{{"randombytes", 0, 1}, Ops::make_keygen_coins},
      Step{{"sha3_512", 1, 1}, Ops::hash_d},
      sampling...,
      Step{{"ntt", 4, 1}, Ops::ntt_se},
      Step{{"basemul", 5, 1}, Ops::mul_as},
      Step{{"tobytes", 6, 1}, Ops::store_keys},
      Step{{"sha3_256.ek", 7, 1}, Ops::hash_new_pk},
  };
}

template <class Ops>
struct Kem {
  using Chunk = typename Ops::Chunk;
  using Step = polykem::Step<Chunk>;

  static constexpr auto keygen = [] {
    if constexpr (Ops::kNoiseBesideMatrix) {
      return keygen_plan<Ops>(Step{{"gen_a_sample_cbd", 2, 2}, Ops::gen_a_sample_se});
    } else {
      return keygen_plan<Ops>(Step{{"gen_a", 2, 1}, Ops::gen_a}, Step{{"sample_cbd", 3, 1}, Ops::sample_se});
    }
  }();

  // clang-format off
  static constexpr std::array encaps{
      Step{{"randombytes", 0, 1}, Ops::make_encaps_coins},
      Step{{"hash_gen_a", 1, 1, false, stage_bit(4)}, Ops::hash_ek_gen_a},
      Step{{"sha3_512", 2, 1}, Ops::hash_m},
      Step{{"frombytes", 3, 1}, Ops::load_ek},
      Step{{"sample_cbd", 5, 1}, Ops::sample_noise},
      Step{{"ntt", 6, 1}, Ops::ntt_y},
      Step{{"basemul", 7, 1}, Ops::mul_ay},
      Step{{"invntt", 8, 1}, Ops::inverse_uv},
      Step{{"add", 9, 1}, Ops::add_noise},
      Step{{"compress_tobytes", 10, 1}, Ops::store_c},
      Step{{"shared_secret", 11, 1}, Ops::store_ss},
  };
  // clang-format on

  static constexpr std::array decaps{
      Step{{"hash_gen_a", 0, 1, false, stage_bit(7) | stage_bit(8)}, Ops::hash_inputs_gen_a},
      Step{{"frombytes", 1, 1}, Ops::load_c_dk},
      Step{{"ntt.u", 2, 1}, Ops::ntt_u},
      Step{{"basemul.su", 3, 1}, Ops::mul_su},
      Step{{"invntt.su", 4, 1}, Ops::inverse_su},
      Step{{"tomsg", 5, 1}, Ops::decode_m},
      Step{{"sha3_512", 6, 1}, Ops::hash_m},
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

}  // namespace polykem::mlkem::single
