// SPDX-License-Identifier: Apache-2.0
// The three operations of ML-KEM and Kyber. Read this first: it has one step per stage, in order. `Ops` is Steps of
// steps.hpp; each step computes a chunk of items.
#pragma once

#include <array>

#include "core/plan.hpp"
#include "schemes/mlkem/stages.hpp"

namespace polykem::mlkem {

template <class Ops>
struct Kem {
  using State = typename Ops::State;

  static constexpr auto keygen = plan_of<kKeygenStages, State>({
      {"randombytes", Ops::make_keygen_coins},
      {"sha3_512.G", Ops::hash_d},
      {"sample_ntt", Ops::sample_a},
      {"sample_poly_cbd", Ops::sample_se},
      {"ntt", Ops::ntt_se},
      {"multiply_ntts", Ops::mul_as},
      {"byte_encode", Ops::store_keys},
      {"sha3_256.H", Ops::hash_new_pk},
  });

  static constexpr auto encaps = plan_of<kEncapsStages, State>({
      {"randombytes", Ops::make_encaps_coins},
      {"sha3_256.H", Ops::hash_pk},
      {"sha3_512.G", Ops::hash_m},
      {"byte_decode", Ops::load_pk},
      {"sample_ntt", Ops::sample_a_transposed},
      {"sample_poly_cbd", Ops::sample_noise},
      {"ntt", Ops::ntt_y},
      {"multiply_ntts", Ops::mul_ay},
      {"inverse_ntt", Ops::inverse_uv},
      {"add", Ops::add_noise},
      {"compress_byte_encode", Ops::store_c},
      {"shared_secret", Ops::store_ss},
  });

  static constexpr auto decaps = plan_of<kDecapsStages, State>({
      {"sha3_256.H", Ops::check_sk},
      {"byte_decode", Ops::load_c_sk},
      {"ntt.u", Ops::ntt_u},
      {"multiply_ntts.su", Ops::mul_su},
      {"inverse_ntt.su", Ops::inverse_su},
      {"compress.m", Ops::decode_m},
      {"sha3_512.G", Ops::hash_m},
      {"shake256.J", Ops::hash_c},
      {"sample_ntt", Ops::sample_a_transposed},
      {"sample_poly_cbd", Ops::sample_noise},
      {"ntt", Ops::ntt_y},
      {"multiply_ntts", Ops::mul_ay},
      {"inverse_ntt", Ops::inverse_uv},
      {"add", Ops::add_noise},
      {"compress_compare", Ops::compare_c},
      {"cmov", Ops::select},
  });
};

}  // namespace polykem::mlkem
