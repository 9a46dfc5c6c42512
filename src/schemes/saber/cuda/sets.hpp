// SPDX-License-Identifier: Apache-2.0
// A parameter set as device code sees it at compile time: its parameters and the layout of what the kernels pass on.
#pragma once

#include "core/round.hpp"
#include "schemes/saber/params.hpp"

namespace polykem::saber::cuda {

/// The largest batch that every operation can run at once: a launch has up to three blocks for an item.
inline constexpr size_t kMaxItems = size_t{1} << 28;

/// A parameter set as a type, since kernels take types.
struct LightSaber {
  static constexpr const char* kName = "lightsaber";
  static constexpr SaberParams kParams = kLightSaber;
};
struct Saber {
  static constexpr const char* kName = "saber";
  static constexpr SaberParams kParams = kSaber;
};
struct FireSaber {
  static constexpr const char* kName = "firesaber";
  static constexpr SaberParams kParams = kFireSaber;
};

template <class Set>
struct Shape {
  static constexpr SaberParams kParams = Set::kParams;
  static constexpr int kL = static_cast<int>(kParams.l);
  static constexpr int kMu = static_cast<int>(kParams.mu), kT = static_cast<int>(kParams.t_bits);
  /// The lengths of an item's rows in device memory: A, row by row, as SHAKE128 returns it, and the bytes from which
  /// secrets are sampled.
  static constexpr int kMatrixBytes = static_cast<int>(kParams.matrix_bytes());
  static constexpr int kNoiseBytes = static_cast<int>(kParams.noise_bytes());
  static_assert(kMatrixBytes % 16 == 0 && kNoiseBytes % 16 == 0);
  static constexpr int kSecretBytes = static_cast<int>(kParams.secret_bytes());
  static constexpr int kVectorBytes = static_cast<int>(kParams.vector_bytes());
  static constexpr int kPublicKeyBytes = static_cast<int>(kParams.public_key_bytes());
  static constexpr int kSecretKeyBytes = static_cast<int>(kParams.secret_key_bytes());
  static constexpr int kCiphertextBytes = static_cast<int>(kParams.ciphertext_bytes());
  static constexpr int kPkOffset = static_cast<int>(kParams.pk_offset());
  static constexpr int kHashOffset = static_cast<int>(kParams.hash_offset());
  static constexpr int kZOffset = static_cast<int>(kParams.z_offset());

  /// The offsets in an expanded key. An expanded public key has A, b and H(pk); an expanded secret key goes on with s
  /// and z. All are packed as in records.
  struct ExpandedKey {
    static constexpr size_t kB = kMatrixBytes;
    static constexpr size_t kHash = kB + kVectorBytes;
    static constexpr size_t kPublicBytes = rounded_up(kHash + kSymBytes, 64);
    static constexpr size_t kS = kPublicBytes;
    static constexpr size_t kZ = kS + kParams.secret_bytes();
    static constexpr size_t kSecretBytes = rounded_up(kZ + kSymBytes, 64);
  };
};

}  // namespace polykem::saber::cuda
