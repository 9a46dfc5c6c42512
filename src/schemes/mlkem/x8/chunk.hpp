// SPDX-License-Identifier: Apache-2.0
// Eight items, as many as a register has Keccak states, with their records and keys.
#pragma once

#include "core/arena.hpp"
#include "core/scheme.hpp"
#include "schemes/mlkem/types.hpp"
#include "schemes/mlkem/x8/matrix_sampler.hpp"

namespace polykem::mlkem::x8 {
inline namespace POLYKEM_ISA {

using interleaved::kStates;
inline constexpr size_t kItems = kStates;

/// Working memory of eight items. Polynomials of an item are side by side, and those of the next item follow.
template <Dims D>
struct alignas(64) Eight {
  SecretKey<D.k> own[kItems];  ///< the items' keys, if no key set has them
  Poly s[kItems][D.k];         ///< s^ or y^
  Poly e[kItems][D.k];         ///< 2^-16 e^, within 8.3 q; or u of a ciphertext that is decrypted, then u^
  Poly u[kItems][D.k];         ///< 2^-16 u^, then u without noise
  Poly v[kItems];              ///< v of a ciphertext that is decrypted; 2^-16 v^, then v without noise
  Poly w[kItems];              ///< 2^-16 s^T u^, then s^T u
  alignas(64)
      uint16_t accepted[kItems][MatrixSampler::kWrittenWords];  ///< a polynomial of A, and what is written behind it
  alignas(64) uint8_t prf_s[kItems][D.k][64 * D.eta1];          ///< bytes of s or y
  alignas(64) uint8_t prf_e[kItems][D.k + 1][64 * D.eta1];      ///< of e; or of e1, e2
  uint8_t hashed[kItems][2 * kSymBytes];                        ///< m, H(ek); or d, k
  uint8_t seeds[kItems][2 * kSymBytes];                         ///< rho, sigma; or K, r
  uint8_t ek_hash[kItems][kSymBytes];
  uint8_t other[kItems][kSymBytes];                           ///< ML-KEM: rejection secret; round 3: SHA3-256(c)
  uint8_t kdf[kItems][2 * kSymBytes];                         ///< round 3: K, SHA3-256(c)
  uint8_t reject[kItems][kSymBytes + D.ciphertext_bytes()];   ///< z, c
  alignas(64) uint16_t different[kItems][simd::V16::kLanes];  ///< bits of the ciphertext, wherever they are
  uint32_t fail[kItems];                                      ///< all ones if the ciphertext is rejected
};

template <MlkemParams P>
struct Chunk {
  static constexpr Dims D = P;
  static constexpr size_t kK = P.k;
  using Public = PublicKey<kK>;
  using Secret = SecretKey<kK>;

  static constexpr size_t kGranule = x8::kItems, kItems = x8::kItems;
  static size_t workspace_bytes(size_t) { return Arena::bytes<Eight<D>>(1); }

  Chunk(const Batch& batch, std::byte* workspace)
      : io(batch), count(batch.count), t(*Arena(workspace).take<Eight<D>>(1)) {}

  const Batch& io;  ///< of at most kItems items, with what is drawn for them
  const size_t count;
  Eight<D>& t;

  bool decapsulates() const { return io.sk != nullptr; }
  bool expanded() const { return io.expanded.data != nullptr; }
  const Secret& sk(size_t l) const {
    return expanded() ? *reinterpret_cast<const Secret*>(io.expanded.key(l)) : t.own[l];
  }
  const Public& pk(size_t l) const {
    if (expanded() && !decapsulates()) return *reinterpret_cast<const Public*>(io.expanded.key(l));
    return sk(l).pk;
  }

  /// The records of the items' keys.
  const uint8_t* dk(size_t l) const { return io.sk + l * P.secret_key_bytes(); }
  const uint8_t* ek(size_t l) const { return ek_rows(0).data + l * ek_rows(0).stride; }
  ConstByteRows ek_rows(size_t offset) const {
    if (decapsulates()) return {io.sk + P.ek_offset() + offset, P.secret_key_bytes()};
    return {io.pk + offset, P.public_key_bytes()};
  }
  const uint8_t* ct(size_t l) const { return io.ct + l * P.ciphertext_bytes(); }
  uint8_t* ct_out(size_t l) const { return io.ct_out + l * P.ciphertext_bytes(); }
  uint8_t* ss_out(size_t l) const { return io.ss_out + l * kSymBytes; }

  template <class F>
  void each(F&& f) {
    for (size_t l = 0; l < count; ++l)
      f(l);
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem::x8
