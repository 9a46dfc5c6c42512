// SPDX-License-Identifier: Apache-2.0
// A parameter set as kernels see it: its sizes are arguments, so that twelve sets share their kernels.
#pragma once

#include <cstdint>

#include "core/round.hpp"
#include "prim/drbg/cuda/coin_layout.hpp"
#include "schemes/frodo/params.hpp"

namespace polykem::frodo::cuda {

/// The largest batch of an operation: products have a block for each 32 rows of an item's matrix.
inline constexpr size_t kMaxItems = size_t{1} << 24;

/// The bytes of rows of intermediates. Coins are mu and salt, or all coins of key generation, in whole blocks of
/// random bytes. Secrets are pkh or k.
inline constexpr uint32_t kCoinBlocks = 2, kCoinStride = kCoinBlocks * polykem::cuda::kCoinBlockBytes,
                          kSecretStride = kMaxSecretBytes;
static_assert(3 * kMaxSecretBytes + kSeedABytes <= kCoinStride);

/// The sizes of a set. `words` are of 64 bits.
struct Sizes {
  uint32_t n, logq, bits;
  uint32_t secret_words, seed_words, salt_words;
  uint32_t pk_bytes, sk_bytes, ct_bytes;
  uint32_t pk_offset, s_offset, pkh_offset;  ///< in sk
  uint32_t c2_offset, salt_offset;           ///< in ct
  uint32_t noise_stride;                     ///< bytes of an item's errors, a multiple of 16

  constexpr uint32_t secret_bytes() const { return 8 * secret_words; }
  constexpr uint32_t mask() const { return (1u << logq) - 1; }
};

/// Returns the sizes of a set. Errors are signed bytes: S transposed or S', 8 x n, then E, n x 8, or E', 8 x n, then
/// E'', 8 x 8. Whole blocks of SHAKE are written.
constexpr Sizes sizes_of(const Set& set) {
  const uint32_t block = set.p.shake256 ? 4 * 17 : 4 * 21;
  const auto samples = static_cast<uint32_t>(set.encaps_samples());
  return {.n = static_cast<uint32_t>(set.n()),
          .logq = set.p.logq,
          .bits = set.p.bits,
          .secret_words = static_cast<uint32_t>(set.p.secret_bytes / 8),
          .seed_words = static_cast<uint32_t>(set.seed_se_bytes() / 8),
          .salt_words = static_cast<uint32_t>(set.salt_bytes() / 8),
          .pk_bytes = static_cast<uint32_t>(set.public_key_bytes()),
          .sk_bytes = static_cast<uint32_t>(set.secret_key_bytes()),
          .ct_bytes = static_cast<uint32_t>(set.ciphertext_bytes()),
          .pk_offset = static_cast<uint32_t>(set.pk_offset()),
          .s_offset = static_cast<uint32_t>(set.s_offset()),
          .pkh_offset = static_cast<uint32_t>(set.pkh_offset()),
          .c2_offset = static_cast<uint32_t>(set.c2_offset()),
          .salt_offset = static_cast<uint32_t>(set.salt_offset()),
          .noise_stride = ((samples + block - 1) / block * block + 15) / 16 * 16};
}

/// Returns the shared memory of a block of the kernels that make A by AES: the tables, 128 KiB, and what an item's rows
/// need.
constexpr size_t aes_shared_bytes(size_t n) {
  const size_t sums = 32 * rounded_up(n, 64), s = 8 * ((n + 16 + 95) / 128 * 128 + 32);
  return (size_t{128} << 10) + sums + 16 + 16 * n + 2 * n + s;
}

/// Returns the shared memory of a block of the kernels that make A by SHAKE, or once for all items.
constexpr size_t shake_shared_bytes(size_t n) {
  return n == 640 ? 73728 : n == 976 ? 78864 : 84496;
}

}  // namespace polykem::frodo::cuda
