// SPDX-License-Identifier: Apache-2.0
// The three operations of ML-DSA. Read this first: one step per stage, in order; the steps are in steps.hpp and compute
// a chunk of items. Tiled steps are an attempt at a signature, which is repeated until every item has one.
#pragma once

#include <array>

#include "core/plan.hpp"
#include "schemes/mldsa/stages.hpp"

namespace polykem::mldsa {

template <class Ops>
struct Keygen {
  using Step = polykem::Step<typename Ops::Chunk>;

  static constexpr std::array plan{
      Step{{"randombytes", 0, 1}, Ops::make_xi}, Step{{"shake256.seed", 1, 1}, Ops::expand_xi},
      Step{{"expand_a", 2, 1}, Ops::expand_a},   Step{{"expand_s", 3, 1}, Ops::expand_s},
      Step{{"ntt", 4, 1}, Ops::ntt_s1},          Step{{"multiply", 5, 1}, Ops::multiply_a_s1},
      Step{{"invntt", 6, 1}, Ops::inverse_t},    Step{{"power2round_pack", 7, 1}, Ops::store_t},
      Step{{"shake256.tr", 8, 1}, Ops::hash_pk}, Step{{"pack_sk", 9, 1}, Ops::store_sk},
  };
  static_assert(covers_each_stage_once(plan, kKeygenStages.size()));
};

template <class Ops>
struct Sign {
  using Step = polykem::Step<typename Ops::Chunk>;

  static constexpr std::array plan{
      Step{{"randombytes", 0, 1}, Ops::make_rnd},
      Step{{"unpack_sk", 1, 1}, Ops::load_sk},
      Step{{"ntt.key", 2, 1}, Ops::ntt_key},
      Step{{"expand_a", 3, 1}, Ops::expand_a},
      Step{{"shake256.mu", 4, 1}, Ops::hash_message},
      Step{{"shake256.seed", 5, 1}, Ops::expand_seed},
      Step{{"expand_mask", 6, 1, true}, Ops::expand_mask},
      Step{{"ntt.y", 7, 1, true}, Ops::ntt_y},
      Step{{"multiply.ay", 8, 1, true}, Ops::multiply_a_y},
      Step{{"invntt.w", 9, 1, true}, Ops::inverse_w},
      Step{{"high_bits", 10, 1, true}, Ops::high_bits},
      Step{{"shake256.c", 11, 1, true}, Ops::hash_challenge},
      Step{{"sample_in_ball", 12, 1, true}, Ops::sample_challenge},
      Step{{"response", 13, 1, true}, Ops::respond},
      Step{{"low_bits", 14, 1, true}, Ops::subtract_c_s2},
      Step{{"hint", 15, 1, true}, Ops::find_hint},
      Step{{"pack_signature", 16, 1, true}, Ops::store_signature},
  };
  static_assert(covers_each_stage_once(plan, kSignStages.size()));
};

template <class Ops>
struct Verify {
  using Step = polykem::Step<typename Ops::Chunk>;

  static constexpr std::array plan{
      Step{{"unpack", 0, 1}, Ops::load},
      Step{{"expand_a", 1, 1}, Ops::expand_a},
      Step{{"shake256.tr", 2, 1}, Ops::hash_pk},
      Step{{"shake256.mu", 3, 1}, Ops::hash_message},
      Step{{"sample_in_ball", 4, 1}, Ops::sample_challenge},
      Step{{"ntt", 5, 1}, Ops::ntt_z_t1},
      Step{{"multiply", 6, 1}, Ops::multiply_a_z},
      Step{{"invntt", 7, 1}, Ops::inverse_w},
      Step{{"use_hint", 8, 1}, Ops::use_hints},
      Step{{"shake256.c", 9, 1}, Ops::hash_challenge},
      Step{{"compare", 10, 1}, Ops::compare},
  };
  static_assert(covers_each_stage_once(plan, kVerifyStages.size()));
};

}  // namespace polykem::mldsa
