// SPDX-License-Identifier: Apache-2.0
// A parameter set as device code sees it at compile time.
#pragma once

#include "schemes/lac/params.hpp"

namespace polykem::lac::cuda {

/// kSet: the set's index in kSets.
template <size_t kSet>
struct Shape {
  static constexpr Set kParams = kSets[kSet];
  static constexpr int kN = static_cast<int>(kParams.n);
  static constexpr int kWeight = static_cast<int>(kParams.weight);
  static constexpr size_t kErrors = kParams.errors;
  static constexpr int kCodeBits = static_cast<int>(kParams.code_bits());
  static constexpr int kCodeWords = (kCodeBits + 31) / 32;
  static constexpr int kC2 = static_cast<int>(kParams.c2_coefficients());
  static constexpr int kNoise2Bytes = static_cast<int>(kParams.noise2_bytes());
  static constexpr int kChainHashes = static_cast<int>(chain_hashes(kParams));

  static constexpr int kPublicKeyBytes = static_cast<int>(kParams.public_key_bytes());
  static constexpr int kSecretKeyBytes = static_cast<int>(kParams.secret_key_bytes());
  static constexpr int kCiphertextBytes = static_cast<int>(kParams.ciphertext_bytes());

  /// The numbers of the PRG's blocks for three seeds, the positions of a polynomial, and e2.
  static constexpr int kSeedBlocks = 6;
  static constexpr int kPositionBlocks = static_cast<int>(kParams.word_bytes()) / 16;
  static constexpr int kNoise2Blocks = (kNoise2Bytes + 15) / 16;

  static constexpr int kC2Words = (kC2 + 31) / 32;  ///< words with a bit for each coefficient of c2
};

}  // namespace polykem::lac::cuda
