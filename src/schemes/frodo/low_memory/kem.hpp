// SPDX-License-Identifier: Apache-2.0
// FrodoKEM's operations in little memory.
#pragma once

#include <array>

#include "core/operations.hpp"
#include "schemes/frodo/low_memory/state.hpp"
#include "schemes/frodo/low_memory/steps.hpp"
#include "schemes/frodo/stages.hpp"

namespace polykem::frodo::low_memory {

/// kMakeKeygenCoins fills the coins of a KeygenState, kMakeEncapsCoins mu and salt, which are neighbours.
template <void (*kMakeKeygenCoins)(KeygenState&), void (*kMakeEncapsCoins)(EncryptionState&)>
struct Kem {
  /// E is squeezed and sampled in matmul.as, not in shake.r and sample_matrix.
  static constexpr auto keygen = plan_of<kKeygenStages, KeygenState>({
      {"randombytes", kMakeKeygenCoins},
      {"shake.seed_a", steps::expand_seed_a},
      {{"shake.s", "shake.r", "sample_matrix"}, steps::expand_s},
      {tiled("gen_a"), steps::gen_a_keygen},
      {tiled({"matmul.as", "matmul.as", "pack"}), steps::mul_a_s},
      {"shake.pkh", steps::hash_new_pk},
      {"store_sk", steps::store_sk},
  });

  static constexpr auto encaps = plan_of<kEncapsStages, EncryptionState>({
      {"randombytes", kMakeEncapsCoins},
      {"shake.pkh", steps::hash_pk},
      {"shake.seed_se", steps::derive_seed_k},
      {{"shake.r", "shake.r", "sample_matrix"}, steps::expand_noise},
      {tiled("gen_a"), steps::gen_a},
      {tiled("matmul.sa"), steps::mul_s1_a},
      {"pack.c1", steps::pack_c1},
      {{"matmul.sb", "unpack.b", "matmul.sb"}, steps::mul_s1_b},
      {"encode", steps::encode_mu},
      {"pack.c2", steps::pack_c2},
      {"shake.ss", steps::hash_new_ct},
  });

  static constexpr auto decaps = plan_of<kDecapsStages, EncryptionState>({
      {"unpack.c", steps::unpack_c},
      {"matmul.bs", steps::mul_b1_s},
      {"decode", steps::decode_m},
      {"shake.seed_se", steps::derive_seed_k},
      {{"shake.r", "shake.r", "sample_matrix"}, steps::expand_noise},
      {tiled("gen_a"), steps::gen_a},
      {tiled("matmul.sa"), steps::mul_s1_a},
      {{"matmul.sb", "unpack.b", "matmul.sb"}, steps::mul_s1_b},
      {"encode", steps::encode_mu},
      {"compare", steps::compare_ct},
      {"select", steps::select_k_or_s},
      {"shake.ss", steps::hash_ct},
  });
};

}  // namespace polykem::frodo::low_memory
