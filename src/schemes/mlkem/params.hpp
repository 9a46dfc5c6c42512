// SPDX-License-Identifier: Apache-2.0
// The parameter sets of ML-KEM and of Kyber round 3, and the sizes that follow from them. [FIPS203, 8] [KYBER21, 1.4]
#pragma once

#include <cstddef>
#include <cstdint>

namespace polykem::mlkem {

/// ML-KEM is the final standard; Kyber of round 3 derives seeds and shared secrets differently and does not check
/// inputs.
enum class Version { kMlkem, kKyber };

inline constexpr size_t kN = 256;
inline constexpr uint32_t kQ = 3329;
inline constexpr size_t kSymBytes = 32;  ///< seeds, messages, hashes and shared secrets
inline constexpr size_t kPolyBytes = kN * 12 / 8;

/// The parameters that the arithmetic depends on.
struct Dims {
  size_t k;
  unsigned eta1, du, dv;
  static constexpr unsigned kEta2 = 2;

  constexpr size_t u_bytes() const { return k * kN * du / 8; }
  constexpr size_t v_bytes() const { return kN * dv / 8; }
  constexpr size_t vector_bytes() const { return k * kPolyBytes; }
  constexpr size_t public_key_bytes() const { return vector_bytes() + kSymBytes; }
  constexpr size_t ciphertext_bytes() const { return u_bytes() + v_bytes(); }
  /// The secret key is s, pk, H(pk), z; these are the offsets of its parts.
  constexpr size_t pk_offset() const { return vector_bytes(); }
  constexpr size_t hash_offset() const { return pk_offset() + public_key_bytes(); }
  constexpr size_t z_offset() const { return hash_offset() + kSymBytes; }
  constexpr size_t secret_key_bytes() const { return z_offset() + kSymBytes; }
  /// The number of polynomials that an encryption samples: y, e1, e2.
  constexpr size_t noise_polys() const { return 2 * k + 1; }
  /// The number of bytes from one output of the PRF to the next.
  constexpr size_t prf_stride() const { return 64 * eta1; }
};

struct MlkemParams : Dims {
  Version version;
  constexpr bool kyber() const { return version == Version::kKyber; }
};

inline constexpr size_t kKeygenCoinBytes = 2 * kSymBytes;  ///< d, z
inline constexpr size_t kEncapsCoinBytes = kSymBytes;      ///< m

inline constexpr Dims kDims512{2, 3, 10, 4};
inline constexpr Dims kDims768{3, 2, 10, 4};
inline constexpr Dims kDims1024{4, 2, 11, 5};

inline constexpr MlkemParams kMlkem512{kDims512, Version::kMlkem}, kKyber512{kDims512, Version::kKyber};
inline constexpr MlkemParams kMlkem768{kDims768, Version::kMlkem}, kKyber768{kDims768, Version::kKyber};
inline constexpr MlkemParams kMlkem1024{kDims1024, Version::kMlkem}, kKyber1024{kDims1024, Version::kKyber};

static_assert(kDims512.public_key_bytes() == 800 && kDims512.secret_key_bytes() == 1632);
static_assert(kDims768.public_key_bytes() == 1184 && kDims768.secret_key_bytes() == 2400);
static_assert(kDims1024.public_key_bytes() == 1568 && kDims1024.secret_key_bytes() == 3168);
static_assert(kDims512.ciphertext_bytes() == 768 && kDims768.ciphertext_bytes() == 1088);
static_assert(kDims1024.ciphertext_bytes() == 1568);

}  // namespace polykem::mlkem
