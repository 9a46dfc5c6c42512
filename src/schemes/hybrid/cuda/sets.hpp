// SPDX-License-Identifier: Apache-2.0
// The hybrids of ML-KEM-768 and X25519 as device code sees them at compile time. In their records ML-KEM's part comes
// first.
#pragma once

#include <string_view>

#include "schemes/hybrid/params.hpp"
#include "schemes/mlkem/cuda/sets.hpp"

namespace polykem::hybrid::cuda {

/// The length of X25519's scalars, points and secrets.
inline constexpr int kCurveBytes = 32, kCurveWords = kCurveBytes / 4;

/// A hybrid at compile time. kIndex is its index in kSets.
template <size_t kIndex>
struct Shape {
  static constexpr HybridParams kParams = kSets[kIndex];
  using Kem = mlkem::cuda::Shape<mlkem::cuda::Mlkem768>;
  static_assert(std::string_view(kParams.kem) == mlkem::cuda::Mlkem768::kName);
  static_assert(kParams.curve == ecdh::Curve::kX25519 && !kParams.curve_first);

  static constexpr bool kHpke = kParams.hpke();
  static constexpr int kEkBytes = Kem::kPublicKeyBytes, kDkBytes = Kem::kSecretKeyBytes,
                       kCtBytes = Kem::kCiphertextBytes;
  static constexpr int kPublicKeyBytes = kEkBytes + kCurveBytes, kCiphertextBytes = kCtBytes + kCurveBytes;
  static constexpr int kSecretKeyBytes = kHpke ? int{kSymBytes} : kDkBytes + kCurveBytes;
  static constexpr int kSharedSecretBytes = int{kParams.shared_secret_bytes()};
  static constexpr int kSeedWords = int{kParams.expanded_seed_bytes()} / 4;  ///< d, z, scalar

  /// Returns what follows the secrets and points in the hash of HPKE: the label and SHA3's suffix.
  static constexpr uint64_t hash_tail() {
    const std::string_view label = kParams.label;
    uint64_t tail = uint64_t{0x06} << (8 * label.size());
    for (size_t i = 0; i < label.size(); ++i)
      tail |= static_cast<uint64_t>(static_cast<unsigned char>(label[i])) << (8 * i);
    return tail;
  }
};

}  // namespace polykem::hybrid::cuda
