// SPDX-License-Identifier: Apache-2.0
// The layout in shared memory of the byte limbs of a product's operands. Each warp computes one product.
//
// One operand is laid out plain (p), the other reversed (r), so that
//   c[8k + L] = sum over u of  p[u + 8k] * r[L - u]   (indices modulo n, u = 0..n-1, L = 0..7)
// reads both upwards. p is its bytes and their cyclic continuation, in two copies eight bytes apart, because ldmatrix
// needs rows at multiples of 16 bytes and k steps by eight. r lies reversed in four copies, each shifted by one byte,
// in distinct banks: a word at any byte offset is an aligned word of one of them.
//
// Wide operands are two byte limbs, low + 256 * high, unsigned; the product of two high limbs vanishes modulo 2^16. For
// ternary products the plain operand is b, so that both limbs of a are multiplied by the same fragment of b; otherwise
// it is a.
//
// Modulo 2^12, two products of limbs suffice for two wide operands. With x = low low' and
// y = (low + 16 high)(low' + 16 high'), whose factors need only be right modulo 2^8, y - x is
// 16 (low high' + high low') modulo 2^8, so that x + 16 (y - x) is the product modulo 2^12. Both are sums over u, of
// which the same is true.
#pragma once

#include "prim/polymul/cuda/polymul_cuda.cuh"

namespace polykem::cuda {

/// The sizes of one product. kStride is in coefficients, sizes of memory are in bytes.
template <int N, MulKind kKind>
struct LimbShape {
  static_assert(N % 8 == 5, "the cyclic continuation assumes that n is 5 modulo 8, as all degrees of NTRU are");
  static constexpr int kSteps = (N + 31) / 32;         ///< steps of 32 values of u
  static constexpr int kTiles = (N + 127) / 128;       ///< m-tiles of sixteen rows
  static constexpr int kGroups = (N + 3) / 8;          ///< groups of eight coefficients that hold one below N
  static constexpr int kRounds = (kGroups + 31) / 32;  ///< groups per lane
  static constexpr int kLastGroup = kGroups - 1;       ///< holds the coefficients N-5..N-1
  static constexpr int kStride = kPolyStride<N>;       ///< in coefficients
  static constexpr int kLimbsPlain = kKind == MulKind::kGeneral || kKind == MulKind::kShort ? 2 : 1;
  static constexpr int kLimbsReversed = kKind == MulKind::kS3 || kKind == MulKind::kBytes ? 1 : 2;
  static constexpr int kSums =
      kLimbsReversed;  ///< accumulators: of weight 1 and 2^8; kShort: of low limbs and of low + 16 high
  /// The steps by which the next tile's rows lie further on: 2 if each half of a tile has eight neighbouring rows; 1 if
  /// it has two runs of four, kTiles steps apart, for which fewer fragments are loaded and kept. In products of bytes
  /// that makes n = 677 to 821 faster, but not larger n; for n = 509 the two runs would be in the same banks.
  static constexpr int kTileSteps = kLimbsReversed == 1 && kTiles >= 6 && kTiles <= 7 ? 1 : 2;
  static constexpr int kFragments = kSteps + kTileSteps * (kTiles - 1);  ///< fragments of one plain limb
  static constexpr int kPlainRead = 32 * kSteps + 128 * kTiles - 8;      ///< bytes of a plain copy that fragments read
  /// The bytes of a plain copy: what fragments read, and what the next copy has before its index 0. Modulo 128 they are
  /// such that the eight rows of a matrix fill all banks.
  static constexpr int kPlainSkew = kTileSteps == 1 && kTiles % 2 == 0 ? 32 : 64;
  static constexpr int kPlainCopy = (kPlainRead + 127 - kPlainSkew) / 128 * 128 + kPlainSkew;
  static constexpr int kPlainBytes = 2 * kPlainCopy;
  static constexpr int kFront = 8;  ///< bytes before index 0 of a reversed copy
  /// The bytes of a reversed copy, 32 modulo 128, so that the four copies are in distinct banks.
  static constexpr int kReversedCopy = (kFront + kSteps * 32 + 8 + 95) / 128 * 128 + 32;
  static constexpr int kReversedBytes = 4 * kReversedCopy;
  static constexpr int kShared = (kLimbsPlain * kPlainBytes + kLimbsReversed * kReversedBytes + 127) / 128 * 128;
  static_assert(kReversedCopy >= kFront + kSteps * 32 + 8);
  static_assert(kPlainCopy >= kPlainRead && kPlainCopy >= N + 3 + 8 * kGroups + 8);
};

/// The operands in shared memory, for multipliers that compute one product per warp. All 32 lanes make every call
/// together. kLimbBits is 8, or 7 where sums or differences of two limbs must fit in a byte; then coefficients are
/// below 2^14.
template <int N, MulKind kKind, int kLimbBits = 8>
struct LimbOperands {
  static_assert(kLimbBits == 7 || kLimbBits == 8);
  using Shape = LimbShape<N, kKind>;
  using Groups = uint4[Shape::kRounds];
  using ByteGroups = uint2[Shape::kRounds];
  uint8_t* shared;  ///< LimbShape::kShared bytes for this warp alone, 128-byte aligned
  unsigned lane;

