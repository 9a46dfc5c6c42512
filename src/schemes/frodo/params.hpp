// SPDX-License-Identifier: Apache-2.0
// The parameter sets of FrodoKEM and the sizes that follow from them. [FRODO21, 2.5; FRODOISO]
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace polykem::frodo {

/// The rows of S' and columns of S: n-bar = m-bar in all sets.
inline constexpr size_t kBar = 8;
inline constexpr size_t kSquare = kBar * kBar;
inline constexpr size_t kSeedABytes = 16;
/// The byte that precedes seedSE in the input of SHAKE. [FRODO21, Alg 12 and 13]
inline constexpr uint8_t kSeedDomainKeygen = 0x5f, kSeedDomainEncaps = 0x96;
/// The largest secret_bytes and the largest size of a Cdf, for arrays that serve all sets.
inline constexpr size_t kMaxSecretBytes = 32;
inline constexpr size_t kMaxCdf = 13;

/// The cumulative distribution of the errors: entry z is 2^15 P(|e| <= z) - 1.
struct Cdf {
  size_t size;
  std::array<uint16_t, kMaxCdf> at;
};

/// The parameters that depend on the dimension.
struct FrodoParams {
  size_t n;
  unsigned logq;        ///< D: q = 2^D
  unsigned bits;        ///< B: bits of the message per coefficient
  size_t secret_bytes;  ///< the bytes of each of ss, mu, s, k and pkh
  bool shake256;        ///< SHAKE256, not SHAKE128, for everything but A
  uint32_t category;
  Cdf cdf;

  constexpr size_t packed_bytes(size_t coefficients) const { return coefficients * logq / 8; }
};

inline constexpr FrodoParams kFrodo640{
    640,
    15,
    2,
    16,
    false,
    1,
    {13, {4643, 13363, 20579, 25843, 29227, 31145, 32103, 32525, 32689, 32745, 32762, 32766, 32767}}};
inline constexpr FrodoParams kFrodo976{
    976, 16, 3, 24, true, 3, {11, {5638, 15915, 23689, 28571, 31116, 32217, 32613, 32731, 32760, 32766, 32767}}};
inline constexpr FrodoParams kFrodo1344{
    1344, 16, 4, 32, true, 5, {7, {9142, 23462, 30338, 32361, 32725, 32765, 32767}}};

/// The primitive that generates A from its seed. [FRODO21, Algorithms 7 and 8]
enum class GenA { kAes, kShake };

inline constexpr size_t kShake128Rate = 168, kShake256Rate = 136;  ///< bytes [FIPS202, 6.2]

/// One parameter set. Sets with salt are those of the proposal for ISO; sets without salt are those of NIST's round 3,
/// for ephemeral keys.
struct Set {
  const char *name, *title;
  const FrodoParams& p;
  GenA gen_a;
  bool salted;

  constexpr size_t n() const { return p.n; }
  constexpr size_t seed_se_bytes() const { return salted ? 2 * p.secret_bytes : p.secret_bytes; }
  constexpr size_t salt_bytes() const { return salted ? 2 * p.secret_bytes : 0; }
  constexpr size_t b_bytes() const { return p.packed_bytes(p.n * kBar); }
  constexpr size_t c_bytes() const { return p.packed_bytes(kSquare); }

  constexpr size_t public_key_bytes() const { return kSeedABytes + b_bytes(); }
  /// The offsets in the secret key, which consists of s, pk, S transposed as 16-bit words, and pkh.
  constexpr size_t pk_offset() const { return p.secret_bytes; }
  constexpr size_t s_offset() const { return pk_offset() + public_key_bytes(); }
  constexpr size_t pkh_offset() const { return s_offset() + 2 * p.n * kBar; }
  constexpr size_t secret_key_bytes() const { return pkh_offset() + p.secret_bytes; }
  /// The offsets in the ciphertext, which consists of c1, c2 and salt.
  constexpr size_t c2_offset() const { return b_bytes(); }
  constexpr size_t salt_offset() const { return c2_offset() + c_bytes(); }
  constexpr size_t ciphertext_bytes() const { return salt_offset() + salt_bytes(); }
  /// The part of the ciphertext that fills no block of the SHAKE that is used for everything but A, and the part that
  /// does.
  constexpr size_t ciphertext_tail_bytes() const {
    return ciphertext_bytes() % (p.shake256 ? kShake256Rate : kShake128Rate);
  }
  constexpr size_t ciphertext_blocks_bytes() const { return ciphertext_bytes() - ciphertext_tail_bytes(); }

  /// The coins of keygen are s, seedSE and z, those of encaps mu and salt.
  constexpr size_t keygen_coin_bytes() const { return p.secret_bytes + seed_se_bytes() + kSeedABytes; }
  constexpr size_t encaps_coin_bytes() const { return p.secret_bytes + salt_bytes(); }

  /// The number of samples of S and E, and of S', E' and E''.
  constexpr size_t keygen_samples() const { return 2 * p.n * kBar; }
  constexpr size_t encaps_samples() const { return 2 * p.n * kBar + kSquare; }
};

inline constexpr Set kSets[] = {
    {"frodokem640aes", "FrodoKEM-640-AES", kFrodo640, GenA::kAes, true},
    {"frodokem640shake", "FrodoKEM-640-SHAKE", kFrodo640, GenA::kShake, true},
    {"frodokem976aes", "FrodoKEM-976-AES", kFrodo976, GenA::kAes, true},
    {"frodokem976shake", "FrodoKEM-976-SHAKE", kFrodo976, GenA::kShake, true},
    {"frodokem1344aes", "FrodoKEM-1344-AES", kFrodo1344, GenA::kAes, true},
    {"frodokem1344shake", "FrodoKEM-1344-SHAKE", kFrodo1344, GenA::kShake, true},
    {"efrodokem640aes", "eFrodoKEM-640-AES", kFrodo640, GenA::kAes, false},
    {"efrodokem640shake", "eFrodoKEM-640-SHAKE", kFrodo640, GenA::kShake, false},
    {"efrodokem976aes", "eFrodoKEM-976-AES", kFrodo976, GenA::kAes, false},
    {"efrodokem976shake", "eFrodoKEM-976-SHAKE", kFrodo976, GenA::kShake, false},
    {"efrodokem1344aes", "eFrodoKEM-1344-AES", kFrodo1344, GenA::kAes, false},
    {"efrodokem1344shake", "eFrodoKEM-1344-SHAKE", kFrodo1344, GenA::kShake, false},
};
inline constexpr size_t kSetCount = std::size(kSets);

static_assert(kSets[0].public_key_bytes() == 9616 && kSets[0].secret_key_bytes() == 19888);
static_assert(kSets[2].public_key_bytes() == 15632 && kSets[2].secret_key_bytes() == 31296);
static_assert(kSets[4].public_key_bytes() == 21520 && kSets[4].secret_key_bytes() == 43088);
static_assert(kSets[0].ciphertext_bytes() == 9752 && kSets[6].ciphertext_bytes() == 9720);
static_assert(kSets[2].ciphertext_bytes() == 15792 && kSets[8].ciphertext_bytes() == 15744);
static_assert(kSets[4].ciphertext_bytes() == 21696 && kSets[10].ciphertext_bytes() == 21632);

}  // namespace polykem::frodo
