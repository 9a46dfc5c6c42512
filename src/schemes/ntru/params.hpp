// SPDX-License-Identifier: Apache-2.0
// The parameter sets of NTRU and the sizes that follow from them. [NTRU20, parameter sets]
#pragma once

#include <cstddef>
#include <cstdint>

namespace polykem::ntru {

/// The kind of sample spaces and lift. HPS samples g and m with a fixed weight; HRSS samples all polynomials alike.
enum class Variant { kHps, kHrss };

struct NtruParams {
  Variant variant;
  size_t n;
  unsigned logq;

  constexpr uint32_t q() const { return uint32_t{1} << logq; }
  /// The number of nonzero coefficients of a fixed-weight polynomial (HPS). Half of them are 1, the others -1.
  constexpr size_t weight() const { return q() / 8 - 2; }
  constexpr size_t trits_bytes() const { return (n - 1 + 4) / 5; }
  constexpr size_t rq_bytes() const { return ((n - 1) * logq + 7) / 8; }

  constexpr size_t iid_coin_bytes() const { return n - 1; }
  constexpr size_t fixed_type_coin_bytes() const { return (30 * (n - 1) + 7) / 8; }
  /// The number of random bytes for (f, g) or for (r, m).
  constexpr size_t pair_coin_bytes() const {
    return iid_coin_bytes() + (variant == Variant::kHps ? fixed_type_coin_bytes() : iid_coin_bytes());
  }

  static constexpr size_t kPrfKeyBytes = 32;
  constexpr size_t keygen_coin_bytes() const { return pair_coin_bytes() + kPrfKeyBytes; }
  constexpr size_t encaps_coin_bytes() const { return pair_coin_bytes(); }
  constexpr size_t public_key_bytes() const { return rq_bytes(); }
  /// The offsets in the secret key, which consists of trits(f), trits(1/f mod 3), packed(1/h) and the PRF key.
  constexpr size_t inverse_f_offset() const { return trits_bytes(); }
  constexpr size_t inverse_h_offset() const { return 2 * trits_bytes(); }
  constexpr size_t prf_key_offset() const { return inverse_h_offset() + rq_bytes(); }
  constexpr size_t secret_key_bytes() const { return prf_key_offset() + kPrfKeyBytes; }
  constexpr size_t ciphertext_bytes() const { return rq_bytes(); }
  static constexpr size_t kSharedSecretBytes = 32;
};

inline constexpr NtruParams kHps2048509{Variant::kHps, 509, 11};
inline constexpr NtruParams kHps2048677{Variant::kHps, 677, 11};
inline constexpr NtruParams kHps4096821{Variant::kHps, 821, 12};
inline constexpr NtruParams kHrss701{Variant::kHrss, 701, 13};
inline constexpr NtruParams kHps40961229{Variant::kHps, 1229, 12};
inline constexpr NtruParams kHrss1373{Variant::kHrss, 1373, 14};

static_assert(kHps2048509.secret_key_bytes() == 935 && kHps2048509.public_key_bytes() == 699);
static_assert(kHps2048677.secret_key_bytes() == 1234 && kHps2048677.public_key_bytes() == 930);
static_assert(kHps4096821.secret_key_bytes() == 1590 && kHps4096821.public_key_bytes() == 1230);
static_assert(kHrss701.secret_key_bytes() == 1450 && kHrss701.public_key_bytes() == 1138);

}  // namespace polykem::ntru
