// SPDX-License-Identifier: Apache-2.0
// Polynomials and keys of one item to and from its records: neighbouring coefficients in a register.
#pragma once

#include <cstring>

#include "ct/ct.hpp"
#include "prim/ntt/lanes/one_records.hpp"
#include "schemes/mlkem/types.hpp"

namespace polykem::mlkem::single {
inline namespace POLYKEM_ISA {

using simd::V16;

/// kBits bits per coefficient, as in records.
template <unsigned kBits>
void load(Poly& a, const uint8_t* row) {
  for (size_t i = 0; i < kN; i += V16::kLanes)
    ntt::unpack_one<kBits>(row, i).store(a.c + i);
}
template <unsigned kBits>
void store(uint8_t* row, const Poly& a) {
  for (size_t i = 0; i < kN; i += V16::kLanes)
    ntt::pack_one<kBits>(row, i, V16::load(a.c + i));
}

/// Decompressed and compressed; canonical.
template <unsigned kBits>
void load_compressed(Poly& a, const uint8_t* row) {
  for (size_t i = 0; i < kN; i += V16::kLanes)
    ntt::decompress<kBits>(ntt::unpack_one<kBits>(row, i)).store(a.c + i);
}
template <unsigned kBits>
void store_compressed(uint8_t* row, const Poly& a) {
  for (size_t i = 0; i < kN; i += V16::kLanes)
    ntt::pack_one<kBits>(row, i, ntt::compress<kBits>(V16::load(a.c + i)));
}

/// c: u and v, canonical. [FIPS203, Alg 14, L22-23]
template <Dims D>
void store_uv(uint8_t* ct, const Poly* u) {
  for (size_t i = 0; i < D.k; ++i)
    store_compressed<D.du>(ct + i * (kN * D.du / 8), u[i]);
  store_compressed<D.dv>(ct + D.u_bytes(), u[D.k]);
}

/// All words or-ed.
inline uint16_t any_bits(const uint16_t (&words)[V16::kLanes]) {
  uint16_t any = 0;
  for (const uint16_t word : words)
    any = static_cast<uint16_t>(any | word);
  return any;
}

/// t^; for ML-KEM also checks that its coefficients are below q. [FIPS203, 7.2]
template <MlkemParams P>
void load_t(PublicKey<P.k>& key, const uint8_t* ek) {
  const V16 largest = V16::set1(kQ - 1);
  V16 wrong = V16::zero();
  for (size_t j = 0; j < P.k; ++j) {
    Poly& poly = key.t()[j];
    for (size_t i = 0; i < kN; i += V16::kLanes) {
      const V16 x = ntt::unpack_one<12>(ek + j * kPolyBytes, i);
      wrong = wrong | (largest - x);
      x.store(poly.c + i);
    }
  }
  alignas(64) uint16_t lanes[V16::kLanes];
  wrong.store(lanes);
  key.valid = P.kyber() || any_bits(lanes) >> 15 == 0;
}

/// s^, z and t^ of a decapsulation key.
template <MlkemParams P>
void load_dk(SecretKey<P.k>& key, const uint8_t* dk) {
  for (size_t i = 0; i < P.k; ++i)
    load<12>(key.s[i], dk + i * kPolyBytes);
  std::memcpy(key.z, dk + P.z_offset(), kSymBytes);
  load_t<P>(key.pk, dk + P.ek_offset());
}

/// The message in v - w, both within [0, q). [FIPS203, Alg 15, L6-7]
inline void store_message(uint8_t* message, const Poly& v, const Poly& w) {
  for (size_t i = 0; i < kN; i += V16::kLanes) {
    const V16 difference = V16::load(v.c + i) - V16::load(w.c + i);
    ntt::store_bits_one(message, i, ntt::compress<1>(ntt::positive(difference)));
  }
}

/// All ones if the bytes differ.
inline uint32_t differ(const uint8_t* a, const uint8_t* b, size_t bytes) {
  uint8_t differences = 0;
  for (size_t j = 0; j < bytes; ++j)
    differences = static_cast<uint8_t>(differences | (a[j] ^ b[j]));
  return ct::mask_nonzero(differences);
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem::single
