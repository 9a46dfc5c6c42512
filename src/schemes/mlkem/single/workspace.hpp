// SPDX-License-Identifier: Apache-2.0
// The working memory of one item, which is kept small because all of it is zeroized afterwards.
#pragma once

#include "schemes/mlkem/single/hash.hpp"
#include "schemes/mlkem/single_item_state.hpp"

namespace polykem::mlkem::single {
inline namespace POLYKEM_ISA {

/// The memory that is needed until the matrix is sampled.
template <Dims D>
struct HashSpace {
  Squeezed squeezed;
  Padded<D.public_key_bytes()> pk;
  Padded<kSymBytes + D.ciphertext_bytes()> reject;  ///< z, c
  Padded<D.ciphertext_bytes()> round3;              ///< c
};

/// The memory that is needed once the matrix is sampled. A row of noise has the PRF's output and up to 64 bytes that
/// are written past it.
template <Dims D>
struct PolySpace : Polys<D> {
  static constexpr size_t kNoiseRow = D.prf_stride() + 64;
  alignas(64) uint8_t prf[D.noise_polys()][kNoiseRow];
};

template <Dims D>
struct alignas(64) Workspace {
  SecretKey<D.k> own;
  States states;
  union {
    HashSpace<D> hash;
    PolySpace<D> poly;
  };
  fo::Secrets<1, kKeygenCoinBytes> fo;
  ByteRows z_and_c() { return {hash.reject.bytes, sizeof hash.reject.bytes}; }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem::single