  __device__ __forceinline__ explicit LimbOperands(uint8_t* warp_shared)
      : shared(warp_shared), lane(threadIdx.x % kWarp) {}

  /// Writes the limbs of a to shared memory: lane l holds the groups l, l + 32, ..; group j is the coefficients
  /// 8j..8j+7. Anything past coefficient N-1 is ignored.
  __device__ __forceinline__ void store_a(const Groups& group) {
    if constexpr (kKind == MulKind::kTernary) {
      store_reversed(group);
    } else {
      store_plain(group);
    }
  }

  /// Writes the limbs of b to shared memory, from groups as store_a() takes them.
  __device__ __forceinline__ void store_b(const Groups& group) {
    if constexpr (kKind == MulKind::kTernary) {
      store_plain(group);
    } else {
      store_reversed(group);
    }
  }

  /// Writes the plain operand to shared memory, given as bytes; it must have a single limb.
  __device__ __forceinline__ void store_plain_bytes(const ByteGroups& group) const {
    static_assert(Shape::kLimbsPlain == 1);
    write_plain(shared, group);
  }

  /// Writes the reversed operand to shared memory, given as bytes; it must have a single limb.
  __device__ __forceinline__ void store_reversed_bytes(const ByteGroups& group) const {
    static_assert(Shape::kLimbsReversed == 1);
    ByteGroups word;
#pragma unroll
    for (int i = 0; i < Shape::kRounds; ++i)
      word[i] = make_uint2(__byte_perm(group[i].y, 0, 0x0123), __byte_perm(group[i].x, 0, 0x0123));
    write_reversed(reversed_limbs(), word);
  }

 protected:
  __device__ __forceinline__ uint8_t* reversed_limbs() const {
    return shared + Shape::kLimbsPlain * Shape::kPlainBytes;
  }

  __device__ __forceinline__ void store_plain(const Groups& group) const {
#pragma unroll
    for (int limb = 0; limb < Shape::kLimbsPlain; ++limb) {
      ByteGroups word;
#pragma unroll
      for (int i = 0; i < Shape::kRounds; ++i) {
        word[i].x = pick_limbs<0x6420, 0x7531>(group[i].x, group[i].y, limb, Shape::kLimbsPlain);
        word[i].y = pick_limbs<0x6420, 0x7531>(group[i].z, group[i].w, limb, Shape::kLimbsPlain);
      }
      write_plain(shared + limb * Shape::kPlainBytes, word);
    }
  }

  __device__ __forceinline__ void store_reversed(const Groups& group) const {
#pragma unroll
    for (int limb = 0; limb < Shape::kLimbsReversed; ++limb) {
      ByteGroups word;
#pragma unroll
      for (int i = 0; i < Shape::kRounds; ++i) {
        word[i].x = pick_limbs<0x0246, 0x1357>(group[i].z, group[i].w, limb, Shape::kLimbsReversed);
        word[i].y = pick_limbs<0x0246, 0x1357>(group[i].x, group[i].y, limb, Shape::kLimbsReversed);
      }
      write_reversed(reversed_limbs() + limb * Shape::kReversedBytes, word);
    }
  }

  /// Returns one limb of four coefficients; the selectors pick their low and their high bytes. The only limb of an
  /// operand is its low byte, sign included.
  template <unsigned kLowBytes, unsigned kHighBytes>
  __device__ __forceinline__ static uint32_t pick_limbs(uint32_t first, uint32_t second, int limb, int limbs) {
    if (kKind == MulKind::kShort && limb == 1)
      return __byte_perm(low_plus_high(first), low_plus_high(second), kLowBytes);
    if (kLimbBits == 8 || limbs == 1) return __byte_perm(first, second, limb == 0 ? kLowBytes : kHighBytes);
    return __byte_perm(first >> (7 * limb), second >> (7 * limb), kLowBytes) & 0x7f7f7f7f;
  }

  /// Returns low + 16 * high, modulo 2^8, of two coefficients, in their low bytes.
  __device__ __forceinline__ static uint32_t low_plus_high(uint32_t pair) {
    return __vadd2(pair, (pair >> 4) & 0x00f000f0);
  }

  /// Writes both copies of a plain limb; word[i] has the bytes of group lane + 32 i. Copy s holds p[(x + 8s) mod N] at
  /// x.
  __device__ __forceinline__ void write_plain(uint8_t* limb, const ByteGroups& word) const {
    const uint32_t first = __shfl_sync(kAllLanes, word[0].x, 0);
#pragma unroll
    for (int i = 0; i < Shape::kRounds; ++i) {
      const int group = lane + 32 * i;
      const uint32_t following = i + 1 < Shape::kRounds && lane == 0 ? word[(i + 1) % Shape::kRounds].x : word[i].x;
      const uint32_t next = __shfl_sync(kAllLanes, following, (lane + 1) % 32);
      const uint32_t high = group == Shape::kLastGroup ? __byte_perm(word[i].y, first, 0x6540) : word[i].y;
      if ((i + 1) * 32 <= Shape::kGroups || group < Shape::kGroups) {
        const uint2 bytes = make_uint2(word[i].x, high);
        const uint2 wrapped =
            make_uint2(__byte_perm(word[i].x, word[i].y, 0x6543), __byte_perm(word[i].y, next, 0x6543));
        uint8_t* at = limb + 8 * group;
#pragma unroll
        for (int copy = 0; copy < 2; ++copy) {
          *reinterpret_cast<uint2*>(at + copy * (Shape::kPlainCopy - 8)) = bytes;
          *reinterpret_cast<uint2*>(at + copy * (Shape::kPlainCopy - 8) + N + 3) = wrapped;
        }
      }
    }
  }

