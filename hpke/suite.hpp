// SPDX-License-Identifier: Apache-2.0
// polykem's algorithms of HPKE, with their numbers in IANA's registry [HPKE, 7], [HPKEPQ, 8].
#pragma once

#include <polykem/polykem.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace polykem::hpke {

enum class Kem : std::uint16_t {
  kDhkemX25519 = 0x0020,  ///< not post-quantum: for old messages
  kMlKem512 = 0x0040,
  kMlKem768 = 0x0041,
  kMlKem1024 = 0x0042,
  kMlKem768P256 = 0x0050,
  kMlKem1024P384 = 0x0051,
  kMlKem768X25519 = 0x647a,  ///< X-Wing
};

/// HKDF has two stages, SHAKE one [HPKE, 4.2].
enum class Kdf : std::uint16_t {
  kHkdfSha256 = 0x0001,
  kHkdfSha384 = 0x0002,
  kHkdfSha512 = 0x0003,
  kShake128 = 0x0010,
  kShake256 = 0x0011,
};

enum class Aead : std::uint16_t {
  kAes128Gcm = 0x0001,
  kAes256Gcm = 0x0002,
  kChaCha20Poly1305 = 0x0003,
  kExportOnly = 0xffff,  ///< no cipher: contexts only export
};

inline constexpr std::size_t kNonceBytes = 12;         ///< Nn of every cipher here
inline constexpr std::size_t kTagBytes = 16;           ///< Nt of every cipher here
inline constexpr std::size_t kSharedSecretBytes = 32;  ///< Nsecret of every KEM here
inline constexpr std::size_t kMaxKeyBytes = 32;        ///< the longest Nk
inline constexpr std::size_t kMinPskBytes = 32;        ///< [HPKE, 9.5]
/// The longest info, pre-shared key and identity with a one-stage KDF, which writes lengths in two bytes [HPKE, 7.2.1].
inline constexpr std::size_t kMaxOneStageBytes = 65535;

struct KemSizes {
  std::size_t public_key = 0, secret_key = 0, enc = 0, coins = 0;
};

class KemFunctions;

struct KemInfo {
  Kem id;
  std::string_view name;   ///< as the drafts spell it: "MLKEM768-X25519"
  std::string_view alias;  ///< another name, or empty
  std::shared_ptr<const KemFunctions> (*functions)(const KemInfo& kem);
};

struct KdfInfo {
  Kdf id;
  std::string_view name;
  const char* digest;  ///< OpenSSL's name of the hash or the extendable-output function
  std::size_t hash_bytes;
  std::size_t block_bytes;  ///< of HMAC; 0: a KDF of one stage
};

struct AeadInfo {
  Aead id;
  std::string_view name;
  const char* cipher;     ///< OpenSSL's name; nullptr: none, contexts only export
  std::size_t key_bytes;  ///< 0 without a cipher

  std::size_t nonce_bytes() const noexcept { return key_bytes > 0 ? kNonceBytes : 0; }
};

/// All algorithms of a kind, ordered by number.
const std::vector<KemInfo>& kems();
const std::vector<KdfInfo>& kdfs();
const std::vector<AeadInfo>& aeads();

struct Algorithms;

/// A KEM, a KDF and an AEAD. OpenSSL's algorithms are fetched once and shared by copies. Any number of threads may use
/// it. Throws Error: POLYKEM_ERR_ARGUMENT for a number that polykem does not have, POLYKEM_ERR_BACKEND_UNAVAILABLE if
/// OpenSSL lacks an algorithm.
class Suite {
 public:
  Suite(Kem kem, Kdf kdf, Aead aead);

  const KemInfo& kem() const noexcept { return *kem_; }
  const KdfInfo& kdf() const noexcept { return *kdf_; }
  const AeadInfo& aead() const noexcept { return *aead_; }

  std::size_t public_key_bytes() const noexcept { return kem_sizes_.public_key; }
  /// Bytes of a secret key, which is the coins of key generation: d, z of ML-KEM, a hybrid's seed, or DHKEM's scalar.
  std::size_t secret_key_bytes() const noexcept { return kem_sizes_.secret_key; }
  std::size_t enc_bytes() const noexcept { return kem_sizes_.enc; }
  /// Random bytes of one encapsulation: m of ML-KEM, followed in hybrids by the seed of the ephemeral scalar; for
  /// DHKEM, the seed of its ephemeral key pair.
  std::size_t coin_bytes() const noexcept { return kem_sizes_.coins; }

  /// The most bytes of an exported secret [HPKE, 7.2.1].
  std::size_t max_export_bytes() const noexcept {
    return kdf_->block_bytes == 0 ? kMaxOneStageBytes : 255 * kdf_->hash_bytes;
  }

  const KemFunctions& kem_functions() const noexcept { return *kem_functions_; }
  const Algorithms& algorithms() const noexcept { return *algorithms_; }

 private:
  const KemInfo* kem_;
  const KdfInfo* kdf_;
  const AeadInfo* aead_;
  KemSizes kem_sizes_;
  std::shared_ptr<const KemFunctions> kem_functions_;
  std::shared_ptr<const Algorithms> algorithms_;
};

}  // namespace polykem::hpke
