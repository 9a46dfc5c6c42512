// SPDX-License-Identifier: Apache-2.0
// Schoolbook products by 32-bit multiply-adds, dp2a and dp4a, the same kernel with another instruction.
#include "dots.cuh"

namespace polykem::lab {

namespace {

template <class R, class MulUnit>
struct DotsMemory {
  using Shape = DotsShape<R::kN, MulUnit>;
  static constexpr int kThreads = (Shape::kThreads + 31) / 32 * 32;
  alignas(16) uint32_t copies[Shape::kWords];
  alignas(16) int factors[Shape::kFactorBytes / 4];
  alignas(16) uint32_t reversed[MulUnit::kLimbs][Shape::kCopyWords + 4];
  alignas(16) typename R::Wide out[R::kStride];
};

template <class R, class MulUnit>
__global__ void __launch_bounds__((DotsMemory<R, MulUnit>::kThreads)) dots_kernel(RingArgs<R> args) {
  using Memory = DotsMemory<R, MulUnit>;
  using Shape = typename Memory::Shape;
  using Element = typename MulUnit::Element;
  __shared__ Memory m;
  const int thread = static_cast<int>(threadIdx.x);
  const size_t item = blockIdx.x;
  const auto* a = args.a + item * args.a_stride;
  for (int x = thread; x < Shape::kElements; x += Memory::kThreads) {
    const int t = extended<R>(a, Shape::kTerms * Shape::kZero - x);
#pragma unroll
    for (int limb = 0; limb < MulUnit::kLimbs; ++limb)
      reinterpret_cast<Element*>(m.reversed[limb] + 4)[x] =
          MulUnit::limb(t < 0 && MulUnit::kTerms == 4 ? t + static_cast<int>(args.modulus.q) : t, limb);
  }
  const auto* b = args.b + item * args.b_stride;
  for (int i = thread; i < Shape::kSteps * Shape::kTerms; i += Memory::kThreads) {
    const int8_t factor = i < R::kN ? b[i] : int8_t{0};
    if constexpr (MulUnit::kTerms == 1)
      m.factors[i] = factor;
    else
      reinterpret_cast<int8_t*>(m.factors)[i] = factor;
  }
  if (thread < MulUnit::kLimbs) m.reversed[thread][3] = 0;
  __syncthreads();
#pragma unroll
  for (int limb = 0; limb < MulUnit::kLimbs; ++limb)
    shift_copies<Shape>(m.copies + limb * Shape::kLimbWords, reinterpret_cast<const Element*>(m.reversed[limb] + 4),
                        thread, Memory::kThreads);
  __syncthreads();
  if (thread < Shape::kThreads) {
    const int residue = thread / Shape::kLanes, lane = thread % Shape::kLanes;
    int sum[MulUnit::kLimbs][Shape::kOutputs] = {};
    add_dots<Shape, MulUnit>(sum, m.copies, m.factors, residue, lane);
#pragma unroll
    for (int j = 0; j < Shape::kOutputs; ++j) {
      const int k = Shape::kTerms * (lane * Shape::kOutputs + j) + residue;
      if (k < R::kN) m.out[k] = args.modulus.reduce(joined<Shape, MulUnit>(sum, j));
    }
  }
  __syncthreads();
  for (int k = thread; k < R::kN; k += Memory::kThreads)
    args.c[item * R::kStride + k] = m.out[k];
}

template <template <class> class UnitOf>
std::unique_ptr<Job> start(const Operands& operands) {
  std::unique_ptr<Job> job;
  with_ring(operands.problem, [&]<class R>() {
    using MulUnit = typename UnitOf<R>::Type;
    job = std::make_unique<RingJob<R>>(operands, dots_kernel<R, MulUnit>, DotsMemory<R, MulUnit>::kThreads, 0);
  });
  return job;
}

template <class R>
struct UseImad {
  using Type = Imad;
};
template <class R>
struct UseDp2a {
  using Type = Dp2a;
};
template <class R>
struct UseDp4a {
  using Type = Dp4a<sizeof(typename R::Wide)>;
};

bool supports(const Problem& problem, Sharing) {
  return has_ring(problem);
}
template <Unit kUnit>
Work work(const Problem& problem, Sharing sharing) {
  const double limbs = kUnit == Unit::kDp4a && problem.q > 256 ? 2 : 1;
  return {kUnit, limbs * problem.products(), ring_bytes(problem, sharing)};
}

const Registration kDots({
    {"int32", "cuda", "schoolbook, a window of 32-bit words in registers", supports, work<Unit::kImad>, start<UseImad>},
    {"dp2a", "cuda", "schoolbook, two products of a word and a byte an instruction", supports, work<Unit::kDp2a>,
     start<UseDp2a>},
    {"dp4a", "cuda", "schoolbook, four products of bytes an instruction", supports, work<Unit::kDp4a>, start<UseDp4a>},
});

}  // namespace

}  // namespace polykem::lab
