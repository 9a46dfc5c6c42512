// SPDX-License-Identifier: Apache-2.0
// The tensor-core product after one level of the three-product split of a Toeplitz matrix by a vector. With h at least
// n/2, p and r as in limbs.cuh, and the halves of u and of the rows k apart,
//   m = H(p[h..]) * (r0 + r1),   c0 = m + H(d[0..]) * r0,   c1 = m - H(d[h..]) * r1,   d[x] = p[x] - p[x + h]
// where H(v) is the matrix v[u + 8k]: three products of half the size instead of four. With limbs of seven bits, sums
// and differences fit into a byte.
#include "multipliers.cuh"
#include "prim/polymul/cuda/imma.cuh"

namespace polykem::cuda {

namespace {

template <int N, MulKind kKind>
struct TmvpShape {
  using Limbs = LimbShape<N, kKind>;
  static constexpr int kHalf = (N + 63) / 64 * 32;  ///< h
  static constexpr int kSteps = kHalf / 32;
  static constexpr int kGroups = (kHalf + 63) / 64;  ///< groups of eight rows in half a product
  static constexpr int kTiles = (kGroups + 1) / 2;
  static constexpr int kFragments = kSteps + 2 * kTiles - 2;
  static constexpr int kDifferenceCopy = (kHalf + 32 * kFragments + 64 * kTiles + 56 + 63) / 128 * 128 + 64;
  static constexpr int kDifferenceBytes = 2 * kDifferenceCopy;
  static constexpr int kSumCopy = (Limbs::kFront + kHalf + 8 + 95) / 128 * 128 + 32;
  static constexpr int kSumBytes = 4 * kSumCopy;
  static constexpr int kShared =
      (Limbs::kShared + Limbs::kLimbsPlain * kDifferenceBytes + Limbs::kLimbsReversed * kSumBytes + 127) / 128 * 128;
  static_assert(kHalf + 32 * kFragments + 64 * kTiles + 56 <= Limbs::kPlainCopy);
  static_assert(2 * kHalf <= 32 * Limbs::kSteps, "the reversed copies end before u = 2h");
};

enum class Tail { kNone, kSelectFirst, kZero };

template <int N, MulKind kKind>
struct TmvpProduct : LimbOperands<N, kKind, 7> {
  using Base = LimbOperands<N, kKind, 7>;
  using Limbs = typename Base::Shape;
  using Shape = TmvpShape<N, kKind>;
  using Base::lane;
  using Base::shared;
  using Sums = int[Limbs::kSums][Shape::kTiles][4];

  __device__ __forceinline__ explicit TmvpProduct(uint8_t* warp_shared) : Base(warp_shared) {}

  /// Computes d and r0 + r1. Call it after the operands are staged and a __syncwarp().
  __device__ __forceinline__ void prepare() const {
#pragma unroll
    for (int limb = 0; limb < Limbs::kLimbsPlain; ++limb) {
      const uint8_t* p = shared + limb * Limbs::kPlainBytes;
      uint8_t* d = differences() + limb * Shape::kDifferenceBytes;
#pragma unroll
      for (int i = 0; i < (3 * Shape::kHalf / 8 + 31) / 32; ++i) {
        const int at = 8 * (lane + 32 * i);
        if (at >= 3 * Shape::kHalf) break;
        const uint2 x = *reinterpret_cast<const uint2*>(p + at);
        const uint2 y = *reinterpret_cast<const uint2*>(p + at + Shape::kHalf);
        const uint2 difference = make_uint2(__vsub4(x.x, y.x), __vsub4(x.y, y.y));
        *reinterpret_cast<uint2*>(d + at) = difference;
        if (at >= 8) *reinterpret_cast<uint2*>(d + Shape::kDifferenceCopy + at - 8) = difference;
      }
    }
    constexpr int kWords = (Limbs::kFront + Shape::kHalf) / 8;
#pragma unroll
    for (int i = 0; i < (4 * kWords + 31) / 32; ++i) {
      const int index = lane + 32 * i;
      if (index >= 4 * kWords) break;
      const uint8_t* r = Base::reversed_limbs() + index / kWords * Limbs::kReversedCopy + index % kWords * 8;
      uint8_t* sum = sums() + index / kWords * Shape::kSumCopy + index % kWords * 8;
#pragma unroll
      for (int limb = 0; limb < Limbs::kLimbsReversed; ++limb) {
        const uint2 x = *reinterpret_cast<const uint2*>(r + limb * Limbs::kReversedBytes);
        const uint2 y = *reinterpret_cast<const uint2*>(r + limb * Limbs::kReversedBytes + Shape::kHalf);
        *reinterpret_cast<uint2*>(sum + limb * Shape::kSumBytes) = make_uint2(x.x + y.x, x.y + y.y);
      }
    }
  }

