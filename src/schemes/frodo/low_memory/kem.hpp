// SPDX-License-Identifier: Apache-2.0
// FrodoKEM's operations in little memory.
#pragma once

#include <array>

#include "core/operations.hpp"
#include "schemes/frodo/low_memory/ops.hpp"
#include "schemes/frodo/low_memory/state.hpp"
#include "schemes/frodo/stages.hpp"

namespace polykem::frodo::low_memory {

/// kMakeKeygenCoins fills the coins of a KeygenState, kMakeEncapsCoins mu and salt, which are neighbours.
template <void (*kMakeKeygenCoins)(KeygenState&), void (*kMakeEncapsCoins)(EncryptionState&)>
struct Kem {
  /// E is squeezed and sampled in matmul.as, not in shake.r and sample_matrix.
  static constexpr auto keygen = plan_of<kKeygenStages, KeygenState>({
      {"randombytes", kMakeKeygenCoins},
      {"shake.seed_a", ops::expand_seed_a},
      {{"shake.s", "shake.r", "sample_matrix"}, ops::expand_s},
      {tiled("gen_a"), ops::gen_a_keygen},
      {tiled({"matmul.as", "matmul.as", "pack"}), ops::mul_a_s},
      {"shake.pkh", ops::hash_new_pk},
      {"store_sk", ops::store_sk},
  });

  static constexpr auto encaps = plan_of<kEncapsStages, EncryptionState>({
      {"randombytes", kMakeEncapsCoins},
      {"shake.pkh", ops::hash_pk},
      {"shake.seed_se", ops::derive_seed_k},
      {{"shake.r", "shake.r", "sample_matrix"}, ops::expand_noise},
      {tiled("gen_a"), ops::gen_a},
      {tiled("matmul.sa"), ops::mul_s1_a},
      {"pack.c1", ops::pack_c1},
      {{"matmul.sb", "unpack.b", "matmul.sb"}, ops::mul_s1_b},
      {"encode", ops::encode_mu},
      {"pack.c2", ops::pack_c2},
      {"shake.ss", ops::hash_new_ct},
  });

  static constexpr auto decaps = plan_of<kDecapsStages, EncryptionState>({
      {"unpack.c", ops::unpack_c},
      {"matmul.bs", ops::mul_b1_s},
      {"decode", ops::decode_m},
      {"shake.seed_se", ops::derive_seed_k},
      {{"shake.r", "shake.r", "sample_matrix"}, ops::expand_noise},
      {tiled("gen_a"), ops::gen_a},
      {tiled("matmul.sa"), ops::mul_s1_a},
      {{"matmul.sb", "unpack.b", "matmul.sb"}, ops::mul_s1_b},
      {"encode", ops::encode_mu},
      {"compare", ops::compare_ct},
      {"select", ops::select_k_or_s},
      {"shake.ss", ops::hash_ct},
  });
};

}  // namespace polykem::frodo::low_memory
