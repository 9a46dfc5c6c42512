// SPDX-License-Identifier: Apache-2.0
// The products modulo x^n + 1 and 251. A warp computes an item: it reads the records, multiplies, adds the noise and
// writes the records. [LAC19]
#pragma once

#include "prim/polymul/cuda/negacyclic.cuh"
#include "schemes/lac/cuda/prg.cuh"

namespace polykem::lac::cuda {

/// Shared memory of a warp.
template <class S>
struct ProductScratch {
  using Negacyclic = polykem::cuda::NegacyclicShape<S::kN>;
  alignas(16) uint8_t plain[Negacyclic::kPlainBytes];
  alignas(16) uint8_t reversed[Negacyclic::kReversedBytes];
};

/// A product of bytes by the coefficients -1, 0, 1 of a secret polynomial. A lane has a part of its coefficients,
/// modulo q.
template <class S>
struct Product {
  using Groups = polykem::cuda::NegacyclicGroups<S::kN>;
  static constexpr int kRounds = S::kN / 256, kHalves = S::kN / 64;

  ProductScratch<S>& scratch;
  unsigned lane;
  polykem::cuda::NegacyclicFragments<S::kN> fragments;
  uint32_t result[kHalves];  ///< coefficients 64 h + 2 lane and the next one: bits 0 to 7 and 16 to 23

  __device__ __forceinline__ Product(ProductScratch<S>& shared, unsigned own) : scratch(shared), lane(own) {}

  /// Loads this lane's groups of the first n bytes of a record of any alignment.
  __device__ __forceinline__ void load(Groups& groups, const uint8_t* record) const {
    const auto skip = static_cast<int>(reinterpret_cast<uintptr_t>(record) & 3);
#pragma unroll
    for (int i = 0; i < kRounds; ++i) {
      const auto* const words = reinterpret_cast<const uint32_t*>(record - skip) + 2 * (lane + 32 * i);
      const uint32_t low = words[0], middle = words[1], high = words[skip > 0 ? 2 : 1];
      groups[i] = make_uint2(__funnelshift_r(low, middle, 8 * skip), __funnelshift_r(middle, high, 8 * skip));
    }
  }

  static __device__ __forceinline__ uint32_t sign_bytes(uint32_t x) {
    const uint32_t odd = x & 0x01010101;
    return odd | (odd & x >> 1) * 0xff;
  }
  /// Maps the bytes of a secret polynomial to -1, 0, 1: only the two low bits are read: 0, 1, 2, 3 mean 0, 1, 0, -1.
  static __device__ __forceinline__ void to_signs(Groups& groups) {
#pragma unroll
    for (uint2& g : groups)
      g = make_uint2(sign_bytes(g.x), sign_bytes(g.y));
  }
  static __device__ __forceinline__ uint32_t negated_signs(uint32_t x) {
    const uint32_t odd = x & 0x01010101;
    return odd | (odd & ~(x >> 1)) * 0xff;
  }

  /// Loads the factor -1, 0, 1 of all products that follow.
  __device__ __forceinline__ void load_secret(const Groups& signs) {
    Groups negated;
#pragma unroll
    for (int i = 0; i < kRounds; ++i)
      negated[i] = make_uint2(negated_signs(signs[i].x), negated_signs(signs[i].y));
    polykem::cuda::store_reversed<S::kN>(scratch.reversed, signs, negated, lane);
    __syncwarp();
    fragments.load(scratch.reversed, lane);
  }

  static __device__ __forceinline__ uint32_t reduced_bytes(uint32_t x) {
    return x - (bytes_from_q(x) >> 7) * kQ;
  }
  static __device__ __forceinline__ uint32_t reduced(int x) {
    constexpr uint32_t kLift = 1100 * kQ, kInverse = (uint64_t{1} << 32) / kQ + 1;
    static_assert(kLift > S::kN * (kQ - 1) + 128);  // and x + kLift < 2^20, for which the quotient is exact
    const uint32_t lifted = static_cast<uint32_t>(x) + kLift;
    return lifted - __umulhi(lifted, kInverse) * kQ;
  }

