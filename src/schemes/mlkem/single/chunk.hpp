// SPDX-License-Identifier: Apache-2.0
// One item with its records and keys.
#pragma once

#include "core/arena.hpp"
#include "core/scheme.hpp"
#include "schemes/mlkem/single/hash.hpp"

namespace polykem::mlkem::single {
inline namespace POLYKEM_ISA {

/// What is needed until the matrix is sampled.
template <Dims D>
struct HashSpace {
  Squeezed squeezed;
  Padded<D.public_key_bytes()> ek;
  Padded<kSymBytes + D.ciphertext_bytes()> reject;  ///< z, c
  Padded<D.ciphertext_bytes()> round3;              ///< c
};

/// What is needed from then on. A row of noise has the PRF's output and up to 64 bytes that are written past it.
template <Dims D>
struct Polys {
  static constexpr size_t kNoiseRow = D.prf_stride() + 64;
  Poly s[D.k];      ///< s or y
  Poly e[D.k + 1];  ///< e; or e1, e2
  Poly u[D.k + 1];  ///< t; or u, v
  Poly w;           ///< s^T u
  alignas(64) uint8_t prf[D.noise_polys()][kNoiseRow];
  uint8_t ct[D.ciphertext_bytes()];
};

/// Working memory of one item, kept small because all of it is wiped afterwards.
template <Dims D>
struct alignas(64) Item {
  SecretKey<D.k> own;  ///< the item's key, if no key set has it
  States states;
  union {
    HashSpace<D> hash;
    Polys<D> poly;
  };
  uint8_t coins[kKeygenCoinBytes];
  uint8_t hashed[2 * kSymBytes];  ///< m, H(ek); or d, k
  uint8_t seeds[2 * kSymBytes];   ///< rho, sigma; or K, r
  uint8_t other[kSymBytes];       ///< ML-KEM: rejection secret; round 3: SHA3-256(c)
  uint8_t kdf[2 * kSymBytes];     ///< round 3: K, SHA3-256(c)
  uint32_t fail;                  ///< all ones if the ciphertext is rejected
};

template <MlkemParams P>
struct Chunk {
  static constexpr Dims D = P;
  static constexpr size_t kGranule = 1;
  static constexpr size_t kItems = 1;
  using Public = PublicKey<P.k>;
  using Secret = SecretKey<P.k>;
  static size_t workspace_bytes(size_t) { return Arena::bytes<Item<D>>(1); }

  Chunk(const Batch& batch, std::byte* workspace)
      : io(batch), t(*Arena(workspace).take<Item<D>>(1)), coins(io.coins != nullptr ? io.coins : t.coins) {}

  const Batch& io;  ///< of one item
  Item<D>& t;
  const uint8_t* coins;

  bool expanded() const { return io.expanded.data != nullptr; }
  const Secret& sk() const { return expanded() ? *reinterpret_cast<const Secret*>(io.expanded.key(0)) : t.own; }
  const Public& pk() const {
    if (expanded() && io.sk == nullptr) return *reinterpret_cast<const Public*>(io.expanded.key(0));
    return sk().pk;
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem::single
