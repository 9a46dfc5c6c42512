// SPDX-License-Identifier: Apache-2.0
// The plans for eight items. Their steps do more at once than those of kem.hpp: one step samples and transforms noise,
// or samples it as it is added; one packs products as it computes them; one compresses the results of inverse
// transforms and stores or compares them.
#pragma once

#include <array>

#include "core/plan.hpp"
#include "schemes/mlkem/stages.hpp"

namespace polykem::mlkem::x8 {

template <class Steps>
struct Kem {
  using State = typename Steps::State;

  static constexpr auto keygen = plan_of<kKeygenStages, State>({
      {"randombytes", Steps::make_keygen_coins},
      {"sha3_512.G", Steps::hash_d},
      {"sample_ntt", Steps::sample_a},
      {{"sample_poly_cbd_ntt", "sample_poly_cbd", "ntt"}, Steps::sample_se},
      {{"multiply_encode", "multiply_ntts", "byte_encode"}, Steps::mul_as_store},
      {"sha3_256.H", Steps::hash_new_pk},
  });

  static constexpr auto encaps = plan_of<kEncapsStages, State>({
      {"randombytes", Steps::make_encaps_coins},
      {"sha3_256.H", Steps::hash_pk},
      {"sha3_512.G", Steps::hash_m},
      {"byte_decode", Steps::load_pk},
      {"sample_ntt", Steps::sample_a_transposed},
      {{"sample_poly_cbd_ntt", "sample_poly_cbd", "ntt"}, Steps::sample_noise},
      {"multiply_ntts", Steps::mul_ay},
      {{"inverse_ntt_add_compress", "inverse_ntt", "compress_byte_encode"}, Steps::store_c},
      {"shared_secret", Steps::store_ss},
  });

  static constexpr auto decaps = plan_of<kDecapsStages, State>({
      {"sha3_256.H", Steps::check_sk},
      {"byte_decode", Steps::load_c_sk},
      {"ntt.u", Steps::ntt_u},
      {"multiply_ntts.su", Steps::mul_su},
      {{"inverse_ntt_compress.m", "inverse_ntt.su", "compress.m"}, Steps::decode_m},
      {"sha3_512.G", Steps::hash_m},
      {"shake256.J", Steps::hash_c},
      {"sample_ntt", Steps::sample_a_transposed},
      {{"sample_poly_cbd_ntt", "sample_poly_cbd", "ntt"}, Steps::sample_noise},
      {"multiply_ntts", Steps::mul_ay},
      {{"inverse_ntt_add_compare", "inverse_ntt", "compress_compare"}, Steps::compare_c},
      {"cmov", Steps::select},
  });
};

}  // namespace polykem::mlkem::x8
