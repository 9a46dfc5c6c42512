// SPDX-License-Identifier: Apache-2.0
// Converts polynomials and keys of one item to and from its records, with neighbouring coefficients in a register.
#pragma once

#include <cstring>

#include "ct/ct.hpp"
#include "prim/ntt/lanes/single_records.hpp"
#include "schemes/mlkem/types.hpp"

namespace polykem::mlkem::single {
inline namespace POLYKEM_ISA {

using simd::V16;

/// Loads a polynomial from a record, which has kBits bits per coefficient.
template <unsigned kBits>
void load(Poly& a, const uint8_t* row) {
  for (size_t i = 0; i < kN; i += V16::kLanes)
    ntt::unpack_single<kBits>(row, i).store(a.c + i);
}
/// Stores a polynomial in a record, which has kBits bits per coefficient.
template <unsigned kBits>
void store(uint8_t* row, const Poly& a) {
  for (size_t i = 0; i < kN; i += V16::kLanes)
    ntt::pack_single<kBits>(row, i, V16::load(a.c + i));
}

/// Loads and decompresses a polynomial from a record, which has kBits bits per coefficient; canonical afterwards.
template <unsigned kBits>
void load_compressed(Poly& a, const uint8_t* row) {
  for (size_t i = 0; i < kN; i += V16::kLanes)
    ntt::decompress<kBits>(ntt::unpack_single<kBits>(row, i)).store(a.c + i);
}

/// Returns the bitwise or of all words.
inline uint16_t any_bits(const uint16_t (&words)[V16::kLanes]) {
  uint16_t any = 0;
  for (const uint16_t word : words)
    any = static_cast<uint16_t>(any | word);
  return any;
}

/// Loads t^ and, for ML-KEM, checks that its coefficients are below q. [FIPS203, 7.2]
template <MlkemParams P>
void load_t(PublicKey<P.k>& key, const uint8_t* pk) {
  const V16 largest = V16::set1(kQ - 1);
  V16 wrong = V16::zero();
  for (size_t j = 0; j < P.k; ++j) {
    Poly& poly = key.t()[j];
    for (size_t i = 0; i < kN; i += V16::kLanes) {
      const V16 x = ntt::unpack_single<12>(pk + j * kPolyBytes, i);
      wrong = wrong | (largest - x);
      x.store(poly.c + i);
    }
  }
  alignas(64) uint16_t lanes[V16::kLanes];
  wrong.store(lanes);
  key.valid = P.kyber() || any_bits(lanes) >> 15 == 0;
}

/// Loads s^, z and t^ of a secret key, and checks t^ as load_t() does.
template <MlkemParams P>
void load_sk(SecretKey<P.k>& key, const uint8_t* sk) {
  for (size_t i = 0; i < P.k; ++i)
    load<12>(key.s[i], sk + i * kPolyBytes);
  std::memcpy(key.z, sk + P.z_offset(), kSymBytes);
  load_t<P>(key.pk, sk + P.pk_offset());
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem::single