  /// Multiplies and calls store(w, pair) as ImmaProduct::for_each_pair does.
  template <class Store>
  __device__ __forceinline__ void multiply(uint32_t mask, Store&& store) const {
    const uint32_t p = plain_address(shared, Limbs::kPlainCopy);
    const uint32_t d = plain_address(differences(), Shape::kDifferenceCopy);
    Sums both = {};
    add_half<Tail::kSelectFirst>(both, p + Shape::kHalf, Limbs::kPlainBytes, reversed_address(sums(), Shape::kSumCopy),
                                 Shape::kSumBytes);
    Sums half;
    const uint8_t* r = reversed_address(Base::reversed_limbs(), Limbs::kReversedCopy);
    copy<-1>(half, both);
    add_half<Tail::kZero>(half, d + Shape::kHalf, Shape::kDifferenceBytes, r + Shape::kHalf, Limbs::kReversedBytes);
    constexpr int kWord = (N - 1 - Shape::kHalf) / 2;
    static_assert((N - 1) % 2 == 0);
    int last = 0;
    if constexpr (kKind == MulKind::kS3) {
      last = 2 * __shfl_sync(kAllLanes, -coefficient(half, kWord / 32, 0), kWord % 32);
    }
    store_half<-1>(half, Shape::kHalf / 2, last, mask, store);
    copy<1>(half, both);
    add_half<Tail::kNone>(half, d, Shape::kDifferenceBytes, r, Limbs::kReversedBytes);
    store_half<1>(half, 0, last, mask, store);
  }

 private:
  __device__ __forceinline__ uint8_t* differences() const {
    return shared + Limbs::kShared;
  }
  __device__ __forceinline__ uint8_t* sums() const {
    return differences() + Limbs::kLimbsPlain * Shape::kDifferenceBytes;
  }

  template <int kSign>
  __device__ __forceinline__ static void copy(Sums& target, const Sums& source) {
#pragma unroll
    for (int s = 0; s < Limbs::kSums; ++s) {
#pragma unroll
      for (int tile = 0; tile < Shape::kTiles; ++tile) {
#pragma unroll
        for (int i = 0; i < 4; ++i)
          target[s][tile][i] = kSign * source[s][tile][i];
      }
    }
  }

  __device__ __forceinline__ uint32_t plain_address(const uint8_t* limb, int copy) const {
    const unsigned row = lane % 8;
    const unsigned matrix = lane / 8;
    return static_cast<uint32_t>(__cvta_generic_to_shared(limb)) + row % 2 * copy + row / 2 * 16 +
           matrix % 2 * (64 * Shape::kTiles) + matrix / 2 * 16;
  }

  __device__ __forceinline__ const uint8_t* reversed_address(const uint8_t* limb, int copy) const {
    const unsigned column = lane / 4;
    return limb + Limbs::kFront + column % 4 * copy + lane % 4 * 4 - column / 4 * 4;
  }

  /// Computes half a product, sums += H(p) * r. Tail gives r where u + h >= n.
  template <Tail kTail>
  __device__ __forceinline__ void add_half(Sums& sum, uint32_t p, int p_limb, const uint8_t* r, int r_limb) const {
    constexpr int kWindow = 2 * Shape::kTiles - 1;
    uint32_t window[kWindow][Limbs::kLimbsReversed][2];
#pragma unroll
    for (int w = 0; w < Shape::kFragments; ++w) {
      if (w < Shape::kSteps) load_reversed<kTail>(window[w % kWindow], r + 32 * w, r_limb, w);
      uint32_t fragment[Limbs::kLimbsPlain][4];
#pragma unroll
      for (int limb = 0; limb < Limbs::kLimbsPlain; ++limb) {
        load_matrices(fragment[limb], p + limb * p_limb + 32 * w);
      }
#pragma unroll
      for (int tile = 0; tile < Shape::kTiles; ++tile) {
        const int step = w - 2 * tile;
        if (step < 0 || step >= Shape::kSteps) continue;
        mma_16x8x32<true>(sum[0][tile], fragment[0], window[step % kWindow][0]);
        if constexpr (Limbs::kLimbsReversed == 2) {
          mma_16x8x32<true>(sum[1][tile], fragment[0], window[step % kWindow][1]);
        }
        if constexpr (Limbs::kLimbsPlain == 2) {
          mma_16x8x32<true>(sum[1][tile], fragment[1], window[step % kWindow][0]);
        }
      }
    }
  }

