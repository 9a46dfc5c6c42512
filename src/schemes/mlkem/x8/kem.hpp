// SPDX-License-Identifier: Apache-2.0
// The plans for eight items. Their steps do more at once than those of kem.hpp: one step samples and transforms noise,
// or samples it as it is added; one packs products as it computes them; one compresses the results of inverse
// transforms and stores or compares them.
#pragma once

#include <array>

#include "core/plan.hpp"
#include "schemes/mlkem/stages.hpp"

namespace polykem::mlkem::x8 {

template <class Ops>
struct Kem {
  using State = typename Ops::State;

  static constexpr auto keygen = plan_of<kKeygenStages, State>({
      {"randombytes", Ops::make_keygen_coins},
      {"sha3_512.G", Ops::hash_d},
      {"sample_ntt", Ops::sample_a},
      {{"sample_poly_cbd_ntt", "sample_poly_cbd", "ntt"}, Ops::sample_se},
      {{"multiply_encode", "multiply_ntts", "byte_encode"}, Ops::mul_as_store},
      {"sha3_256.H", Ops::hash_new_pk},
  });

  static constexpr auto encaps = plan_of<kEncapsStages, State>({
      {"randombytes", Ops::make_encaps_coins},
      {"sha3_256.H", Ops::hash_pk},
      {"sha3_512.G", Ops::hash_m},
      {"byte_decode", Ops::load_pk},
      {"sample_ntt", Ops::sample_a_transposed},
      {{"sample_poly_cbd_ntt", "sample_poly_cbd", "ntt"}, Ops::sample_noise},
      {"multiply_ntts", Ops::mul_ay},
      {{"inverse_ntt_add_compress", "inverse_ntt", "compress_byte_encode"}, Ops::store_c},
      {"shared_secret", Ops::store_ss},
  });

  static constexpr auto decaps = plan_of<kDecapsStages, State>({
      {"sha3_256.H", Ops::check_sk},
      {"byte_decode", Ops::load_c_sk},
      {"ntt.u", Ops::ntt_u},
      {"multiply_ntts.su", Ops::mul_su},
      {{"inverse_ntt_compress.m", "inverse_ntt.su", "compress.m"}, Ops::decode_m},
      {"sha3_512.G", Ops::hash_m},
      {"shake256.J", Ops::hash_c},
      {"sample_ntt", Ops::sample_a_transposed},
      {{"sample_poly_cbd_ntt", "sample_poly_cbd", "ntt"}, Ops::sample_noise},
      {"multiply_ntts", Ops::mul_ay},
      {{"inverse_ntt_add_compare", "inverse_ntt", "compress_compare"}, Ops::compare_c},
      {"cmov", Ops::select},
  });
};

}  // namespace polykem::mlkem::x8