  /// Computes result = bytes times the factor, plus added(h), pairs of signed bytes.
  template <class Added>
  __device__ __forceinline__ void multiply(const Groups& bytes, Added added) {
    Groups plain, negated;
#pragma unroll
    for (int i = 0; i < kRounds; ++i) {
      plain[i] = make_uint2(reduced_bytes(bytes[i].x), reduced_bytes(bytes[i].y));
      negated[i] = make_uint2(0x01010101 * kQ - plain[i].x, 0x01010101 * kQ - plain[i].y);
    }
    polykem::cuda::store_plain<S::kN>(scratch.plain, plain, negated, lane);
    __syncwarp();
    polykem::cuda::NegacyclicSums<S::kN, 1> sums;
    sums.clear();
    sums.template add<1>(scratch.plain, fragments, lane);
    __syncwarp();
#pragma unroll
    for (int h = 0; h < kHalves; ++h) {
      const uint32_t more = added(h);
      const int low = static_cast<int8_t>(more), high = static_cast<int8_t>(more >> 8);
      result[h] = reduced(sums.coefficient(h, 0) + low) | reduced(sums.coefficient(h, 1) + high) << 16;
    }
  }

  /// Returns the pair of bytes of a row, for multiply().
  __device__ __forceinline__ uint32_t pair(const uint8_t* row, int h) const {
    return reinterpret_cast<const uint16_t*>(row)[32 * h + lane];
  }
  /// Returns whether coefficients 64 h + 2 lane and the next one are among the first `count`.
  __device__ __forceinline__ bool within(int h, int count) const {
    return 64 * h + 64 <= count || 64 * h + 2 * static_cast<int>(lane) < count;
  }
};

/// Returns two coefficients as a byte of four rounded bits each. 248 to 250 round up to 16, which inverts the lowest
/// bit of the upper half, or gives zero in it.
__device__ __forceinline__ uint32_t compressed(uint32_t pair) {
  return (((pair & 0xff) + 8) >> 4 ^ (((pair >> 16) + 8) & 0xf0)) & 0xff;
}

/// Computes b = a s + e, pk and sk.
template <class S>
__global__ void __launch_bounds__(32) keygen_kernel(Work work) {
  __shared__ ProductScratch<S> scratch;
  const size_t item = blockIdx.x;
  Product<S> product(scratch, warp_lane());
  const unsigned lane = product.lane;
  typename Product<S>::Groups a, s;
  product.load(s, work.secret[item]);
  product.load(a, work.a[item]);
  product.load_secret(s);
  const uint8_t* const noise = work.noise[item];
  product.multiply(a, [&](int h) { return product.pair(noise, h); });
  uint8_t* const sk = work.sk_out + item * S::kSecretKeyBytes;
  uint8_t* const pk = work.pk_out + item * S::kPublicKeyBytes;
  const auto put = [&](int at, uint32_t byte) { pk[at] = sk[S::kN + at] = static_cast<uint8_t>(byte); };
  put(static_cast<int>(lane), work.seeds.word(item, static_cast<int>(lane) / 4) >> (8 * (lane % 4)));
#pragma unroll
  for (int h = 0; h < Product<S>::kHalves; ++h) {
    const int at = 64 * h + 2 * static_cast<int>(lane);
    put(static_cast<int>(kSeedBytes) + at, product.result[h]);
    put(static_cast<int>(kSeedBytes) + at + 1, product.result[h] >> 16);
    const uint32_t signs = product.pair(work.secret[item], h);
    sk[at] = static_cast<uint8_t>(signs);
    sk[at + 1] = static_cast<uint8_t>(signs >> 8);
  }
}

/// Computes c1 = a r + e1 and c2 = b r + e2 + 125 bits, compressed, and stores them in ct_out. kCompare: only compares
/// them with ct.
template <class S, bool kCompare>
__global__ void __launch_bounds__(32) encrypt_kernel(Work work) {
  __shared__ ProductScratch<S> scratch;
  const size_t item = blockIdx.x;
  Product<S> product(scratch, warp_lane());
  const unsigned lane = product.lane;
  typename Product<S>::Groups a, b, r;
  product.load(r, work.secret[item]);
  product.load(a, work.a[item]);
  product.load(b, work.pk[item] + kSeedBytes);
  product.load_secret(r);
  uint32_t differences = 0;
  const auto put = [&](int at, uint32_t byte) {
    if constexpr (kCompare) {
      differences |= (byte ^ work.ct[item][at]) & 0xff;
    } else {
      work.ct_out[item * S::kCiphertextBytes + at] = static_cast<uint8_t>(byte);
    }
  };
  const uint8_t *const noise = work.noise[item], *const noise2 = work.noise2[item];
  product.multiply(a, [&](int h) { return product.pair(noise, h); });
#pragma unroll
  for (int h = 0; h < Product<S>::kHalves; ++h) {
    put(64 * h + 2 * static_cast<int>(lane), product.result[h]);
    put(64 * h + 2 * static_cast<int>(lane) + 1, product.result[h] >> 16);
  }
  product.multiply(b, [&](int h) { return 64 * h < S::kC2 ? product.pair(noise2, h) : 0; });
#pragma unroll
  for (int h = 0; 64 * h < S::kC2; ++h) {
    if (product.within(h, S::kC2)) put(S::kN + 32 * h + static_cast<int>(lane), compressed(product.result[h]));
  }
  if constexpr (kCompare) {
    const uint32_t mask = __any_sync(0xffffffff, differences != 0) ? 0xffffffff : 0;
    if (lane == 0) work.fail[item] = mask;
  }
}

/// Moves bit i of the lower half of x to bit 2 i.
__device__ __forceinline__ uint32_t spread_bits(uint32_t x) {
  x = (x | x << 8) & 0x00ff00ff;
  x = (x | x << 4) & 0x0f0f0f0f;
  x = (x | x << 2) & 0x33333333;
  return (x | x << 1) & 0x55555555;
}

/// Computes the received word: coefficients of c2 - c1 s near 125 are ones. With D2 the distances from 125 of both
/// coefficients of a bit are added.
template <class S>
__global__ void __launch_bounds__(32) decrypt_kernel(Work work) {
  constexpr int kHalves = (S::kC2 + 63) / 64, kCodeHalves = (S::kCodeBits + 63) / 64;
  constexpr bool kD2 = S::kC2 > S::kCodeBits;
  __shared__ ProductScratch<S> scratch;
  const size_t item = blockIdx.x;
  Product<S> product(scratch, warp_lane());
  const unsigned lane = product.lane;
  typename Product<S>::Groups c1, s;
  product.load(s, work.sk[item]);
  product.load(c1, work.ct[item]);
  product.to_signs(s);
  product.load_secret(s);
  product.multiply(c1, [](int) { return 0; });
  int near[kHalves][2];  // v, or its reflection at 125
#pragma unroll
  for (int h = 0; h < kHalves; ++h) {
    const uint32_t byte = product.within(h, S::kC2) ? work.ct[item][S::kN + 32 * h + static_cast<int>(lane)] : 0;
#pragma unroll
    for (int odd = 0; odd < 2; ++odd) {
      const uint32_t c2 = odd == 0 ? byte << 4 & 0xf0 : byte & 0xf0;
      const int v = static_cast<int>(c2) - static_cast<int>(product.result[h] >> (16 * odd) & 0xff);
      const int positive = v + (v >> 31 & static_cast<int>(kQ));
      near[h][odd] = kD2 ? max(positive, 250 - positive) : positive;
    }
  }
  auto* const code = reinterpret_cast<uint2*>(work.code[item]);
#pragma unroll
  for (int h = 0; h < kCodeHalves; ++h) {
    uint32_t ones[2];
#pragma unroll
    for (int odd = 0; odd < 2; ++odd) {
      uint32_t one;
      if constexpr (kD2) {  // the second coefficient is kCodeBits further
        constexpr int kFurther = S::kCodeBits / 64;
        constexpr unsigned kLanes = S::kCodeBits % 64 / 2;
        const int next = h + kFurther + 1 < kHalves ? near[(h + kFurther + 1) % kHalves][odd] : 0;
        const int second =
            __shfl_sync(0xffffffff, lane < kLanes ? next : near[h + kFurther][odd], (lane + kLanes) % 32);
        one = static_cast<uint32_t>(near[h][odd] + second - static_cast<int>(kQ) - 125) >> 31;
      } else {
        one = (static_cast<uint32_t>(near[h][odd] - 188) & ~static_cast<uint32_t>(near[h][odd] - 62)) >> 31;
      }
      ones[odd] = __ballot_sync(0xffffffff, product.within(h, S::kCodeBits) && one != 0);
    }
    if (lane == 0) {
      code[h] = make_uint2(spread_bits(ones[0] & 0xffff) | spread_bits(ones[1] & 0xffff) << 1,
                           spread_bits(ones[0] >> 16) | spread_bits(ones[1] >> 16) << 1);
    }
  }
}

}  // namespace polykem::lac::cuda
