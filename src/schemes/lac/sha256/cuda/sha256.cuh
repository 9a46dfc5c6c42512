// SPDX-License-Identifier: Apache-2.0
// SHA-256 on the device, one message per thread, the state in registers. Words of messages and digests are as memory
// has them, the first byte lowest. [FIPS180, 6.2]
#pragma once

#include <cstddef>
#include <cstdint>

#include "schemes/lac/sha256/constants.hpp"

namespace polykem::cuda {

__constant__ constexpr std::array<uint32_t, 64> kSha256Rounds = sha256::kRound;

__device__ __forceinline__ uint32_t reversed_bytes(uint32_t x) {
  return __byte_perm(x, 0, 0x0123);
}
__device__ __forceinline__ uint32_t rotate_right(uint32_t x, unsigned r) {
  return __funnelshift_r(x, x, r);
}

/// Powers of two that the compiler does not know, so that it multiplies by them: products have units of their own, and
/// those for logic, which also shift and add, are the busier ones.
static __constant__ uint32_t kSha256Powers[5] = {1u << 25, 1u << 15, 1u << 29, 1u << 22, 1};

/// Rotates by multiplication with power number i.
__device__ __forceinline__ uint32_t rotate_by_product(uint32_t x, int i) {
  return x * kSha256Powers[i] + __umulhi(x, kSha256Powers[i]);
}
/// Shifts to the right by multiplication with power number i.
__device__ __forceinline__ uint32_t shift_by_product(uint32_t x, int i) {
  return __umulhi(x, kSha256Powers[i]);
}

/// Adds by multiplication with one.
__device__ __forceinline__ uint32_t sum_by_product(uint32_t x, uint32_t y) {
  return x * kSha256Powers[4] + y;
}

class Sha256 {
 public:
  __device__ __forceinline__ Sha256() {
    constexpr std::array<uint32_t, 8> kInitial = sha256::kInitial;
#pragma unroll
    for (int i = 0; i < 8; ++i)
      h_[i] = kInitial[i];
  }

  /// Absorbs a block: sixteen words, the first byte highest, which are overwritten.
  __device__ __forceinline__ void absorb(uint32_t (&w)[16]) {
    uint32_t s[8];
#pragma unroll
    for (int i = 0; i < 8; ++i)
      s[i] = h_[i];
#pragma unroll 1
    for (int first = 0; first < 64; first += 16) {
      if (first > 0) extend(w);
#pragma unroll
      for (int t = 0; t < 16; ++t)
        round(s, sum_by_product(w[t], kSha256Rounds[first + t]));
    }
#pragma unroll
    for (int i = 0; i < 8; ++i)
      h_[i] += s[i];
  }

  __device__ __forceinline__ void digest(uint32_t (&words)[8]) const {
#pragma unroll
    for (int i = 0; i < 8; ++i)
      words[i] = reversed_bytes(h_[i]);
  }

 private:
  /// Computes the next sixteen words of the schedule.
  static __device__ __forceinline__ void extend(uint32_t (&w)[16]) {
#pragma unroll
    for (int t = 0; t < 16; ++t) {
      const uint32_t early = w[(t + 1) % 16], late = w[(t + 14) % 16];
      w[t] = sum_by_product(w[t], w[(t + 9) % 16]) +
             (rotate_by_product(early, 0) ^ rotate_right(early, 18) ^ shift_by_product(early, 2)) +
             (rotate_by_product(late, 1) ^ rotate_right(late, 19) ^ shift_by_product(late, 3));
    }
  }

  static __device__ __forceinline__ void round(uint32_t (&s)[8], uint32_t word) {
    const uint32_t a = s[0], e = s[4];
    const uint32_t t1 = sum_by_product(s[7], word) + (rotate_right(e, 6) ^ rotate_right(e, 11) ^ rotate_right(e, 25)) +
                        (s[6] ^ (e & (s[5] ^ s[6])));
    const uint32_t of_a = rotate_right(a, 2) ^ rotate_right(a, 13) ^ rotate_right(a, 22);
    const uint32_t majority = (a & s[1]) | (s[2] & (a | s[1]));
#pragma unroll
    for (int i = 7; i > 0; --i)
      s[i] = s[i - 1];
    s[4] = sum_by_product(s[4], t1);
    s[0] = sum_by_product(of_a, sum_by_product(majority, t1));
  }

  uint32_t h_[8];
};

/// Computes SHA-256 of kBytes bytes, a multiple of 4. word(w, i): returns bytes 4 w .. 4 w + 3. i is a constant, w
/// modulo 16 unless the result is not used.
template <int kBytes, class Word>
__device__ __forceinline__ void sha256(uint32_t (&digest)[8], Word word) {
  static_assert(kBytes % 4 == 0);
  constexpr int kWords = kBytes / 4, kBlocks = (kWords + 2) / 16 + 1;
  Sha256 hash;
#pragma unroll 1
  for (int block = 0; block < kBlocks; ++block) {
    uint32_t w[16];
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      const int at = 16 * block + i;
      const uint32_t loaded = word(at < kWords ? at : kWords - 1, i);
      w[i] = at < kWords ? reversed_bytes(loaded) : at == kWords ? 0x80000000 : 0;
    }
    if (block == kBlocks - 1) w[15] = 8 * kBytes;
    hash.absorb(w);
  }
  hash.digest(digest);
}

/// Computes SHA-256 of 32 bytes, in place or not.
__device__ __forceinline__ void sha256_of_digest(uint32_t (&digest)[8], const uint32_t (&bytes)[8]) {
  uint32_t w[16];
#pragma unroll
  for (int i = 0; i < 16; ++i)
    w[i] = i < 8 ? reversed_bytes(bytes[i % 8]) : i == 8 ? 0x80000000 : i == 15 ? 256 : 0;
  Sha256 hash;
  hash.absorb(w);
  hash.digest(digest);
}

}  // namespace polykem::cuda
