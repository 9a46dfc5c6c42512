// SPDX-License-Identifier: Apache-2.0
// The three operations of ML-DSA. Read this first: it has one step per stage, in order. The steps are in steps.hpp and
// compute a chunk of items. The tiled steps are a round of attempts at signatures, which is repeated until every item
// has one.
#pragma once

#include <array>

#include "core/plan.hpp"
#include "schemes/mldsa/stages.hpp"

namespace polykem::mldsa {

template <class Steps>
struct Keygen {
  static constexpr auto plan = plan_of<kKeygenStages, typename Steps::State>({
      {"randombytes", Steps::make_xi},
      {"shake256.seed", Steps::expand_xi},
      {"expand_a", Steps::expand_a},
      {"expand_s", Steps::expand_s},
      {"ntt", Steps::ntt_s1},
      {"multiply", Steps::multiply_a_s1},
      {"inverse_ntt", Steps::inverse_t},
      {"power2round_pack", Steps::store_t},
      {"shake256.tr", Steps::hash_new_pk},
      {"pack_sk", Steps::store_sk},
  });
};

template <class Steps>
struct Sign {
  static constexpr auto plan = plan_of<kSignStages, typename Steps::State>({
      {with_ahead({"prepare", "randombytes"}, "shake256.mu", "shake256.seed"), Steps::prepare_items},
      {tiled("unpack_sk"), Steps::load_sk},
      {tiled("ntt.key"), Steps::ntt_key},
      {tiled("expand_a"), Steps::expand_a},
      {tiled("expand_mask"), Steps::expand_mask},
      {tiled("ntt.y"), Steps::ntt_y},
      {tiled("multiply.ay"), Steps::multiply_a_y},
      {tiled("inverse_ntt.w"), Steps::inverse_w},
      {tiled("high_bits"), Steps::high_bits},
      {tiled("shake256.c"), Steps::hash_challenge},
      {tiled("sample_in_ball"), Steps::sample_challenge},
      {tiled({"low_bits_response", "response", "low_bits"}), Steps::respond},
      {tiled("hint"), Steps::find_hint},
      {tiled("pack_signature"), Steps::store_signature},
  });
};

template <class Steps>
struct Verify {
  static constexpr auto plan = plan_of<kVerifyStages, typename Steps::State>({
      {"unpack", Steps::load},
      {"expand_a", Steps::expand_a},
      {"shake256.tr", Steps::hash_pk},
      {"shake256.mu", Steps::hash_message},
      {"sample_in_ball", Steps::sample_challenge},
      {"ntt", Steps::ntt_z_t1},
      {"multiply", Steps::multiply_a_z},
      {"inverse_ntt", Steps::inverse_w},
      {"use_hint", Steps::use_hints},
      {"shake256.c", Steps::hash_challenge},
      {"compare", Steps::compare},
  });
};

}  // namespace polykem::mldsa
