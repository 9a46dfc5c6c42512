// SPDX-License-Identifier: Apache-2.0
// FrodoKEM's operations in little memory.
#pragma once

#include <array>

#include "core/operations.hpp"
#include "schemes/frodo/low_memory/chunk.hpp"
#include "schemes/frodo/low_memory/ops.hpp"
#include "schemes/frodo/stages.hpp"

namespace polykem::frodo::low_memory {

/// kDrawKeygen fills the coins of a KeygenChunk, kDrawEncaps mu and salt, which are neighbours.
template <void (*kDrawKeygen)(KeygenChunk&), void (*kDrawEncaps)(EncryptionChunk&)>
struct Kem {
  using KeygenStep = Step<KeygenChunk>;
  using EncryptionStep = Step<EncryptionChunk>;
  static constexpr bool kTiled = true;

  /// What shake.r and sample_matrix do for E is left to matmul.as.
  // clang-format off
  static constexpr std::array keygen{
      KeygenStep{{"randombytes", 0, 1}, kDrawKeygen},
      KeygenStep{{"shake.seed_a", 1, 1}, ops::expand_seed_a},
      KeygenStep{{"shake.s", 2, 2}, ops::expand_s},
      KeygenStep{{"gen_a", 4, 1, kTiled}, ops::gen_a_keygen},
      KeygenStep{{"matmul.as", 5, 2, kTiled}, ops::mul_a_s},
      KeygenStep{{"shake.pkh", 7, 1}, ops::hash_new_pk},
      KeygenStep{{"store_sk", 8, 1}, ops::store_sk},
  };
  // clang-format on

  static constexpr std::array encaps{
      EncryptionStep{{"randombytes", 0, 1}, kDrawEncaps},
      EncryptionStep{{"shake.pkh", 1, 1}, ops::hash_pk},
      EncryptionStep{{"shake.seed_se", 2, 1}, ops::derive_seed_k},
      EncryptionStep{{"shake.r", 3, 2}, ops::expand_noise},
      EncryptionStep{{"gen_a", 5, 1, kTiled}, ops::gen_a},
      EncryptionStep{{"matmul.sa", 6, 1, kTiled}, ops::mul_s1_a},
      EncryptionStep{{"pack.c1", 7, 1}, ops::pack_c1},
      EncryptionStep{{"matmul.sb", 8, 2}, ops::mul_s1_b},
      EncryptionStep{{"encode", 10, 1}, ops::encode_mu},
      EncryptionStep{{"pack.c2", 11, 1}, ops::pack_c2},
      EncryptionStep{{"shake.ss", 12, 1}, ops::hash_new_ct},
  };

  static constexpr std::array decaps{
      EncryptionStep{{"unpack.c", 0, 1}, ops::unpack_c},
      EncryptionStep{{"matmul.bs", 1, 1}, ops::mul_b1_s},
      EncryptionStep{{"decode", 2, 1}, ops::decode_m},
      EncryptionStep{{"shake.seed_se", 3, 1}, ops::derive_seed_k},
      EncryptionStep{{"shake.r", 4, 2}, ops::expand_noise},
      EncryptionStep{{"gen_a", 6, 1, kTiled}, ops::gen_a},
      EncryptionStep{{"matmul.sa", 7, 1, kTiled}, ops::mul_s1_a},
      EncryptionStep{{"matmul.sb", 8, 2}, ops::mul_s1_b},
      EncryptionStep{{"encode", 10, 1}, ops::encode_mu},
      EncryptionStep{{"compare", 11, 1}, ops::compare_ct},
      EncryptionStep{{"select", 12, 1}, ops::select_k_or_s},
      EncryptionStep{{"shake.ss", 13, 1}, ops::hash_ct},
  };

  static_assert(covers_each_stage_once(keygen, kKeygenStages.size()));
  static_assert(covers_each_stage_once(encaps, kEncapsStages.size()));
  static_assert(covers_each_stage_once(decaps, kDecapsStages.size()));
};

}  // namespace polykem::frodo::low_memory
