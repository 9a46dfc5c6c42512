// SPDX-License-Identifier: Apache-2.0
// The three operations of ML-KEM and Kyber. Read this first: it has one step per stage, in order. `Steps` is the
// class of steps.hpp or of an arrangement; each step computes a chunk of items.
#pragma once

#include <array>

#include "core/plan.hpp"
#include "schemes/mlkem/stages.hpp"

namespace polykem::mlkem {

template <class Steps>
struct Kem {
  using State = typename Steps::State;

  static constexpr auto keygen = plan_of<kKeygenStages, State>({
      {"randombytes", Steps::make_keygen_coins},
      {"sha3_512.G", Steps::hash_d},
      {"sample_ntt", Steps::sample_a},
      {"sample_poly_cbd", Steps::sample_se},
      {"ntt", Steps::ntt_se},
      {"multiply_ntts", Steps::mul_as},
      {"byte_encode", Steps::store_keys},
      {"sha3_256.H", Steps::hash_new_pk},
  });

  static constexpr auto encaps = plan_of<kEncapsStages, State>({
      {"randombytes", Steps::make_encaps_coins},
      {"sha3_256.H", Steps::hash_pk},
      {"sha3_512.G", Steps::hash_m},
      {"byte_decode", Steps::load_pk},
      {"sample_ntt", Steps::sample_a_transposed},
      {"sample_poly_cbd", Steps::sample_noise},
      {"ntt", Steps::ntt_y},
      {"multiply_ntts", Steps::mul_ay},
      {"inverse_ntt", Steps::inverse_uv},
      {"add", Steps::add_noise},
      {"compress_byte_encode", Steps::store_c},
      {"shared_secret", Steps::store_ss},
  });

  static constexpr auto decaps = plan_of<kDecapsStages, State>({
      {"sha3_256.H", Steps::check_sk},
      {"byte_decode", Steps::load_c_sk},
      {"ntt.u", Steps::ntt_u},
      {"multiply_ntts.su", Steps::mul_su},
      {"inverse_ntt.su", Steps::inverse_su},
      {"compress.m", Steps::decode_m},
      {"sha3_512.G", Steps::hash_m},
      {"shake256.J", Steps::hash_c},
      {"sample_ntt", Steps::sample_a_transposed},
      {"sample_poly_cbd", Steps::sample_noise},
      {"ntt", Steps::ntt_y},
      {"multiply_ntts", Steps::mul_ay},
      {"inverse_ntt", Steps::inverse_uv},
      {"add", Steps::add_noise},
      {"compress_compare", Steps::compare_c},
      {"cmov", Steps::select},
  });
};

}  // namespace polykem::mlkem