  /// Writes the copies of a reversed limb; word[i] has the bytes of group lane + 32 i, reversed. Copy s holds r[(s - x)
  /// mod N] at x.
  __device__ __forceinline__ void write_reversed(uint8_t* limb, const ByteGroups& word) const {
    constexpr int kCopy = Shape::kReversedCopy;
    uint8_t* copy = limb + Shape::kFront;
    const uint32_t first = __shfl_sync(kAllLanes, word[0].y, 0);
#pragma unroll
    for (int i = 0; i < Shape::kRounds; ++i) {
      const int group = lane + 32 * i;
      const uint32_t before = i > 0 && lane == 31 ? word[(i + Shape::kRounds - 1) % Shape::kRounds].x : word[i].x;
      const uint32_t previous = __shfl_sync(kAllLanes, before, (lane + 31) % 32);
      const uint32_t low = group == Shape::kLastGroup ? __byte_perm(first, word[i].x, 0x7321) : word[i].x;
      const uint32_t high = word[i].y;
      if ((i + 1) * 32 <= Shape::kGroups || group < Shape::kGroups) {
        uint8_t* at = copy + 8 * (Shape::kLastGroup - group);
        *reinterpret_cast<uint2*>(at) = make_uint2(__byte_perm(low, high, 0x5432), __byte_perm(high, previous, 0x5432));
        *reinterpret_cast<uint2*>(at + kCopy) =
            make_uint2(__byte_perm(low, high, 0x4321), __byte_perm(high, previous, 0x4321));
        *reinterpret_cast<uint2*>(at + 2 * kCopy) = make_uint2(low, high);
        *reinterpret_cast<uint32_t*>(at + 3 * kCopy + 4) = __byte_perm(low, high, 0x6543);
        *reinterpret_cast<uint32_t*>(at + 3 * kCopy + 8) = __byte_perm(high, previous, 0x6543);
      }
    }
    if (lane == 0) {
      const uint32_t low = word[0].x;
      const uint32_t high = word[0].y;
      *reinterpret_cast<uint32_t*>(copy - 4) = __byte_perm(low, high, 0x6543);
      *reinterpret_cast<uint32_t*>(copy + kCopy - 4) = __byte_perm(low, high, 0x5432);
      *reinterpret_cast<uint32_t*>(copy + 2 * kCopy - 4) = __byte_perm(low, high, 0x4321);
      *reinterpret_cast<uint32_t*>(copy + 3 * kCopy - 4) = low;
      *reinterpret_cast<uint32_t*>(copy + 3 * kCopy) = high;
    }
  }

  /// Returns ones in the bytes of the word at u that are below N.
  __device__ __forceinline__ static uint32_t mask_from_n(int u) {
    const int valid = N - u;
    return valid >= 4 ? 0xffffffffu : valid <= 0 ? 0u : (1u << (8 * valid)) - 1;
  }
};

/// The groups of eight coefficients that a lane has of a row.
template <int N, MulKind kKind>
using LimbGroups = uint4[LimbShape<N, kKind>::kRounds];

/// Loads a lane's groups of one row; all loads are issued before any is used. The row is 16-byte aligned.
template <int N, MulKind kKind>
__device__ __forceinline__ void load_groups(LimbGroups<N, kKind>& group, const uint16_t* row) {
  using Shape = LimbShape<N, kKind>;
  const uint4* source = reinterpret_cast<const uint4*>(row);
  const unsigned lane = threadIdx.x % kWarp;
#pragma unroll
  for (int i = 0; i < Shape::kRounds; ++i) {
    const int j = lane + 32 * i;
    group[i] = (i + 1) * 32 <= Shape::kGroups || j < Shape::kGroups ? source[j] : make_uint4(0, 0, 0, 0);
  }
}

/// Loads a lane's groups of one row of bytes, like load_groups(). The row is 8-byte aligned.
template <int N, MulKind kKind>
__device__ __forceinline__ void load_byte_groups(uint2 (&group)[LimbShape<N, kKind>::kRounds], const uint8_t* row) {
  using Shape = LimbShape<N, kKind>;
  const uint2* source = reinterpret_cast<const uint2*>(row);
  const unsigned lane = threadIdx.x % kWarp;
#pragma unroll
  for (int i = 0; i < Shape::kRounds; ++i) {
    const int j = lane + 32 * i;
    group[i] = (i + 1) * 32 <= Shape::kGroups || j < Shape::kGroups ? source[j] : make_uint2(0, 0);
  }
}

}  // namespace polykem::cuda
