// SPDX-License-Identifier: Apache-2.0
// A parameter set as device code sees it at compile time, and the sizes of what the kernels pass on.
#pragma once

#include "schemes/mldsa/params.hpp"

namespace polykem::mldsa::cuda {

/// The largest batch that every operation can run at once: the indices of its entries of A have 32 bits.
inline constexpr size_t kMaxItems = size_t{1} << 25;

/// A parameter set as a type, since kernels take types.
struct Mldsa44 {
  static constexpr const char* kName = "mldsa44";
  static constexpr MldsaParams kParams = kMldsa44;
  static constexpr double kAttempts = 4.25;  ///< attempts at a signature, on average [FIPS204, 4, Table 1]
};
struct Mldsa65 {
  static constexpr const char* kName = "mldsa65";
  static constexpr MldsaParams kParams = kMldsa65;
  static constexpr double kAttempts = 5.1;
};
struct Mldsa87 {
  static constexpr const char* kName = "mldsa87";
  static constexpr MldsaParams kParams = kMldsa87;
  static constexpr double kAttempts = 3.85;
};

inline constexpr int kSeedWords = kSeedBytes / 4, kDigestWords = kDigestBytes / 4;
/// The polynomial c of a challenge is 256 fields of two bits: 0, 1 or, for -1, 2.
inline constexpr int kChallengePolyWords = 16;

template <class Set>
struct Shape {
  static constexpr MldsaParams kParams = Set::kParams;
  static constexpr double kAttempts = Set::kAttempts;
  static constexpr int kK = static_cast<int>(kParams.k), kL = static_cast<int>(kParams.l);
  static constexpr int kEntries = kK * kL;  ///< entries of A
  static constexpr int kEta = kParams.eta, kTau = static_cast<int>(kParams.tau);
  static constexpr int kGamma1 = kParams.gamma1(), kGamma2 = kParams.gamma2(), kBeta = kParams.beta();
  static constexpr int kOmega = static_cast<int>(kParams.omega);
  static constexpr int kEtaBits = kParams.eta_bits(), kZBits = kParams.z_bits(), kW1Bits = kParams.w1_bits();
  static constexpr int kEtaBytes = static_cast<int>(kParams.eta_bytes());
  static constexpr int kT0Bytes = static_cast<int>(kParams.t0_bytes()), kT1Bytes = static_cast<int>(kParams.t1_bytes());
  static constexpr int kW1Bytes = static_cast<int>(kParams.w1_bytes());
  static constexpr int kMaskWords = static_cast<int>(kParams.z_bytes()) / 4;  ///< words of a packed polynomial of y
  static constexpr int kChallengeWords = static_cast<int>(kParams.challenge_bytes()) / 4;
  static constexpr int kPublicKeyBytes = static_cast<int>(kParams.public_key_bytes());
  static constexpr int kSecretKeyBytes = static_cast<int>(kParams.secret_key_bytes());
  static constexpr int kSignatureBytes = static_cast<int>(kParams.signature_bytes());
  static constexpr int kKOffset = static_cast<int>(kParams.k_offset());
  static constexpr int kTrOffset = static_cast<int>(kParams.tr_offset());
  static constexpr int kS1Offset = static_cast<int>(kParams.s1_offset());
  static constexpr int kS2Offset = static_cast<int>(kParams.s2_offset());
  static constexpr int kT0Offset = static_cast<int>(kParams.t0_offset());
  static constexpr int kZOffset = static_cast<int>(kParams.z_offset());
  static constexpr int kHintOffset = static_cast<int>(kParams.hint_offset());
  /// The length of mu and w1's bytes, whose hash is the challenge.
  static constexpr int kMuW1Bytes = static_cast<int>(kDigestBytes) + kK * kW1Bytes;
  static_assert(kMuW1Bytes % 64 == 0 && kPublicKeyBytes % 8 == 0);
};

}  // namespace polykem::mldsa::cuda
