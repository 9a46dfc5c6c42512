// SPDX-License-Identifier: Apache-2.0
// The hybrids of ML-KEM and an elliptic curve: those of TLS 1.3 [RFC10024, 3] and of HPKE [HYBRIDKEMS, 5].
#pragma once

#include <cstddef>
#include <span>

#include "prim/ecdh/ecdh.hpp"

namespace polykem::hybrid {

/// The way in which a hybrid combines its two parts.
enum class Combiner {
  kTls,   ///< records and shared secrets are those of the parts, joined
  kHpke,  ///< a secret key is a seed, and a hash makes one shared secret of two
};

inline constexpr size_t kSymBytes = 32;            ///< HPKE's seeds and shared secrets, ML-KEM's shared secrets
inline constexpr size_t kKemCoinBytes = 64;        ///< d, z
inline constexpr size_t kKemEncapsCoinBytes = 32;  ///< m

struct HybridParams {
  const char *name, *title;
  std::span<const char* const> aliases;
  const char* kem;  ///< the name of an ML-KEM set
  ecdh::Curve curve;
  Combiner combiner;
  bool curve_first;  ///< the order in joined records and secrets
  /// The number of random bytes from which a scalar is chosen: the first candidate in them that is in range
  /// [HYBRIDKEMS, 4.2]. P-256, where one candidate in 2^32 is not, has three.
  size_t scalar_seed_bytes;
  const char* label;  ///< the label in HPKE's hash

  constexpr bool hpke() const { return combiner == Combiner::kHpke; }
  constexpr ecdh::CurveInfo curve_info() const { return ecdh::info(curve); }
  /// The length of d, z and the seed of the scalar.
  constexpr size_t expanded_seed_bytes() const { return kKemCoinBytes + scalar_seed_bytes; }
  constexpr size_t keygen_coin_bytes() const { return hpke() ? kSymBytes : expanded_seed_bytes(); }
  constexpr size_t encaps_coin_bytes() const { return kKemEncapsCoinBytes + scalar_seed_bytes; }
  constexpr size_t shared_secret_bytes() const { return kSymBytes + (hpke() ? 0 : curve_info().secret_bytes); }
};

inline constexpr const char* kXWing[] = {"X-Wing"};
inline constexpr HybridParams kSets[] = {
    {"x25519mlkem768", "X25519MLKEM768", {}, "mlkem768", ecdh::Curve::kX25519, Combiner::kTls, false, 32, ""},
    {"secp256r1mlkem768", "SecP256r1MLKEM768", {}, "mlkem768", ecdh::Curve::kP256, Combiner::kTls, true, 96, ""},
    {"secp384r1mlkem1024", "SecP384r1MLKEM1024", {}, "mlkem1024", ecdh::Curve::kP384, Combiner::kTls, true, 48, ""},
    {"mlkem768x25519", "MLKEM768-X25519", kXWing, "mlkem768", ecdh::Curve::kX25519, Combiner::kHpke, false, 32,
     "\\.//^\\"},
    {"mlkem768p256", "MLKEM768-P256", {}, "mlkem768", ecdh::Curve::kP256, Combiner::kHpke, false, 96, "MLKEM768-P256"},
    {"mlkem1024p384",
     "MLKEM1024-P384",
     {},
     "mlkem1024",
     ecdh::Curve::kP384,
     Combiner::kHpke,
     false,
     48,
     "MLKEM1024-P384"},
};

}  // namespace polykem::hybrid
