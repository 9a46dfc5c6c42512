// SPDX-License-Identifier: Apache-2.0
// The products of dots.cuh after two levels of the three-product split of a Toeplitz matrix by a vector. With T's
// blocks T1 on the diagonal, T0 above and T2 below,
//   c_low = T1 (b_low + b_high) + (T0 - T1) b_high,   c_high = T1 (b_low + b_high) + (T2 - T1) b_low.
// So nine products of a quarter of the size replace sixteen.
#include "dots.cuh"

namespace polykem::lab {

namespace {

constexpr int kLeaves = 9;

template <class R, class MulUnit>
struct TmvpMemory {
  static constexpr int kLeaf = (R::kN + 15) / 16 * 4;  ///< outputs of one of the nine products
  static constexpr int kSize = 4 * kLeaf;
  using Shape = DotsShape<kLeaf, MulUnit>;
  static constexpr int kThreads = (kLeaves * Shape::kThreads + 31) / 32 * 32;
  static constexpr int kReversedWords = (Shape::kCopyWords + 4 + 3) / 4 * 4;
  alignas(16) uint32_t copies[kLeaves][Shape::kWords];
  alignas(16) int factors[kLeaves][(Shape::kFactorBytes / 4 + 3) / 4 * 4];
  alignas(16) uint32_t reversed[kLeaves][kReversedWords];
  int leaf_sums[kLeaves][kLeaf];
  int t[2 * kSize];  ///< t(d) at kSize + d
  int8_t b[kSize];
};

/// Returns entry y of the blocks T1, T0 - T1 and T2 - T1, of half the size; t(0) of a block is at y = half.
template <class Entry>
__device__ __forceinline__ int block_entry(int which, int half, int y, Entry entry) {
  const int diagonal = entry(half + y);
  return which == 0 ? diagonal : entry(which == 1 ? y : 2 * half + y) - diagonal;
}

/// Returns entry i of b_low + b_high, b_high and b_low.
template <class Entry>
__device__ __forceinline__ int half_entry(int which, int half, int i, Entry entry) {
  return which == 0 ? entry(i) + entry(half + i) : entry(which == 1 ? half + i : i);
}

/// Computes the operands of leaf 3 p + q, which is block q of block p.
template <class R, class MulUnit>
__device__ __forceinline__ void make_leaves(TmvpMemory<R, MulUnit>& m, int thread) {
  using Memory = TmvpMemory<R, MulUnit>;
  using Shape = typename Memory::Shape;
  using Element = typename MulUnit::Element;
  constexpr int kLeaf = Memory::kLeaf;
  for (int i = thread; i < kLeaves * Shape::kElements; i += Memory::kThreads) {
    const int leaf = i / Shape::kElements, x = i % Shape::kElements;
    const int y = kLeaf + Shape::kTerms * Shape::kZero - x;
    const auto half = [&](int z) { return block_entry(leaf / 3, 2 * kLeaf, z, [&](int u) { return m.t[u]; }); };
    const int value = y <= 0 || y >= 2 * kLeaf ? 0 : block_entry(leaf % 3, kLeaf, y, half);
    reinterpret_cast<Element*>(m.reversed[leaf] + 4)[x] = MulUnit::limb(value, 0);
  }
  constexpr int kTermsOfLeaf = Shape::kSteps * Shape::kTerms;
  for (int i = thread; i < kLeaves * kTermsOfLeaf; i += Memory::kThreads) {
    const int leaf = i / kTermsOfLeaf, at = i % kTermsOfLeaf;
    const auto half = [&](int z) { return half_entry(leaf / 3, 2 * kLeaf, z, [&](int u) { return int{m.b[u]}; }); };
    const int value = at >= kLeaf ? 0 : half_entry(leaf % 3, kLeaf, at, half);
    if constexpr (MulUnit::kTerms == 1)
      m.factors[leaf][at] = value;
    else
      reinterpret_cast<int8_t*>(m.factors[leaf])[at] = static_cast<int8_t>(value);
  }
}

template <class R, class MulUnit>
__global__ void __launch_bounds__((TmvpMemory<R, MulUnit>::kThreads)) tmvp_kernel(RingArgs<R> args) {
  using Memory = TmvpMemory<R, MulUnit>;
  using Shape = typename Memory::Shape;
  using Element = typename MulUnit::Element;
  extern __shared__ __align__(128) uint8_t arena[];
  Memory& m = *reinterpret_cast<Memory*>(arena);
  const int thread = static_cast<int>(threadIdx.x);
  const size_t item = blockIdx.x;
  const auto* a = args.a + item * args.a_stride;
  const auto* b = args.b + item * args.b_stride;
  for (int y = thread; y < 2 * Memory::kSize; y += Memory::kThreads)
    m.t[y] = extended<R>(a, y - Memory::kSize);
  for (int i = thread; i < Memory::kSize; i += Memory::kThreads)
    m.b[i] = i < R::kN ? b[i] : int8_t{0};
  if (thread < kLeaves) m.reversed[thread][3] = 0;
  __syncthreads();
  make_leaves(m, thread);
  __syncthreads();
  for (int leaf = 0; leaf < kLeaves; ++leaf)
    shift_copies<Shape>(m.copies[leaf], reinterpret_cast<const Element*>(m.reversed[leaf] + 4), thread,
                        Memory::kThreads);
  __syncthreads();
  if (thread < kLeaves * Shape::kThreads) {
    const int leaf = thread / Shape::kThreads, residue = thread % Shape::kThreads / Shape::kLanes,
              lane = thread % Shape::kLanes;
    int sum[1][Shape::kOutputs] = {};
    add_dots<Shape, MulUnit>(sum, m.copies[leaf], m.factors[leaf], residue, lane);
#pragma unroll
    for (int j = 0; j < Shape::kOutputs; ++j) {
      const int k = Shape::kTerms * (lane * Shape::kOutputs + j) + residue;
      if (k < Memory::kLeaf) m.leaf_sums[leaf][k] = sum[0][j];
    }
  }
  __syncthreads();
  for (int k = thread; k < R::kN; k += Memory::kThreads) {
    const int at = k % Memory::kLeaf, quarter = k / Memory::kLeaf;
    const int p = quarter / 2 == 0 ? 3 : 6, q = quarter % 2 == 0 ? 1 : 2;
    const int sum = m.leaf_sums[0][at] + m.leaf_sums[q][at] + m.leaf_sums[p][at] + m.leaf_sums[p + q][at];
    args.c[item * R::kStride + k] = static_cast<typename R::Wide>(args.modulus.reduce(sum));
  }
}

template <class MulUnit>
std::unique_ptr<Job> start(const Operands& operands) {
  std::unique_ptr<Job> job;
  with_ring(operands.problem, [&]<class R>() {
    using Memory = TmvpMemory<R, MulUnit>;
    job = std::make_unique<RingJob<R>>(operands, tmvp_kernel<R, MulUnit>, Memory::kThreads, sizeof(Memory));
  });
  return job;
}

/// Returns whether four times b's coefficients fit into a byte.
bool supports(const Problem& problem, Sharing) {
  return has_ring(problem) && 4 * problem.b_bound < 128;
}
template <Unit kUnit>
Work work(const Problem& problem, Sharing sharing) {
  return {kUnit, problem.products() * kLeaves / 16, ring_bytes(problem, sharing)};
}

const Registration kTmvp({
    {"tmvp_int32", "cuda", "Toeplitz matrix by vector, nine products for sixteen, over 32-bit words", supports,
     work<Unit::kImad>, start<Imad>},
    {"tmvp_dp2a", "cuda", "the same over dp2a", supports, work<Unit::kDp2a>, start<Dp2a>},
});

}  // namespace

}  // namespace polykem::lab
