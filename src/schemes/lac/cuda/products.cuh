// SPDX-License-Identifier: Apache-2.0
// The products modulo x^n + 1 and 251. A warp computes an item: it reads the records, multiplies, adds the noise and
// writes the records. [LAC19]
#pragma once

#include "prim/polymul/cuda/negacyclic.cuh"
#include "schemes/lac/cuda/prg.cuh"

namespace polykem::lac::cuda {

/// Shared memory of a warp. `added`: kAdded blocks of 16 bytes, of what is added to products. `record`: what is written
/// to a record or read from one.
template <class S, int kAdded, int kRecordBytes>
struct ProductScratch {
  using Negacyclic = polykem::cuda::NegacyclicShape<S::kN>;
  alignas(16) uint8_t plain[Negacyclic::kPlainBytes];
  alignas(16) uint8_t reversed[Negacyclic::kReversedBytes];
  uint4 added[kAdded];
  alignas(16) uint8_t record[(kRecordBytes + 15) / 16 * 16];

  /// Begins to copy kBlocks blocks of an item to added[to] and the following.
  template <int kBlocks>
  __device__ __forceinline__ void begin_added(int to, const ItemBlocks& from, size_t item, unsigned lane) {
    static_assert(kBlocks <= 32);
    if (lane < kBlocks) polykem::cuda::begin_copy<16>(&added[to + lane], &from.at(item, static_cast<int>(lane)));
  }
  __device__ __forceinline__ uint32_t* record_words() { return reinterpret_cast<uint32_t*>(record); }
};

/// Returns bits 0 to 3 of x as bytes.
__device__ __forceinline__ uint32_t spread_four(uint32_t x) {
  return ((x & 15) * 0x00204081) & 0x01010101;
}
/// Returns four coefficients: 1 for bits of `plus`, -1 for bits of `minus`, else 0.
__device__ __forceinline__ uint32_t four_signs(uint32_t plus, uint32_t minus) {
  return spread_four(plus) | spread_four(minus) * 0xff;
}
/// Returns coefficient i of 32: a bit of `plus`, less a bit of `minus`, and 125 times a bit of `code`.
__device__ __forceinline__ int noise_at(uint32_t plus, uint32_t minus, uint32_t code, unsigned i) {
  constexpr int kBitValue = 125;
  return static_cast<int>(plus >> i & 1) - static_cast<int>(minus >> i & 1) +
         kBitValue * static_cast<int>(code >> i & 1);
}

/// The number of blocks for which a multiprocessor has registers without spills.
template <class S>
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 900
inline constexpr int kProductBlocks = S::kN == 512 ? 20 : 12;
#else
inline constexpr int kProductBlocks = 1;
#endif

/// A product of bytes by the coefficients -1, 0, 1 of a secret polynomial. A lane has a part of its coefficients,
/// modulo q.
template <class S>
struct Product {
  using Groups = polykem::cuda::NegacyclicGroups<S::kN>;
  static constexpr int kRounds = S::kN / 256, kHalves = S::kN / 64;

  uint8_t *plain_bytes, *reversed_bytes;  ///< the shared memory of both operands
  unsigned lane;
  polykem::cuda::NegacyclicFragments<S::kN> fragments;
  uint32_t result[kHalves];  ///< coefficients 64 h + 2 lane and the next one: bits 0 to 7 and 16 to 23

  template <class Scratch>
  __device__ __forceinline__ Product(Scratch& shared, unsigned own)
      : plain_bytes(shared.plain), reversed_bytes(shared.reversed), lane(own) {}

  /// Loads this lane's groups of a row.
  __device__ __forceinline__ void load_row(Groups& groups, const uint8_t* row) const {
#pragma unroll
    for (int i = 0; i < kRounds; ++i)
      groups[i] = reinterpret_cast<const uint2*>(row)[lane + 32 * i];
  }
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

