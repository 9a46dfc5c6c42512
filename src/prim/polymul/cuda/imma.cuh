// SPDX-License-Identifier: Apache-2.0
// Cyclic products on int8 tensor cores with operands distinct per item: a device function for one warp and one product.
//
// With rows k and columns L,   c[8k + L] = sum over u of  a[u + 8k] * b[L - u]   (indices modulo n, u = 0..n-1).
// Eight columns make the n-tile of mma.m16n8k32, n/8 rows its m-tiles, u its k: close to n^2 multiply-adds in all. Rows
// advance by eight bytes, so a is read in aligned 8-byte words, straight from its bytes and their cyclic continuation,
// and the word of row k at u is that of row k + 4 at u - 32: a lane holds a window of words in registers and loads one
// new word per 32 values of u. Only b needs byte shifts; it is kept reversed in four copies, each shifted by one byte,
// in distinct banks. Accumulators are pairs of neighbouring coefficients whose word index is 32 * (row / 8) + lane, so
// they are stored to global memory coalesced, without a transpose.
//
// Wide operands are two byte limbs, low + 256 * high, unsigned; the product of two high limbs vanishes modulo 2^16.
#pragma once

#include "prim/polymul/cuda/polymul_cuda.cuh"

namespace polykem::cuda {

/// Sizes of one product. All row bounds are in coefficients, all others in bytes.
template <int N, MulKind kKind>
struct ImmaShape {
  static_assert(N % 8 == 5, "the cyclic continuation assumes that n is 5 modulo 8, as all degrees of NTRU are");
  static constexpr int kSteps = (N + 31) / 32;         ///< u in steps of 32
  static constexpr int kHalves = (N + 63) / 64;        ///< groups of eight rows
  static constexpr int kTiles = (kHalves + 1) / 2;     ///< m-tiles of sixteen rows
  static constexpr int kChunks = (N + 3) / 8;          ///< groups of eight coefficients that hold one below N
  static constexpr int kRounds = (kChunks + 31) / 32;  ///< chunks of a lane
  static constexpr int kLastChunk = kChunks - 1;       ///< holds the coefficients N-5..N-1
  static constexpr int kStride = kPolyStride<N>;       ///< in coefficients
  static constexpr int kLimbsA = kKind == MulKind::s3 ? 1 : 2;
  static constexpr int kLimbsB = kKind == MulKind::general ? 2 : 1;
  static constexpr int kBytesA = ((kSteps + 2 * kHalves) * 32 + 15) / 16 * 16;
  static constexpr int kFront = 8;  ///< room before index 0 of a reversed copy
  /// A reversed copy; 32 modulo 128, so that the four copies lie in distinct banks.
  static constexpr int kCopy = (kFront + kSteps * 32 + 8 + 95) / 128 * 128 + 32;
  static constexpr int kBytesB = 4 * kCopy;
  static constexpr int kShared = (kLimbsA * kBytesA + kLimbsB * kBytesB + 127) / 128 * 128;
  static_assert(kCopy >= kFront + kSteps * 32 + 8 && kBytesA >= N + 3 + 8 * kChunks);
};

/// d += a * b for one 16 x 8 tile and 32 values of u; b's bytes are signed or not.
template <bool kSignedB>
__device__ __forceinline__ void mma_16x8x32(int (&d)[4], uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3,
                                            uint32_t b0, uint32_t b1) {
  if constexpr (kSignedB) {
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  } else {
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  }
}

/// One warp's product. The calls in order: stage_a and stage_b (any order), __syncwarp(), multiply(), for_each_pair().
/// All 32 lanes make every call together. `shared` is ImmaShape::kShared bytes for this warp alone, 16-byte aligned.
template <int N, MulKind kKind>
struct ImmaProduct {
  using Shape = ImmaShape<N, kKind>;
  uint8_t* shared;
  unsigned lane;
  int sum[Shape::kTiles][4];  ///< after multiply(): the product's coefficients, not reduced

  __device__ __forceinline__ ImmaProduct(uint8_t* warp_shared) : shared(warp_shared), lane(threadIdx.x % kWarp) {}

  /// Writes the limbs of a to shared memory: lane l holds the chunks l, l + 32, ..; chunk j is the coefficients
  /// 8j..8j+7. What lies past coefficient N-1 is ignored.
  __device__ __forceinline__ void stage_a(const uint4 (&chunk)[Shape::kRounds]) {
#pragma unroll
    for (int limb = 0; limb < Shape::kLimbsA; ++limb) {
      const uint32_t select = limb == 0 ? 0x6420 : 0x7531;
      uint2 word[Shape::kRounds];
#pragma unroll
      for (int i = 0; i < Shape::kRounds; ++i) {
        word[i].x = __byte_perm(chunk[i].x, chunk[i].y, select);
        word[i].y = __byte_perm(chunk[i].z, chunk[i].w, select);
      }
      write_a(shared + limb * Shape::kBytesA, word);
    }
  }

