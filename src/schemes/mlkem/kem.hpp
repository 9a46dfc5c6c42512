// SPDX-License-Identifier: Apache-2.0
// The three operations of ML-KEM and Kyber. Read this first: one step per stage, in order. `Ops` is
// steps.hpp's Steps; a step computes a chunk of items.
#pragma once

#include <array>

#include "core/plan.hpp"
#include "schemes/mlkem/stages.hpp"

namespace polykem::mlkem {

template <class Ops>
struct Kem {
  using Chunk = typename Ops::Chunk;

  static constexpr auto keygen = plan_of<kKeygenStages, Chunk>({
      {"randombytes", Ops::make_keygen_coins},
      {"sha3_512", Ops::hash_d},
      {"gen_a", Ops::gen_a},
      {"sample_cbd", Ops::sample_se},
      {"ntt", Ops::ntt_se},
      {"basemul", Ops::mul_as},
      {"tobytes", Ops::store_keys},
      {"sha3_256.ek", Ops::hash_new_pk},
  });

  static constexpr auto encaps = plan_of<kEncapsStages, Chunk>({
      {"randombytes", Ops::make_encaps_coins},
      {"sha3_256.ek", Ops::hash_pk},
      {"sha3_512", Ops::hash_m},
      {"frombytes", Ops::load_ek},
      {"gen_a", Ops::gen_a_transposed},
      {"sample_cbd", Ops::sample_noise},
      {"ntt", Ops::ntt_y},
      {"basemul", Ops::mul_ay},
      {"invntt", Ops::inverse_uv},
      {"add", Ops::add_noise},
      {"compress_tobytes", Ops::store_c},
      {"shared_secret", Ops::store_ss},
  });

  static constexpr auto decaps = plan_of<kDecapsStages, Chunk>({
      {"sha3_256.ek", Ops::check_dk},
      {"frombytes", Ops::load_c_dk},
      {"ntt.u", Ops::ntt_u},
      {"basemul.su", Ops::mul_su},
      {"invntt.su", Ops::inverse_su},
      {"tomsg", Ops::decode_m},
      {"sha3_512", Ops::hash_m},
      {"shake256.reject", Ops::hash_c},
      {"gen_a", Ops::gen_a_transposed},
      {"sample_cbd", Ops::sample_noise},
      {"ntt", Ops::ntt_y},
      {"basemul", Ops::mul_ay},
      {"invntt", Ops::inverse_uv},
      {"add", Ops::add_noise},
      {"compress_compare", Ops::compare_c},
      {"cmov", Ops::select},
  });
};

}  // namespace polykem::mlkem
