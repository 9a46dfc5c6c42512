// SPDX-License-Identifier: Apache-2.0
// Sampling of ternary polynomials from uniform bytes. [NTRU20, Sample_fg, Sample_rm]
#pragma once

#include <bit>
#include <cstring>

#include "core/secure.hpp"
#include "ct/ct.hpp"
#include "schemes/ntru/types.hpp"

namespace polykem::ntru::ref {
inline namespace POLYKEM_ISA {

/// Reduces n - 1 bytes mod 3, one for each coefficient but the last, which becomes 0. [NTRU20, Ternary]
template <NtruParams P>
void sample_iid(Poly<P, S3>& a, const uint8_t* bytes) {
  for (size_t i = 0; i + 1 < P.n; ++i)
    a.c[i] = ct::mod3(bytes[i]);
  a.c[P.n - 1] = 0;
}

/// Samples as sample_iid does, then flips the signs at even indices if <x a, a> < 0. [NTRU20, Ternary_Plus]
template <NtruParams P>
void sample_iid_plus(Poly<P, S3>& a, const uint8_t* bytes) {
  sample_iid<P>(a, bytes);
  int32_t product = 0;
  for (size_t i = 0; i + 1 < P.n; ++i) {
    const auto x = static_cast<int32_t>(a.c[i]) - 3 * (a.c[i] >> 1);
    const auto y = static_cast<int32_t>(a.c[i + 1]) - 3 * (a.c[i + 1] >> 1);
    product += x * y;
  }
  const auto negative = static_cast<uint16_t>(ct::barrier(static_cast<uint32_t>(product >> 31)));
  for (size_t i = 0; i < P.n; i += 2) {
    const auto negated = static_cast<uint16_t>(2u * a.c[i] - 3u * (a.c[i] >> 1));  // 1 <-> 2
    a.c[i] = static_cast<uint16_t>(a.c[i] ^ (negative & (a.c[i] ^ negated)));
  }
}

/// Reads four 30-bit integers from 15 bytes and multiplies each by 4.
inline void load_keys(int32_t* keys, const uint8_t* bytes) {
  uint32_t words[4] = {};
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(words, bytes, 15);
  } else {
    for (size_t i = 0; i < 15; ++i)
      words[i / 4] |= uint32_t{bytes[i]} << (8 * (i % 4));
  }
  keys[0] = static_cast<int32_t>(words[0] << 2);
  keys[1] = static_cast<int32_t>(words[0] >> 30 << 2 | words[1] << 4);
  keys[2] = static_cast<int32_t>(words[1] >> 28 << 2 | words[2] << 6);
  keys[3] = static_cast<int32_t>(words[2] >> 26 << 2 | words[3] << 8);
}

/// Samples exactly weight/2 coefficients 1 and as many 2, in an order that is decided by sorting random keys. [NTRU20,
/// Fixed_Type]
/// bytes: n - 1 little-endian words of 30 bits. keys: scratch for n + kSortRoom integers. workspace: the workspace of
/// Prims.
template <NtruParams P, class Prims>
void sample_fixed_type(Poly<P, S3>& a, const uint8_t* bytes, int32_t* keys, void* workspace) {
  static_assert(P.n % 4 == 1);
  for (size_t i = 0; i + 1 < P.n; i += 4)
    load_keys(keys + i, bytes + i / 4 * 15);
  for (size_t i = 0; i < P.weight() / 2; ++i)
    keys[i] |= 1;
  for (size_t i = P.weight() / 2; i < P.weight(); ++i)
    keys[i] |= 2;
  Prims::sort_int32(keys, P.n - 1, workspace);
  for (size_t i = 0; i + 1 < P.n; ++i)
    a.c[i] = static_cast<uint16_t>(keys[i] & 3);
  a.c[P.n - 1] = 0;
}

/// Samples the second polynomial of a pair, with fixed weight for HPS and like the first otherwise.
template <NtruParams P, class Prims>
void sample_second(Poly<P, S3>& a, const uint8_t* bytes, int32_t* keys, void* workspace) {
  if constexpr (P.variant == Variant::kHps) {
    sample_fixed_type<P, Prims>(a, bytes, keys, workspace);
  } else {
    sample_iid<P>(a, bytes);
  }
}

/// Samples f and g of a key pair. [NTRU20, Sample_fg]
template <NtruParams P, class Prims>
void sample_fg(Poly<P, S3>& f, Poly<P, S3>& g, const uint8_t* coins, int32_t* keys, void* workspace) {
  if constexpr (P.variant == Variant::kHps) {
    sample_iid<P>(f, coins);
    sample_fixed_type<P, Prims>(g, coins + P.iid_coin_bytes(), keys, workspace);
  } else {
    sample_iid_plus<P>(f, coins);
    sample_iid_plus<P>(g, coins + P.iid_coin_bytes());
  }
}

/// Samples r and m of an encapsulation. [NTRU20, Sample_rm]
template <NtruParams P, class Prims>
void sample_rm(Poly<P, S3>& r, Poly<P, S3>& m, const uint8_t* coins, int32_t* keys, void* workspace) {
  sample_iid<P>(r, coins);
  sample_second<P, Prims>(m, coins + P.iid_coin_bytes(), keys, workspace);
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::ntru::ref
