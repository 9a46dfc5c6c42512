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
consteval auto keygen_plan(const Sampling&... sampling) {
  return plan_of<kKeygenStages, typename Ops::Chunk>({
      {"randombytes", Ops::make_keygen_coins},
      {"sha3_512", Ops::hash_d},
      sampling...,
      {"ntt", Ops::ntt_se},
      {"basemul", Ops::mul_as},
      {"tobytes", Ops::store_keys},
      {"sha3_256.ek", Ops::hash_new_pk},
  });
}

template <class Ops>
struct Kem {
  using Chunk = typename Ops::Chunk;
  using Sampling = Step<Chunk, StepStages>;

  static constexpr auto keygen = [] {
    if constexpr (Ops::kNoiseOverlapsMatrix) {
      return keygen_plan<Ops>(Sampling{{"gen_a_sample_cbd", "gen_a", "sample_cbd"}, Ops::gen_a_sample_se});
    } else {
      return keygen_plan<Ops>(Sampling{"gen_a", Ops::gen_a}, Sampling{"sample_cbd", Ops::sample_se});
    }
  }();

  static constexpr auto encaps = plan_of<kEncapsStages, Chunk>({
      {"randombytes", Ops::make_encaps_coins},
      {with_ahead({"hash_gen_a", "sha3_256.ek"}, "gen_a"), Ops::hash_ek_gen_a},
      {"sha3_512", Ops::hash_m},
      {"frombytes", Ops::load_ek},
      {"sample_cbd", Ops::sample_noise},
      {"ntt", Ops::ntt_y},
      {"basemul", Ops::mul_ay},
      {"invntt", Ops::inverse_uv},
      {"add", Ops::add_noise},
      {"compress_tobytes", Ops::store_c},
      {"shared_secret", Ops::store_ss},
  });

  static constexpr auto decaps = plan_of<kDecapsStages, Chunk>({
      {with_ahead({"hash_gen_a", "sha3_256.ek"}, "shake256.reject", "gen_a"), Ops::hash_inputs_gen_a},
      {"frombytes", Ops::load_c_dk},
      {"ntt.u", Ops::ntt_u},
      {"basemul.su", Ops::mul_su},
      {"invntt.su", Ops::inverse_su},
      {"tomsg", Ops::decode_m},
      {"sha3_512", Ops::hash_m},
      {"sample_cbd", Ops::sample_noise},
      {"ntt", Ops::ntt_y},
      {"basemul", Ops::mul_ay},
      {"invntt", Ops::inverse_uv},
      {"add", Ops::add_noise},
      {"compress_compare", Ops::compare_c},
      {"cmov", Ops::select},
  });
};

}  // namespace polykem::mlkem::single