  template <Tail kTail>
  __device__ __forceinline__ void load_reversed(uint32_t (&fragment)[Limbs::kLimbsReversed][2], const uint8_t* source,
                                                int r_limb, int step) const {
#pragma unroll
    for (int limb = 0; limb < Limbs::kLimbsReversed; ++limb) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        uint32_t word = *reinterpret_cast<const uint32_t*>(source + limb * r_limb + 16 * i);
        if (kTail != Tail::kNone && step == Shape::kSteps - 1) {
          const uint32_t mask = Base::mask_from_n(Shape::kHalf + 32 * step + 16 * i + 4 * (lane % 4));
          uint32_t other = 0;
          if (kTail == Tail::kSelectFirst) {
            const uint8_t* r = reversed_address(Base::reversed_limbs(), Limbs::kReversedCopy);
            other = *reinterpret_cast<const uint32_t*>(r + limb * Limbs::kReversedBytes + 32 * step + 16 * i);
          }
          word = (word & mask) | (other & ~mask);
        }
        fragment[limb][i] = word;
      }
    }
  }

  __device__ __forceinline__ static int coefficient(const Sums& sum, int group, int odd) {
    const int tile = group % Shape::kTiles;
    const int i = group / Shape::kTiles * 2 + odd;
    return Limbs::kSums == 1 ? sum[0][tile][i] : sum[0][tile][i] + (sum[Limbs::kSums - 1][tile][i] << 7);
  }

  /// Stores half a product, from word first_word on.
  template <int kSign, class Store>
  __device__ __forceinline__ void store_half(const Sums& sum, unsigned first_word, int last, uint32_t mask,
                                             Store&& store) const {
#pragma unroll
    for (int group = 0; group < Shape::kGroups; ++group) {
      const unsigned offset = 32 * group + lane;
      uint32_t low = kSign * coefficient(sum, group, 0);
      uint32_t high = kSign * coefficient(sum, group, 1);
      if constexpr (kKind == MulKind::kS3) {
        low = mod3(low + last);
        high = mod3(high + last);
      }
      uint32_t pair = __byte_perm(low, high, 0x5410);
      if constexpr (kKind != MulKind::kS3) pair &= mask;
      const unsigned word = first_word + offset;
      if (2 * word + 1 >= N) pair = 2 * word >= N ? 0 : pair & 0xffff;
      if (offset < Shape::kHalf / 2) store(word, pair);
    }
  }
};

template <int N, MulKind kKind>
__global__ void __launch_bounds__(kWarp) imma_tmvp_kernel(MulArgs args) {
  using Shape = LimbShape<N, kKind>;
  extern __shared__ __align__(128) uint8_t arena[];
  const size_t item = blockIdx.x;
  uint4 a[Shape::kRounds];
  uint4 b[Shape::kRounds];
  load_groups<N, kKind>(a, args.a + item * args.a_stride);
  load_groups<N, kKind>(b, args.b + item * args.b_stride);
  TmvpProduct<N, kKind> product(arena);
  product.store_a(a);
  product.store_b(b);
  __syncwarp();
  product.prepare();
  __syncwarp();
  uint32_t* c = reinterpret_cast<uint32_t*>(args.c + item * Shape::kStride);
  product.multiply(args.mask, [c](unsigned word, uint32_t pair) { c[word] = pair; });
}

}  // namespace

cudaError_t launch_imma_tmvp(MulKind kind, size_t n, const MulArgs& args, cudaStream_t stream) {
  return with_degree_and_kind(n, kind, [&]<int N, MulKind kKind>() {
    if constexpr (N > 821) {
      return cudaErrorInvalidValue;
    } else {
      constexpr int kBytes = TmvpShape<N, kKind>::kShared;
      return launch(imma_tmvp_kernel<N, kKind>, args.count, kWarp, kBytes, stream, args);
    }
  });
}

}  // namespace polykem::cuda
