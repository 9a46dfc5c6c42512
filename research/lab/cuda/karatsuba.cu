// SPDX-License-Identifier: Apache-2.0
// Karatsuba, and Toom-4 above Karatsuba, over 32-bit words. A block computes a product: it splits both operands in
// shared memory level by level, threads multiply the smallest parts by schoolbook in registers, and the products are
// combined again. The array of a level holds coefficient j of part p at j * parts + p, so that neighbouring threads
// access neighbouring words.
#include "ring.cuh"

namespace polykem::lab {

namespace {

constexpr int power_of_3(int e) {
  return e == 0 ? 1 : 3 * power_of_3(e - 1);
}

/// kTop: 7 for the points of Toom-4, 1 for Karatsuba alone. kLeaf: the size of the smallest parts.
template <class R, int kTop>
struct Split {
  static constexpr int kLeaf = R::kN <= 512 ? 16 : R::kN <= 704 ? 22 : R::kN <= 832 ? 26 : 32;
  static constexpr int kAllLevels = R::kN <= 256 ? 4 : 5;
  static constexpr int kLevels = kTop == 1 ? kAllLevels : kAllLevels - 2;  ///< levels of Karatsuba
  static constexpr int kSize = kLeaf << kAllLevels;
  static constexpr int kTopSize = kTop == 1 ? kSize : kSize / 4;  ///< size of a part of level 0
  static_assert(kSize >= R::kN);
  static constexpr int parts(int level) { return kTop * power_of_3(level); }
  static constexpr int size(int level) { return kTopSize >> level; }
  static constexpr int kLeaves = parts(kLevels);
  static constexpr int kThreads = (kLeaves + 31) / 32 * 32;
  /// Words of both operands' smallest parts, and of their products.
  static constexpr int kLeafWords = kLeaves * 2 * kLeaf;
  /// Words of the products one level above.
  static constexpr int kOtherWords = parts(kLevels - 1) * 2 * size(kLevels - 1) > 2 * kSize
                                         ? parts(kLevels - 1) * 2 * size(kLevels - 1)
                                         : 2 * kSize;
  static constexpr size_t kShared = sizeof(int) * (kLeafWords + kOtherWords);
};

/// Evaluates a cubic polynomial at 0, 1, -1, 2, -2, 3 and infinity.
__device__ __forceinline__ void evaluate(int (&v)[7], int a0, int a1, int a2, int a3) {
  const int even = a0 + a2, odd = a1 + a3, even2 = a0 + 4 * a2, odd2 = 2 * a1 + 8 * a3;
  v[0] = a0;
  v[1] = even + odd;
  v[2] = even - odd;
  v[3] = even2 + odd2;
  v[4] = even2 - odd2;
  v[5] = a0 + 3 * a1 + 9 * a2 + 27 * a3;
  v[6] = a3;
}

constexpr unsigned kThird = 0xaaaaaaab, kFifth = 0xcccccccd;  // inverses modulo 2^32
static_assert(3 * kThird == 1 && 5 * kFifth == 1);

/// Interpolates a polynomial of degree six from such values. After the divisions, 26 bits of its coefficients are
/// right.
__device__ __forceinline__ void interpolate(int (&v)[7]) {
  const unsigned w0 = v[0], w6 = v[6];
  const unsigned v1 = v[1], v1m = v[2], v2 = v[3], v2m = v[4], v3 = v[5];
  const unsigned even1 = ((v1 + v1m) >> 1) - w0 - w6, odd1 = (v1 - v1m) >> 1;
  const unsigned even2 = (((v2 + v2m) >> 1) - w0 - 64 * w6) >> 2, odd2 = (v2 - v2m) >> 2;
  const unsigned w4 = (even2 - even1) * kThird, w2 = even1 - w4;
  const unsigned odd3 = (v3 - w0 - 9 * w2 - 81 * w4 - 729 * w6) * kThird;
  const unsigned a = (odd2 - odd1) * kThird, b = (odd3 - odd1) >> 3;
  const unsigned w5 = (b - a) * kFifth, w3 = a - 5 * w5;
  const unsigned w1 = odd1 - w3 - w5;
  const unsigned w[7] = {w0, w1, w2, w3, w4, w5, w6};
#pragma unroll
  for (int i = 0; i < 7; ++i)
    v[i] = static_cast<int>(w[i]);
}

/// Writes level 0 of an operand: element(i) for i < n, then zeros.
template <class R, int kTop, class Element>
__device__ __forceinline__ void load_top(int* out, Element element, int thread) {
  using S = Split<R, kTop>;
  for (int j = thread; j < S::kTopSize; j += S::kThreads) {
    const auto at = [&](int i) { return i < R::kN ? static_cast<int>(element(i)) : 0; };
    if constexpr (kTop == 1) {
      out[j] = at(j);
    } else {
      int v[7];
      evaluate(v, at(j), at(j + S::kTopSize), at(j + 2 * S::kTopSize), at(j + 3 * S::kTopSize));
#pragma unroll
      for (int p = 0; p < 7; ++p)
        out[7 * j + p] = v[p];
    }
  }
}

/// Splits level kLevel into low halves, high halves and their sums.
template <class S, int kLevel>
__device__ __forceinline__ void split_level(int* out, const int* in, int thread) {
  constexpr int kParts = S::parts(kLevel), kHalf = S::size(kLevel) / 2;
  for (int i = thread; i < kHalf * kParts; i += S::kThreads) {
    const int low = in[i], high = in[i + kHalf * kParts];
    int* to = out + i / kParts * 3 * kParts + i % kParts;
    to[0] = low;
    to[kParts] = high;
    to[2 * kParts] = low + high;
  }
}

/// Splits an operand from level 0 on. The smallest parts are in `leaves` afterwards; `other` is overwritten.
template <class S, int kLevel = 0>
__device__ __forceinline__ void split(int* leaves, int* other, int thread) {
  constexpr bool kToLeaves = (S::kLevels - kLevel) % 2 == 1;
  if constexpr (kLevel < S::kLevels) {
    split_level<S, kLevel>(kToLeaves ? leaves : other, kToLeaves ? other : leaves, thread);
    __syncthreads();
    split<S, kLevel + 1>(leaves, other, thread);
  }
}

/// Computes the products of level kLevel from those of the level below it.
template <class S, int kLevel>
__device__ __forceinline__ void join_level(int* out, const int* in, int thread) {
  constexpr int kParts = S::parts(kLevel), kHalf = S::size(kLevel) / 2, kBelow = 3 * kParts;
  for (int i = thread; i < 4 * kHalf * kParts; i += S::kThreads) {
    const int j = i / kParts, p = i % kParts;
    const int* low = in + p;
    const int* high = in + p + kParts;
    const int* both = in + p + 2 * kParts;
    int value = j < 2 * kHalf ? low[j * kBelow] : high[(j - 2 * kHalf) * kBelow];
    if (j >= kHalf && j < 3 * kHalf) {
      const int at = (j - kHalf) * kBelow;
      value += both[at] - low[at] - high[at];
    }
    out[i] = value;
  }
}

/// Combines products from the smallest parts upwards. Returns the array with the result.
template <class S, int kLevel = S::kLevels>
__device__ __forceinline__ int* join(int* from, int* to, int thread) {
  if constexpr (kLevel == 0) {
    return from;
  } else {
    join_level<S, kLevel - 1>(to, from, thread);
    __syncthreads();
    return join<S, kLevel - 1>(to, from, thread);
  }
}

/// Computes a product of smallest parts in place of its operands.
template <class S>
__device__ __forceinline__ void multiply_leaf(int* leaf) {
  int a[S::kLeaf], sum[2 * S::kLeaf] = {};
#pragma unroll
  for (int j = 0; j < S::kLeaf; ++j)
    a[j] = leaf[j * S::kLeaves];
#pragma unroll
  for (int i = 0; i < S::kLeaf; ++i) {
    const int b = leaf[(S::kLeaf + i) * S::kLeaves];
#pragma unroll
    for (int j = 0; j < S::kLeaf; ++j)
      sum[i + j] += a[j] * b;
  }
#pragma unroll
  for (int j = 0; j < 2 * S::kLeaf; ++j)
    leaf[j * S::kLeaves] = sum[j];
}

/// Returns coefficient i of the product before reduction modulo the ring's polynomial. top: the products of level 0.
template <class S, int kTop>
__device__ __forceinline__ int linear(const int* top, int i) {
  if constexpr (kTop == 1) return i < 2 * S::kTopSize ? top[i] : 0;
  const int block = i / S::kTopSize, at = i % S::kTopSize;
  int sum = 0;
  if (block < 7) sum = top[at * 7 + block];
  if (block > 0 && block <= 7) sum += top[(at + S::kTopSize) * 7 + block - 1];
  return sum << 6 >> 6;  // the 26 bits that are right, with their sign
}

template <class R, int kTop>
__global__ void __launch_bounds__((Split<R, kTop>::kThreads)) karatsuba_kernel(RingArgs<R> args) {
  using S = Split<R, kTop>;
  extern __shared__ __align__(128) uint8_t arena[];
  int* const leaves = reinterpret_cast<int*>(arena);
  int* const other = leaves + S::kLeafWords;
  const int thread = static_cast<int>(threadIdx.x);
  const size_t item = blockIdx.x;
  const auto* a = args.a + item * args.a_stride;
  const auto* b = args.b + item * args.b_stride;
  int* const b_leaves = leaves + S::kLeaves * S::kLeaf;
  constexpr bool kBegin = S::kLevels % 2 == 0;  // whether level 0 is in the array of the smallest parts
  load_top<R, kTop>(
      kBegin ? leaves : other, [&](int i) { return a[i]; }, thread);
  __syncthreads();
  split<S>(leaves, other, thread);
  load_top<R, kTop>(
      kBegin ? b_leaves : other, [&](int i) { return b[i]; }, thread);
  __syncthreads();
  split<S>(b_leaves, other, thread);
  if (thread < S::kLeaves) multiply_leaf<S>(leaves + thread);
  __syncthreads();
  int* const top = join<S>(leaves, other, thread);
  if constexpr (kTop == 7) {
    for (int j = thread; j < 2 * S::kTopSize; j += S::kThreads) {
      int v[7];
#pragma unroll
      for (int p = 0; p < 7; ++p)
        v[p] = top[7 * j + p];
      interpolate(v);
#pragma unroll
      for (int p = 0; p < 7; ++p)
        top[7 * j + p] = v[p];
    }
    __syncthreads();
  }
  for (int k = thread; k < R::kN; k += S::kThreads) {
    const int upper = linear<S, kTop>(top, k + R::kN);
    const int sum = linear<S, kTop>(top, k) + (R::kNegacyclic ? -upper : upper);
    args.c[item * R::kStride + k] = static_cast<typename R::Wide>(args.modulus.reduce(sum));
  }
}

template <int kTop>
std::unique_ptr<Job> start(const Operands& operands) {
  std::unique_ptr<Job> job;
  with_ring(operands.problem, [&]<class R>() {
    using S = Split<R, kTop>;
    job = std::make_unique<RingJob<R>>(operands, karatsuba_kernel<R, kTop>, S::kThreads, S::kShared);
  });
  return job;
}

bool supports(const Problem& problem, Sharing) {
  return has_ring(problem);
}
template <int kTop>
Work work(const Problem& problem, Sharing sharing) {
  double operations = 0;
  with_ring(problem, [&]<class R>() {
    using S = Split<R, kTop>;
    operations = static_cast<double>(S::kLeaves) * S::kLeaf * S::kLeaf;
  });
  return {Unit::kImad, operations, ring_bytes(problem, sharing)};
}

const Registration kKaratsuba({
    {"karatsuba", "cuda", "four or five levels of Karatsuba over 32-bit words", supports, work<1>, start<1>},
    {"toom4", "cuda", "Toom-4, then Karatsuba, over 32-bit words", supports, work<7>, start<7>},
});

}  // namespace

}  // namespace polykem::lab
