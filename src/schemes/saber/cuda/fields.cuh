// SPDX-License-Identifier: Apache-2.0
// Packs and unpacks polynomials, eight coefficients in each lane of a warp: lane l has coefficients 8 l to 8 l + 7 of a
// polynomial, as pairs of 16 bits, and kBits bytes of its packed form. [SABER20, 2.4]
#pragma once

#include "prim/polymul/cuda/negacyclic.cuh"
#include "schemes/saber/cuda/work.cuh"

namespace polykem::saber::cuda {

using ProductShape = polykem::cuda::NegacyclicShape<static_cast<int>(kN)>;
using ByteGroup = polykem::cuda::NegacyclicGroups<static_cast<int>(kN)>;
static_assert(ProductShape::kRounds == 1, "a lane has one group of a polynomial");

/// A lane's coefficients.
using Pairs = uint32_t[4];

/// 2^13 in both halves of a word. Subtracting a pair from it negates both coefficients mod 2^13.
inline constexpr uint32_t kQPair = (1u << kQBits) * 0x10001u;

/// Polynomials packed one after the other at any alignment, as a lane reads them.
template <int kBits>
class PackedPolys {
 public:
  static constexpr int kWords = (kBits + 6) / 4;  ///< words that kBits bytes of any alignment touch
  /// The words in memory that hold a lane's part of a polynomial. They are unpacked later, so that a kernel can go on
  /// before they arrive.
  using Group = uint32_t[kWords];

  __device__ __forceinline__ PackedPolys(const uint8_t* first, unsigned lane) {
    const uint8_t* const from = first + kBits * lane;
    skip_ = static_cast<int>(reinterpret_cast<uintptr_t>(from) & 3);
    words_ = reinterpret_cast<const uint32_t*>(from - skip_);
  }

  /// Loads the lane's part of a polynomial. It reads only words that the polynomial touches.
  __device__ __forceinline__ void load(Group& group, int poly) const {
    const uint32_t* const from = words_ + 8 * kBits * poly;
    const int last = (skip_ + kBits - 1) / 4;
#pragma unroll
    for (int w = 0; w < kWords; ++w)
      group[w] = from[4 * w < kBits ? w : min(w, last)];
  }

  __device__ __forceinline__ void unpack(Pairs& pairs, const Group& group) const {
    constexpr uint32_t kMask = (1u << kBits) - 1;
    Group words;
#pragma unroll
    for (int w = 0; w < kWords; ++w)
      words[w] = __funnelshift_r(group[w], w + 1 < kWords ? group[w + 1] : 0, 8 * skip_);
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int bit = 2 * kBits * k, word = bit / 32;
      const bool straddles = bit % 32 + 2 * kBits > 32;
      const uint32_t two = __funnelshift_r(words[word], straddles ? words[word + 1] : 0, bit % 32);
      pairs[k] = (two & kMask) | (two << (16 - kBits) & kMask << 16);
    }
  }

 private:
  const uint32_t* words_;
  int skip_;
};

/// Packs a lane's coefficients into a polynomial in shared memory, which is aligned to 4 bytes. Bits above kBits are
/// ignored.
template <int kBits>
__device__ __forceinline__ void pack_to_shared(uint8_t* poly, const Pairs& pairs, unsigned lane) {
  constexpr uint32_t kMask = (1u << kBits) - 1;
  uint32_t words[(kBits + 3) / 4] = {};
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const int bit = 2 * kBits * k, word = bit / 32;
    const uint32_t two = (pairs[k] & kMask) | (pairs[k] >> (16 - kBits) & kMask << kBits);
    words[word] |= two << (bit % 32);
    if (bit % 32 + 2 * kBits > 32) words[word + 1] |= two >> (32 - bit % 32);
  }
  uint8_t* const to = poly + kBits * lane;
  if constexpr (kBits % 4 == 0) {
#pragma unroll
    for (int w = 0; w < kBits / 4; ++w)
      reinterpret_cast<uint32_t*>(to)[w] = words[w];
  } else if constexpr (kBits % 2 == 0) {
#pragma unroll
    for (int h = 0; h < kBits / 2; ++h)
      reinterpret_cast<uint16_t*>(to)[h] = static_cast<uint16_t>(words[h / 2] >> (16 * (h % 2)));
  } else {
#pragma unroll
    for (int b = 0; b < kBits; ++b)
      to[b] = static_cast<uint8_t>(words[b / 4] >> (8 * (b % 4)));
  }
}

/// Returns byte 0 or 1 of each coefficient.
__device__ __forceinline__ uint2 limb_of(const Pairs& pairs, int limb) {
  const unsigned selector = limb == 0 ? 0x6420 : 0x7531;
  return make_uint2(__byte_perm(pairs[0], pairs[1], selector), __byte_perm(pairs[2], pairs[3], selector));
}

/// Both limbs of a lane's coefficients, which are below 2^13, and of their negatives.
struct Limbs {
  ByteGroup bytes[2], negated[2];

  __device__ __forceinline__ explicit Limbs(const Pairs& pairs) {
    Pairs minus;
#pragma unroll
    for (int k = 0; k < 4; ++k)
      minus[k] = kQPair - pairs[k];
#pragma unroll
    for (int limb = 0; limb < 2; ++limb) {
      bytes[limb][0] = limb_of(pairs, limb);
      negated[limb][0] = limb_of(minus, limb);
    }
  }
};

/// A lane's coefficients of a secret, each as two sums of bits, `plus` and `minus`. [SABER20, GenSecret]
template <int kMu>
struct SecretGroup {
  Pairs plus, minus;

  /// Each of `fields` has mu random bits.
  __device__ __forceinline__ explicit SecretGroup(const Pairs& fields) {
    constexpr int kHalf = kMu / 2;
    constexpr uint32_t kField = ((1u << kHalf) - 1) * 0x10001u, kLowest = (1u | 1u << kHalf) * 0x10001u;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      uint32_t sums = 0;  // sums of both halves of the bits, side by side
#pragma unroll
      for (int j = 0; j < kHalf; ++j)
        sums += fields[k] >> j & kLowest;
      plus[k] = sums & kField;
      minus[k] = sums >> kHalf & kField;
    }
  }

  /// Returns the coefficients and their negatives as signed bytes.
  __device__ __forceinline__ void to_bytes(ByteGroup& bytes, ByteGroup& negated) const {
    const uint2 p = limb_of(plus, 0), m = limb_of(minus, 0);
    const auto difference = [](uint32_t a, uint32_t b) { return ((a | 0x80808080) - b) ^ 0x80808080; };
    bytes[0] = make_uint2(difference(p.x, m.x), difference(p.y, m.y));
    negated[0] = make_uint2(difference(m.x, p.x), difference(m.y, p.y));
  }

  /// Returns the coefficients mod 2^13; bits above may be set.
  __device__ __forceinline__ void to_pairs(Pairs& pairs) const {
#pragma unroll
    for (int k = 0; k < 4; ++k)
      pairs[k] = (plus[k] | kQPair) - minus[k];
  }
};

}  // namespace polykem::saber::cuda