  /// Writes the limbs of b, reversed and shifted. Chunks as for stage_a.
  __device__ __forceinline__ void stage_b(const uint4 (&chunk)[Shape::kRounds]) {
#pragma unroll
    for (int limb = 0; limb < Shape::kLimbsB; ++limb) {
      const uint32_t select = limb == 0 ? 0x0246 : 0x1357;
      uint2 word[Shape::kRounds];
#pragma unroll
      for (int i = 0; i < Shape::kRounds; ++i) {
        word[i].x = __byte_perm(chunk[i].z, chunk[i].w, select);
        word[i].y = __byte_perm(chunk[i].x, chunk[i].y, select);
      }
      write_b(limbs_b() + limb * Shape::kBytesB, word);
    }
  }

  /// The product of what was staged.
  __device__ __forceinline__ void multiply() {
#pragma unroll
    for (int tile = 0; tile < Shape::kTiles; ++tile) {
#pragma unroll
      for (int r = 0; r < 4; ++r)
        sum[tile][r] = 0;
    }
    // The limbs that count for 2^8 first, then those that count for 1.
    constexpr int kPasses = kKind == MulKind::general ? 3 : Shape::kLimbsA;
#pragma unroll 1
    for (int pass = 0; pass < kPasses; ++pass) {
      const int limb_a = kKind == MulKind::general ? pass == 0 : kPasses - 1 - pass;
      const int limb_b = kKind == MulKind::general ? pass == 1 : 0;
      if (kPasses > 1 && pass == kPasses - 1) {
#pragma unroll
        for (int tile = 0; tile < Shape::kTiles; ++tile) {
#pragma unroll
          for (int r = 0; r < 4; ++r)
            sum[tile][r] <<= 8;
        }
      }
      add_limb_product(shared + limb_a * Shape::kBytesA, limbs_b() + limb_b * Shape::kBytesB);
    }
  }

  /// Calls store(w, pair) for the words this lane holds: pair is the coefficients 2w and 2w + 1, reduced, zeros from
  /// N on. Across a warp w is contiguous.
  template <class Store>
  __device__ __forceinline__ void for_each_pair(uint32_t mask, Store&& store) const {
    int last = 0;
    if constexpr (kKind == MulKind::s3) {
      constexpr int kWord = (N - 1) / 2;
      constexpr int kHalf = kWord / 32;
      last = 2 * __shfl_sync(kAllLanes, sum[kHalf / 2][kHalf % 2 * 2 + (N - 1) % 2], kWord % 32);
    }
#pragma unroll
    for (int half = 0; half < Shape::kHalves; ++half) {
      const unsigned word = half * 32 + lane;
      uint32_t low = sum[half / 2][half % 2 * 2];
      uint32_t high = sum[half / 2][half % 2 * 2 + 1];
      if constexpr (kKind == MulKind::s3) {
        low = mod3(low + last);
        high = mod3(high + last);
      }
      uint32_t pair = __byte_perm(low, high, 0x5410);
      if constexpr (kKind != MulKind::s3) pair &= mask;
      if (half == Shape::kHalves - 1) pair = 2 * word >= N ? 0 : 2 * word + 1 >= N ? pair & 0xffff : pair;
      if ((half + 1) * 32 <= Shape::kSteps * 16 || word < Shape::kSteps * 16) store(word, pair);
    }
  }

 private:
  __device__ __forceinline__ uint8_t* limbs_b() const {
    return shared + Shape::kLimbsA * Shape::kBytesA;
  }

  __device__ __forceinline__ void write_a(uint8_t* limb, const uint2 (&word)[Shape::kRounds]) const {
    const uint32_t first = __shfl_sync(kAllLanes, word[0].x, 0);
#pragma unroll
    for (int i = 0; i < Shape::kRounds; ++i) {
      const int chunk = lane + 32 * i;
      const uint32_t following = i + 1 < Shape::kRounds && lane == 0 ? word[(i + 1) % Shape::kRounds].x : word[i].x;
      const uint32_t next = __shfl_sync(kAllLanes, following, (lane + 1) % 32);
      const uint32_t high = chunk == Shape::kLastChunk ? __byte_perm(word[i].y, first, 0x6540) : word[i].y;
      if ((i + 1) * 32 > Shape::kChunks && chunk >= Shape::kChunks) continue;
      *reinterpret_cast<uint2*>(limb + 8 * chunk) = make_uint2(word[i].x, high);
      *reinterpret_cast<uint2*>(limb + N + 3 + 8 * chunk) =
          make_uint2(__byte_perm(word[i].x, word[i].y, 0x6543), __byte_perm(word[i].y, next, 0x6543));
    }
  }

