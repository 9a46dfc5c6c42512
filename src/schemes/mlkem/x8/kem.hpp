// SPDX-License-Identifier: Apache-2.0
// The plans of eight items. They differ from kem.hpp in what is one step: noise is sampled and transformed, or
// sampled as it is added; products are packed as they are computed; inverse transforms are compressed, and stored or
// compared.
#pragma once

#include <array>

#include "core/plan.hpp"
#include "schemes/mlkem/stages.hpp"

namespace polykem::mlkem::x8 {

template <class Ops>
struct Kem {
  using Chunk = typename Ops::Chunk;

  static constexpr auto keygen = plan_of<kKeygenStages, Chunk>({
      {"randombytes", Ops::make_keygen_coins},
      {"sha3_512", Ops::hash_d},
      {"gen_a", Ops::gen_a},
      {{"sample_cbd_ntt", "sample_cbd", "ntt"}, Ops::sample_se},
      {{"basemul_tobytes", "basemul", "tobytes"}, Ops::mul_as_store},
      {"sha3_256.ek", Ops::hash_new_pk},
  });

  static constexpr auto encaps = plan_of<kEncapsStages, Chunk>({
      {"randombytes", Ops::make_encaps_coins},
      {"sha3_256.ek", Ops::hash_pk},
      {"sha3_512", Ops::hash_m},
      {"frombytes", Ops::load_ek},
      {"gen_a", Ops::gen_a_transposed},
      {{"sample_cbd_ntt", "sample_cbd", "ntt"}, Ops::sample_noise},
      {"basemul", Ops::mul_ay},
      {{"invntt_add_compress", "invntt", "compress_tobytes"}, Ops::store_c},
      {"shared_secret", Ops::store_ss},
  });

  static constexpr auto decaps = plan_of<kDecapsStages, Chunk>({
      {"sha3_256.ek", Ops::check_dk},
      {"frombytes", Ops::load_c_dk},
      {"ntt.u", Ops::ntt_u},
      {"basemul.su", Ops::mul_su},
      {{"invntt_tomsg.su", "invntt.su", "tomsg"}, Ops::decode_m},
      {"sha3_512", Ops::hash_m},
      {"shake256.reject", Ops::hash_c},
      {"gen_a", Ops::gen_a_transposed},
      {{"sample_cbd_ntt", "sample_cbd", "ntt"}, Ops::sample_noise},
      {"basemul", Ops::mul_ay},
      {{"invntt_add_compare", "invntt", "compress_compare"}, Ops::compare_c},
      {"cmov", Ops::select},
  });
};

}  // namespace polykem::mlkem::x8
