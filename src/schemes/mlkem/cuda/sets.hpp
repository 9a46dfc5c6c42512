// SPDX-License-Identifier: Apache-2.0
// A parameter set as device code sees it at compile time: its parameters and the layout of what the kernels pass on.
#pragma once

#include "schemes/mlkem/params.hpp"

namespace polykem::mlkem::cuda {

/// The largest batch that every operation can run at once: the indices of its entries of A, k^2 for each item, have 32
/// bits.
inline constexpr size_t kMaxItems = size_t{1} << 27;

/// A parameter set as a type, since kernels take types. Same is the set whose kernels compute what does not depend on
/// the round.
struct Mlkem512 {
  using Same = Mlkem512;
  static constexpr const char* kName = "mlkem512";
  static constexpr MlkemParams kParams = kMlkem512;
};
struct Mlkem768 {
  using Same = Mlkem768;
  static constexpr const char* kName = "mlkem768";
  static constexpr MlkemParams kParams = kMlkem768;
};
struct Mlkem1024 {
  using Same = Mlkem1024;
  static constexpr const char* kName = "mlkem1024";
  static constexpr MlkemParams kParams = kMlkem1024;
};
struct Kyber512 {
  using Same = Mlkem512;
  static constexpr const char* kName = "kyber512";
  static constexpr MlkemParams kParams = kKyber512;
};
struct Kyber768 {
  using Same = Mlkem768;
  static constexpr const char* kName = "kyber768";
  static constexpr MlkemParams kParams = kKyber768;
};
struct Kyber1024 {
  using Same = Mlkem1024;
  static constexpr const char* kName = "kyber1024";
  static constexpr MlkemParams kParams = kKyber1024;
};

/// A row of a transform in device memory has 256 coefficients of 16 bits: coefficient 16 l + 8 c + j has the index 128
/// c + 8 l + j. So lane l of 16, which works on coefficients 16 l to 16 l + 15, reads two times 16 bytes beside those
/// of its neighbours. A row of noise has 256 values of 4 bits, which are coefficients plus eta: value r of lane l's 64
/// bits is coefficient l + 16 r.
inline constexpr size_t kRowBytes = 2 * kN;
inline constexpr size_t kNoiseBytes = kN / 2;

template <class Set>
struct Shape {
  static constexpr MlkemParams kParams = Set::kParams;
  static constexpr bool kKyber = kParams.kyber();
  static constexpr int kK = static_cast<int>(kParams.k);
  static constexpr unsigned kEta1 = kParams.eta1, kEta2 = kParams.kEta2;
  static constexpr int kDu = static_cast<int>(kParams.du), kDv = static_cast<int>(kParams.dv);
  static constexpr int kEntries = kK * kK;  ///< entries of A
  static constexpr int kVectorBytes = static_cast<int>(kParams.vector_bytes());
  static constexpr int kPublicKeyBytes = static_cast<int>(kParams.public_key_bytes());
  static constexpr int kSecretKeyBytes = static_cast<int>(kParams.secret_key_bytes());
  static constexpr int kCiphertextBytes = static_cast<int>(kParams.ciphertext_bytes());
  static constexpr int kPkOffset = static_cast<int>(kParams.pk_offset());
  static constexpr int kHashOffset = static_cast<int>(kParams.hash_offset());
  static constexpr int kZOffset = static_cast<int>(kParams.z_offset());

  /// The offsets in an expanded key. An expanded public key has A^T and t as rows, H(pk), and whether it is
  /// well-formed. An expanded secret key goes on with s as rows, z, and whether it is well-formed.
  struct ExpandedKey {
    static constexpr size_t kT = kEntries * kRowBytes;
    static constexpr size_t kHash = kT + kK * kRowBytes;
    static constexpr size_t kPublicValid = kHash + kSymBytes;
    static constexpr size_t kPublicBytes = kHash + 64;
    static constexpr size_t kS = kPublicBytes;
    static constexpr size_t kZ = kS + kK * kRowBytes;
    static constexpr size_t kSecretValid = kZ + kSymBytes;
    static constexpr size_t kSecretBytes = kZ + 64;
  };
};

}  // namespace polykem::mlkem::cuda
