// SPDX-License-Identifier: Apache-2.0
// The plans of a single item. They differ from kem.hpp in one step: what needs only the item's inputs is hashed in the
// same permutations as its matrix. In keygen that is the noise, where the matrix leaves states without work.
#pragma once

#include <array>

#include "core/plan.hpp"
#include "schemes/mlkem/stages.hpp"

namespace polykem::mlkem::single {

/// Returns the plan of keygen, with one or two steps for the matrix and the noise.
template <class Steps, class... Sampling>
consteval auto keygen_plan(const Sampling&... sampling) {
  return plan_of<kKeygenStages, typename Steps::State>({
      {"randombytes", Steps::make_keygen_coins},
      {"sha3_512.G", Steps::hash_d},
      sampling...,
      {"ntt", Steps::ntt_se},
      {"multiply_ntts", Steps::mul_as},
      {"byte_encode", Steps::store_keys},
      {"sha3_256.H", Steps::hash_new_pk},
  });
}

template <class Steps>
struct Kem {
  using State = typename Steps::State;
  using Sampling = Step<State, StepStages>;

  static constexpr auto keygen = [] {
    if constexpr (Steps::kNoiseOverlapsMatrix) {
      return keygen_plan<Steps>(Sampling{{"sample_ntt_poly_cbd", "sample_ntt", "sample_poly_cbd"}, Steps::sample_a_se});
    } else {
      return keygen_plan<Steps>(Sampling{"sample_ntt", Steps::sample_a}, Sampling{"sample_poly_cbd", Steps::sample_se});
    }
  }();

  static constexpr auto encaps = plan_of<kEncapsStages, State>({
      {"randombytes", Steps::make_encaps_coins},
      {with_ahead({"hash_sample_ntt", "sha3_256.H"}, "sample_ntt"), Steps::hash_pk_sample_a},
      {"sha3_512.G", Steps::hash_m},
      {"byte_decode", Steps::load_pk},
      {"sample_poly_cbd", Steps::sample_noise},
      {"ntt", Steps::ntt_y},
      {"multiply_ntts", Steps::mul_ay},
      {"inverse_ntt", Steps::inverse_uv},
      {"add", Steps::add_noise},
      {"compress_byte_encode", Steps::store_c},
      {"shared_secret", Steps::store_ss},
  });

  static constexpr auto decaps = plan_of<kDecapsStages, State>({
      {with_ahead({"hash_sample_ntt", "sha3_256.H"}, "shake256.J", "sample_ntt"), Steps::hash_inputs_sample_a},
      {"byte_decode", Steps::load_c_sk},
      {"ntt.u", Steps::ntt_u},
      {"multiply_ntts.su", Steps::mul_su},
      {"inverse_ntt.su", Steps::inverse_su},
      {"compress.m", Steps::decode_m},
      {"sha3_512.G", Steps::hash_m},
      {"sample_poly_cbd", Steps::sample_noise},
      {"ntt", Steps::ntt_y},
      {"multiply_ntts", Steps::mul_ay},
      {"inverse_ntt", Steps::inverse_uv},
      {"add", Steps::add_noise},
      {"compress_compare", Steps::compare_c},
      {"cmov", Steps::select},
  });
};

}  // namespace polykem::mlkem::single
