// SPDX-License-Identifier: Apache-2.0
// The three operations of ML-DSA. Read this first: it has one step per stage, in order. The steps are in steps.hpp and
// compute a chunk of items. The tiled steps are a round of attempts at signatures, which is repeated until every item
// has one.
#pragma once

#include <array>

#include "core/plan.hpp"
#include "schemes/mldsa/stages.hpp"

namespace polykem::mldsa {

template <class Ops>
struct Keygen {
  static constexpr auto plan = plan_of<kKeygenStages, typename Ops::State>({
      {"randombytes", Ops::make_xi},
      {"shake256.seed", Ops::expand_xi},
      {"expand_a", Ops::expand_a},
      {"expand_s", Ops::expand_s},
      {"ntt", Ops::ntt_s1},
      {"multiply", Ops::multiply_a_s1},
      {"inverse_ntt", Ops::inverse_t},
      {"power2round_pack", Ops::store_t},
      {"shake256.tr", Ops::hash_new_pk},
      {"pack_sk", Ops::store_sk},
  });
};

template <class Ops>
struct Sign {
  static constexpr auto plan = plan_of<kSignStages, typename Ops::State>({
      {with_ahead({"prepare", "randombytes"}, "shake256.mu", "shake256.seed"), Ops::prepare_items},
      {tiled("unpack_sk"), Ops::load_sk},
      {tiled("ntt.key"), Ops::ntt_key},
      {tiled("expand_a"), Ops::expand_a},
      {tiled("expand_mask"), Ops::expand_mask},
      {tiled("ntt.y"), Ops::ntt_y},
      {tiled("multiply.ay"), Ops::multiply_a_y},
      {tiled("inverse_ntt.w"), Ops::inverse_w},
      {tiled("high_bits"), Ops::high_bits},
      {tiled("shake256.c"), Ops::hash_challenge},
      {tiled("sample_in_ball"), Ops::sample_challenge},
      {tiled({"low_bits_response", "response", "low_bits"}), Ops::respond},
      {tiled("hint"), Ops::find_hint},
      {tiled("pack_signature"), Ops::store_signature},
  });
};

template <class Ops>
struct Verify {
  static constexpr auto plan = plan_of<kVerifyStages, typename Ops::State>({
      {"unpack", Ops::load},
      {"expand_a", Ops::expand_a},
      {"shake256.tr", Ops::hash_pk},
      {"shake256.mu", Ops::hash_message},
      {"sample_in_ball", Ops::sample_challenge},
      {"ntt", Ops::ntt_z_t1},
      {"multiply", Ops::multiply_a_z},
      {"inverse_ntt", Ops::inverse_w},
      {"use_hint", Ops::use_hints},
      {"shake256.c", Ops::hash_challenge},
      {"compare", Ops::compare},
  });
};

}  // namespace polykem::mldsa
