// SPDX-License-Identifier: Apache-2.0
// The plans of a single item. They differ from kem.hpp in one step: what needs only the item's inputs is hashed in the
// same permutations as its matrix. In keygen that is the noise, where the matrix leaves states without work.
#pragma once

#include <array>

#include "core/plan.hpp"
#include "schemes/mlkem/stages.hpp"

namespace polykem::mlkem::single {

/// Returns the plan of keygen, with one or two steps for the matrix and the noise.
template <class Ops, class... Sampling>
consteval auto keygen_plan(const Sampling&... sampling) {
  return plan_of<kKeygenStages, typename Ops::State>({
      {"randombytes", Ops::make_keygen_coins},
      {"sha3_512.G", Ops::hash_d},
      sampling...,
      {"ntt", Ops::ntt_se},
      {"multiply_ntts", Ops::mul_as},
      {"byte_encode", Ops::store_keys},
      {"sha3_256.H", Ops::hash_new_pk},
  });
}

template <class Ops>
struct Kem {
  using State = typename Ops::State;
  using Sampling = Step<State, StepStages>;

  static constexpr auto keygen = [] {
    if constexpr (Ops::kNoiseOverlapsMatrix) {
      return keygen_plan<Ops>(Sampling{{"sample_ntt_poly_cbd", "sample_ntt", "sample_poly_cbd"}, Ops::sample_a_se});
    } else {
      return keygen_plan<Ops>(Sampling{"sample_ntt", Ops::sample_a}, Sampling{"sample_poly_cbd", Ops::sample_se});
    }
  }();

  static constexpr auto encaps = plan_of<kEncapsStages, State>({
      {"randombytes", Ops::make_encaps_coins},
      {with_ahead({"hash_sample_ntt", "sha3_256.H"}, "sample_ntt"), Ops::hash_pk_sample_a},
      {"sha3_512.G", Ops::hash_m},
      {"byte_decode", Ops::load_pk},
      {"sample_poly_cbd", Ops::sample_noise},
      {"ntt", Ops::ntt_y},
      {"multiply_ntts", Ops::mul_ay},
      {"inverse_ntt", Ops::inverse_uv},
      {"add", Ops::add_noise},
      {"compress_byte_encode", Ops::store_c},
      {"shared_secret", Ops::store_ss},
  });

  static constexpr auto decaps = plan_of<kDecapsStages, State>({
      {with_ahead({"hash_sample_ntt", "sha3_256.H"}, "shake256.J", "sample_ntt"), Ops::hash_inputs_sample_a},
      {"byte_decode", Ops::load_c_sk},
      {"ntt.u", Ops::ntt_u},
      {"multiply_ntts.su", Ops::mul_su},
      {"inverse_ntt.su", Ops::inverse_su},
      {"compress.m", Ops::decode_m},
      {"sha3_512.G", Ops::hash_m},
      {"sample_poly_cbd", Ops::sample_noise},
      {"ntt", Ops::ntt_y},
      {"multiply_ntts", Ops::mul_ay},
      {"inverse_ntt", Ops::inverse_uv},
      {"add", Ops::add_noise},
      {"compress_compare", Ops::compare_c},
      {"cmov", Ops::select},
  });
};

}  // namespace polykem::mlkem::single