  /// Loads this lane's groups of a secret polynomial.
  __device__ __forceinline__ void load_signs(Groups& groups, const ItemBlocks& from, size_t item) const {
    const unsigned shift = 8 * (lane % 4);
#pragma unroll
    for (int i = 0; i < kRounds; ++i) {
      const auto masks = reinterpret_cast<const uint2&>(from.word(item, 2 * (static_cast<int>(lane) / 4 + 8 * i)));
      const uint32_t plus = masks.x >> shift, minus = masks.y >> shift;
      groups[i] = make_uint2(four_signs(plus, minus), four_signs(plus >> 4, minus >> 4));
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
    polykem::cuda::store_reversed<S::kN>(reversed_bytes, signs, negated, lane);
    __syncwarp();
    fragments.load(reversed_bytes, lane);
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

  /// Computes result = bytes times the factor, plus added(h, odd).
  template <class Added>
  __device__ __forceinline__ void multiply(const Groups& bytes, Added added) {
    Groups plain, negated;
#pragma unroll
    for (int i = 0; i < kRounds; ++i) {
      plain[i] = make_uint2(reduced_bytes(bytes[i].x), reduced_bytes(bytes[i].y));
      negated[i] = make_uint2(0x01010101 * kQ - plain[i].x, 0x01010101 * kQ - plain[i].y);
    }
    polykem::cuda::store_plain<S::kN>(plain_bytes, plain, negated, lane);
    __syncwarp();
    polykem::cuda::NegacyclicSums<S::kN, 1> sums;
    sums.clear();
    sums.template add<1>(plain_bytes, fragments, lane);
    __syncwarp();
#pragma unroll
    for (int h = 0; h < kHalves; ++h) {
      const uint32_t low = reduced(sums.coefficient(h, 0) + added(h, 0));
      result[h] = low | reduced(sums.coefficient(h, 1) + added(h, 1)) << 16;
    }
  }
  /// Returns what multiply() adds for a noise polynomial.
  __device__ __forceinline__ auto noise(const uint4* blocks) const {
    return [this, blocks](int h, unsigned odd) {
      const uint2 masks = reinterpret_cast<const uint2*>(blocks)[2 * h + static_cast<int>(lane) / 16];
      return noise_at(masks.x, masks.y, 0, lane % 16 * 2 + odd);
    };
  }

  /// Stores the result, a byte for each coefficient.
  __device__ __forceinline__ void store_result(uint8_t* to) const {
#pragma unroll
    for (int h = 0; h < kHalves; ++h)
      reinterpret_cast<uint16_t*>(to)[32 * h + lane] = static_cast<uint16_t>(__byte_perm(result[h], 0, 0x4420));
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
__global__ void __launch_bounds__(32, kProductBlocks<S>) keygen_kernel(Work work) {
  constexpr int kNoise = S::kN / 64, kB = S::kN + static_cast<int>(kSeedBytes);  // sk is s and pk
  __shared__ ProductScratch<S, kNoise, S::kSecretKeyBytes> scratch;
  const size_t item = blockIdx.x;
  Product<S> product(scratch, warp_lane());
  const unsigned lane = product.lane;
  typename Product<S>::Groups a, s;
  scratch.template begin_added<kNoise>(0, work.noise, item, lane);
  product.load_signs(s, work.secret, item);
  product.load_row(a, work.a[item]);
  if (lane < kSeedBytes / 4) scratch.record_words()[S::kN / 4 + lane] = work.seeds.word(item, static_cast<int>(lane));
#pragma unroll
  for (int i = 0; i < Product<S>::kRounds; ++i)
    reinterpret_cast<uint2*>(scratch.record)[lane + 32 * i] = s[i];
  product.load_secret(s);
  polykem::cuda::end_copies();
  product.multiply(a, product.noise(scratch.added));
  product.store_result(scratch.record + kB);
  __syncwarp();
  polykem::cuda::store_from_shared<S::kSecretKeyBytes>(work.sk_out + item * S::kSecretKeyBytes, scratch.record_words(),
                                                       lane);
  polykem::cuda::store_from_shared<S::kPublicKeyBytes>(work.pk_out + item * S::kPublicKeyBytes,
                                                       scratch.record_words() + S::kN / 4, lane);
}

/// Returns how many bytes a record begins behind a multiple of four, as begin_record() does. It is computed again where
/// it is needed, since registers are short.
__device__ __forceinline__ unsigned alignment_of(const uint8_t* record) {
  return static_cast<unsigned>(reinterpret_cast<uintptr_t>(record) & 3);
}

/// Computes c1 = a r + e1 and c2 = b r + e2 + 125 bits, compressed, and stores them in ct_out. kCompare: only compares
/// them with ct.
template <class S, bool kCompare>
__global__ void __launch_bounds__(32, kProductBlocks<S>) encrypt_kernel(Work work) {
  constexpr int kNoise = S::kN / 64, kNoise2 = 2 * ((S::kC2 + 63) / 64), kWords = S::kCiphertextBytes / 4;
  __shared__ ProductScratch<S, kNoise + kNoise2, S::kCiphertextBytes> scratch;
  __shared__ alignas(16) uint8_t b_record[S::kN + 4];
  __shared__ uint32_t expected[kCompare ? kWords + 1 : 1];
  const size_t item = blockIdx.x;
  Product<S> product(scratch, warp_lane());
  const unsigned lane = product.lane;
  typename Product<S>::Groups a, b, r;
  scratch.template begin_added<kNoise>(0, work.noise, item, lane);
  scratch.template begin_added<S::kC2Words>(kNoise, work.noise2, item, lane);
  polykem::cuda::begin_record<S::kN>(b_record, work.pk[item] + kSeedBytes, lane);
  if constexpr (kCompare)
    polykem::cuda::begin_record<S::kCiphertextBytes>(reinterpret_cast<uint8_t*>(expected), work.ct[item], lane);
  product.load_signs(r, work.secret, item);
  product.load_row(a, work.a[item]);
  product.load_secret(r);
  polykem::cuda::end_copies();
  product.multiply(a, product.noise(scratch.added));
  product.store_result(scratch.record);
  product.load(b, b_record + alignment_of(work.pk[block_again()] + kSeedBytes));
  product.multiply(b, [&](int h, unsigned odd) {
    if (64 * h >= S::kC2) return 0;
    const uint4 masks = scratch.added[kNoise + 2 * h + static_cast<int>(lane) / 16];
    return noise_at(masks.x, masks.y, masks.z, lane % 16 * 2 + odd);
  });
#pragma unroll
  for (int h = 0; 64 * h < S::kC2; ++h) {
    if (product.within(h, S::kC2)) {
      scratch.record[S::kN + 32 * h + static_cast<int>(lane)] = static_cast<uint8_t>(compressed(product.result[h]));
    }
  }
  __syncwarp();
  if constexpr (kCompare) {
    const unsigned skip = alignment_of(work.ct[block_again()]);
    uint32_t differences = 0;
#pragma unroll 4
    for (int w = static_cast<int>(lane_again()); w < kWords; w += 32) {
      const uint32_t word = __funnelshift_r(expected[w], expected[w + 1], 8 * skip);
      differences |= word ^ scratch.record_words()[w];
    }
    const uint32_t mask = __any_sync(0xffffffff, differences != 0) ? 0xffffffff : 0;
    if (lane_again() == 0) work.fail[block_again()] = mask;
  } else {
    polykem::cuda::store_from_shared<S::kCiphertextBytes>(work.ct_out + item * S::kCiphertextBytes,
                                                          scratch.record_words(), lane);
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
__global__ void __launch_bounds__(32, kProductBlocks<S>) decrypt_kernel(Work work) {
  constexpr int kHalves = (S::kC2 + 63) / 64, kCodeHalves = (S::kCodeBits + 63) / 64;
  constexpr bool kD2 = S::kC2 > S::kCodeBits;
  __shared__ ProductScratch<S, 1, S::kC2 / 2 + 4> scratch;
  const size_t item = blockIdx.x;
  Product<S> product(scratch, warp_lane());
  const unsigned lane = product.lane;
  typename Product<S>::Groups c1, s;
  const int skip = polykem::cuda::begin_record<S::kC2 / 2>(scratch.record, work.ct[item] + S::kN, lane);
  product.load(s, work.sk[item]);
  product.load(c1, work.ct[item]);
  product.to_signs(s);
  product.load_secret(s);
  polykem::cuda::end_copies();
  product.multiply(c1, [](int, unsigned) { return 0; });
  int near[kHalves][2];  // v, or its reflection at 125
#pragma unroll
  for (int h = 0; h < kHalves; ++h) {
    const uint32_t byte = product.within(h, S::kC2) ? scratch.record[skip + 32 * h + static_cast<int>(lane)] : 0;
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