  /// word[i]: the bytes of chunk lane + 32 i, reversed. Copy s holds b[(s - x) mod N] at x.
  __device__ __forceinline__ void write_b(uint8_t* limb, const uint2 (&word)[Shape::kRounds]) const {
    constexpr int kCopy = Shape::kCopy;
    uint8_t* copy = limb + Shape::kFront;
    const uint32_t first = __shfl_sync(kAllLanes, word[0].y, 0);
#pragma unroll
    for (int i = 0; i < Shape::kRounds; ++i) {
      const int chunk = lane + 32 * i;
      const uint32_t before = i > 0 && lane == 31 ? word[(i + Shape::kRounds - 1) % Shape::kRounds].x : word[i].x;
      const uint32_t previous = __shfl_sync(kAllLanes, before, (lane + 31) % 32);
      const uint32_t low = chunk == Shape::kLastChunk ? __byte_perm(first, word[i].x, 0x7321) : word[i].x;
      const uint32_t high = word[i].y;
      if ((i + 1) * 32 > Shape::kChunks && chunk >= Shape::kChunks) continue;
      uint8_t* at = copy + 8 * (Shape::kLastChunk - chunk);
      *reinterpret_cast<uint2*>(at) = make_uint2(__byte_perm(low, high, 0x5432), __byte_perm(high, previous, 0x5432));
      *reinterpret_cast<uint2*>(at + kCopy) =
          make_uint2(__byte_perm(low, high, 0x4321), __byte_perm(high, previous, 0x4321));
      *reinterpret_cast<uint2*>(at + 2 * kCopy) = make_uint2(low, high);
      *reinterpret_cast<uint32_t*>(at + 3 * kCopy + 4) = __byte_perm(low, high, 0x6543);
      *reinterpret_cast<uint32_t*>(at + 3 * kCopy + 8) = __byte_perm(high, previous, 0x6543);
    }
    if (lane != 0) return;
    const uint32_t low = word[0].x;
    const uint32_t high = word[0].y;
    *reinterpret_cast<uint32_t*>(copy - 4) = __byte_perm(low, high, 0x6543);
    *reinterpret_cast<uint32_t*>(copy + kCopy - 4) = __byte_perm(low, high, 0x5432);
    *reinterpret_cast<uint32_t*>(copy + 2 * kCopy - 4) = __byte_perm(low, high, 0x4321);
    *reinterpret_cast<uint32_t*>(copy + 3 * kCopy - 4) = low;
    *reinterpret_cast<uint32_t*>(copy + 3 * kCopy) = high;
  }

  /// sum += (limb of a) * (limb of b)
  __device__ __forceinline__ void add_limb_product(const uint8_t* limb_a, const uint8_t* limb_b) {
    constexpr int kHalves = Shape::kHalves;
    constexpr int kWindow = 2 * kHalves;
    const unsigned row = lane / 4;
    const unsigned quad = lane % 4;
    const uint8_t* a = limb_a + 8 * (row + quad);
    const uint8_t* b = limb_b + Shape::kFront + row % 4 * Shape::kCopy + 8 * quad - row / 4 * 4;
    uint2 window[kWindow];
#pragma unroll
    for (int w = 0; w < kWindow - 2; ++w)
      window[w] = *reinterpret_cast<const uint2*>(a + 32 * w);
#pragma unroll
    for (int step = 0; step < Shape::kSteps; ++step) {
      const int newest = step + kWindow - 2;
      window[newest % kWindow] = *reinterpret_cast<const uint2*>(a + 32 * newest);
      uint32_t b0 = *reinterpret_cast<const uint32_t*>(b + 32 * step);
      uint32_t b1 = *reinterpret_cast<const uint32_t*>(b + 32 * step + 4);
      if (step == Shape::kSteps - 1) {
        b0 &= mask_from_n(32 * step + 8 * quad);
        b1 &= mask_from_n(32 * step + 8 * quad + 4);
      }
#pragma unroll
      for (int tile = 0; tile < Shape::kTiles; ++tile) {
        const uint2 upper = window[(step + 4 * tile) % kWindow];
        // The last tile may have rows that no coefficient needs.
        const bool whole = 2 * tile + 1 < kHalves;
        const uint2 lower = whole ? window[(step + 4 * tile + 2) % kWindow] : make_uint2(0, 0);
        mma_16x8x32<kKind == MulKind::ternary>(sum[tile], upper.x, lower.x, upper.y, lower.y, b0, b1);
      }
    }
  }

  /// Ones in the bytes of the word at u that are below N.
  __device__ __forceinline__ static uint32_t mask_from_n(int u) {
    const int valid = N - u;
    return valid >= 4 ? 0xffffffffu : valid <= 0 ? 0u : (1u << (8 * valid)) - 1;
  }
};

/// A lane's chunks of one row: all loads are issued before any is used. The row is 16-byte aligned.
template <int N, MulKind kKind>
__device__ __forceinline__ void load_chunks(uint4 (&chunk)[ImmaShape<N, kKind>::kRounds], const uint16_t* row) {
  using Shape = ImmaShape<N, kKind>;
  const uint4* source = reinterpret_cast<const uint4*>(row);
  const unsigned lane = threadIdx.x % kWarp;
#pragma unroll
  for (int i = 0; i < Shape::kRounds; ++i) {
    const int j = lane + 32 * i;
    chunk[i] = (i + 1) * 32 <= Shape::kChunks || j < Shape::kChunks ? source[j] : make_uint4(0, 0, 0, 0);
  }
}

}  // namespace polykem::cuda
