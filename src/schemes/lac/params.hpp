// SPDX-License-Identifier: Apache-2.0
// The parameter sets of LAC, NIST's second round, and the sizes that follow from them. [LAC19]
#pragma once

#include <cstddef>
#include <cstdint>

namespace polykem::lac {

inline constexpr uint32_t kQ = 251;
inline constexpr size_t kSeedBytes = 32;  ///< the bytes of seeds, messages, hashes and shared secrets
inline constexpr size_t kMaxCoefficients = 1024;
inline constexpr size_t kMaxNoise2 = 800;
inline constexpr size_t kMaxCiphertextBytes = 1424;

/// The distribution of e2: the probability of +1, and of -1.
enum class Noise2 { kQuarter, kEighth };

struct Set {
  const char *name, *alias, *title;
  uint32_t category;
  size_t n;       ///< the number of coefficients of a polynomial, modulo x^n + 1
  size_t weight;  ///< how many of s, e, r, e1 are +1, and how many -1
  size_t errors;  ///< the number of errors that the BCH code corrects
  size_t parity_bytes;
  Noise2 noise2;
  bool d2;              ///< each bit is sent twice
  bool misplaces_tail;  ///< the PRG puts its last, incomplete block elsewhere, see prg.hpp

  constexpr size_t code_bytes() const { return kSeedBytes + parity_bytes; }
  constexpr size_t code_bits() const { return 8 * code_bytes(); }
  /// Returns the number of coefficients of the ciphertext's second part.
  constexpr size_t c2_coefficients() const { return (d2 ? 2 : 1) * code_bits(); }
  constexpr size_t word_bytes() const { return 4 * weight; }  ///< bytes of the PRG, for 2 weight positions
  constexpr size_t noise2_bytes() const { return c2_coefficients() / (noise2 == Noise2::kQuarter ? 4 : 2); }

  constexpr size_t public_key_bytes() const { return kSeedBytes + n; }
  constexpr size_t secret_key_bytes() const { return n + public_key_bytes(); }
  constexpr size_t ciphertext_bytes() const { return n + c2_coefficients() / 2; }
};

/// Returns the number of hashes of the chain of fixed_weight.hpp that suffice but for a probability below 2^-69, by the
/// exact distribution of the number of words that are tried. If they do not suffice, one more is computed until they
/// do, which is the only thing that timing reveals.
constexpr size_t chain_hashes(const Set& set) {
  return set.n == 512 ? 16 : set.weight == 128 ? 8 : 25;
}

constexpr Set kLac128{"lac128", "lac128_r2", "LAC-128", 1, 512, 128, 16, 18, Noise2::kQuarter, false, true};
constexpr Set kLac192{"lac192", "lac192_r2", "LAC-192", 3, 1024, 128, 8, 9, Noise2::kEighth, false, true};
constexpr Set kLac256{"lac256", "lac256_r2", "LAC-256", 5, 1024, 256, 16, 18, Noise2::kQuarter, true, true};

/// Returns the set whose PRG puts its last block in place, under another name.
constexpr Set with_mended_ctr(Set set, const char* name, const char* title) {
  set.name = set.alias = name;
  set.title = title;
  set.misplaces_tail = false;
  return set;
}

inline constexpr Set kSets[] = {
    kLac128,
    kLac192,
    kLac256,
    with_mended_ctr(kLac128, "lac128_r2_ctrfix", "LAC-128 (CTR mended)"),
    with_mended_ctr(kLac192, "lac192_r2_ctrfix", "LAC-192 (CTR mended)"),
    with_mended_ctr(kLac256, "lac256_r2_ctrfix", "LAC-256 (CTR mended)"),
};

static_assert(kLac128.public_key_bytes() == 544 && kLac128.secret_key_bytes() == 1056);
static_assert(kLac192.public_key_bytes() == 1056 && kLac192.secret_key_bytes() == 2080);
static_assert(kLac128.ciphertext_bytes() == 712 && kLac192.ciphertext_bytes() == 1188);
static_assert(kLac256.ciphertext_bytes() == kMaxCiphertextBytes && kLac256.c2_coefficients() == kMaxNoise2);

}  // namespace polykem::lac
