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
  using Step = polykem::Step<Chunk>;

  static constexpr std::array keygen{
      Step{{"randombytes", 0, 1}, Ops::make_keygen_coins},
      Step{{"sha3_512", 1, 1}, Ops::hash_d},
      Step{{"gen_a", 2, 1}, Ops::gen_a},
      Step{{"sample_cbd_ntt", 3, 2}, Ops::sample_se},
      Step{{"basemul_tobytes", 5, 2}, Ops::mul_as_store},
      Step{{"sha3_256.ek", 7, 1}, Ops::hash_new_pk},
  };

  static constexpr std::array encaps{
      Step{{"randombytes", 0, 1}, Ops::make_encaps_coins},
      Step{{"sha3_256.ek", 1, 1}, Ops::hash_pk},
      Step{{"sha3_512", 2, 1}, Ops::hash_m},
      Step{{"frombytes", 3, 1}, Ops::load_ek},
      Step{{"gen_a", 4, 1}, Ops::gen_a_transposed},
      Step{{"sample_cbd_ntt", 5, 2}, Ops::sample_noise},
      Step{{"basemul", 7, 1}, Ops::mul_ay},
      Step{{"invntt_add_compress", 8, 3}, Ops::store_c},
      Step{{"shared_secret", 11, 1}, Ops::store_ss},
  };

  static constexpr std::array decaps{
      Step{{"sha3_256.ek", 0, 1}, Ops::check_dk},
      Step{{"frombytes", 1, 1}, Ops::load_c_dk},
      Step{{"ntt.u", 2, 1}, Ops::ntt_u},
      Step{{"basemul.su", 3, 1}, Ops::mul_su},
      Step{{"invntt_tomsg.su", 4, 2}, Ops::decode_m},
      Step{{"sha3_512", 6, 1}, Ops::hash_m},
      Step{{"shake256.reject", 7, 1}, Ops::hash_c},
      Step{{"gen_a", 8, 1}, Ops::gen_a_transposed},
      Step{{"sample_cbd_ntt", 9, 2}, Ops::sample_noise},
      Step{{"basemul", 11, 1}, Ops::mul_ay},
      Step{{"invntt_add_compare", 12, 3}, Ops::compare_c},
      Step{{"cmov", 15, 1}, Ops::select},
  };

  static_assert(covers_each_stage_once(keygen, kKeygenStages.size()));
  static_assert(covers_each_stage_once(encaps, kEncapsStages.size()));
  static_assert(covers_each_stage_once(decaps, kDecapsStages.size()));
};

}  // namespace polykem::mlkem::x8
