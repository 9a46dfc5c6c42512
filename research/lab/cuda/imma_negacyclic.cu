// SPDX-License-Identifier: Apache-2.0
// Negacyclic products on int8 tensor cores, a warp per product, every item with its own operands: the library's device
// function with operands and products in global memory.
#include "prim/polymul/cuda/negacyclic.cuh"
#include "ring.cuh"

namespace polykem::lab {

namespace {

template <class R>
struct WarpMemory {
  using Shape = cuda::NegacyclicShape<R::kN>;
  static constexpr int kLimbs = sizeof(typename R::Wide);
  uint8_t plain[kLimbs * Shape::kPlainBytes];
  uint8_t reversed[Shape::kReversedBytes];
};

/// Loads a lane's groups of one limb of a, and of the same limb of -a = q - a.
template <class R>
__device__ __forceinline__ void load_limbs(cuda::NegacyclicGroups<R::kN> (&bytes)[WarpMemory<R>::kLimbs],
                                           cuda::NegacyclicGroups<R::kN> (&negated)[WarpMemory<R>::kLimbs],
                                           const typename R::Wide* a, uint32_t q, unsigned lane) {
#pragma unroll
  for (int i = 0; i < cuda::NegacyclicShape<R::kN>::kRounds; ++i) {
    if constexpr (WarpMemory<R>::kLimbs == 1) {
      const uint2 x = reinterpret_cast<const uint2*>(a)[lane + 32 * i];
      bytes[0][i] = x;
      negated[0][i] = make_uint2(q * 0x01010101u - x.x, q * 0x01010101u - x.y);
    } else {
      const uint4 x = reinterpret_cast<const uint4*>(a)[lane + 32 * i];
      const uint32_t q_twice = q * 0x10001u;
      const uint4 y = make_uint4(q_twice - x.x, q_twice - x.y, q_twice - x.z, q_twice - x.w);
#pragma unroll
      for (int limb = 0; limb < 2; ++limb) {
        const uint32_t select = limb == 0 ? 0x6420 : 0x7531;
        bytes[limb][i] = make_uint2(__byte_perm(x.x, x.y, select), __byte_perm(x.z, x.w, select));
        negated[limb][i] = make_uint2(__byte_perm(y.x, y.y, select), __byte_perm(y.z, y.w, select));
      }
    }
  }
}

template <class R>
__global__ void __launch_bounds__(32) imma_negacyclic_kernel(RingArgs<R> args) {
  using Shape = cuda::NegacyclicShape<R::kN>;
  constexpr int kLimbs = WarpMemory<R>::kLimbs;
  __shared__ __align__(128) WarpMemory<R> m;
  const unsigned lane = threadIdx.x;
  const size_t item = blockIdx.x;
  cuda::NegacyclicGroups<R::kN> p[kLimbs], minus_p[kLimbs], r, minus_r;
  load_limbs<R>(p, minus_p, args.a + item * args.a_stride, args.modulus.q, lane);
#pragma unroll
  for (int i = 0; i < Shape::kRounds; ++i) {
    r[i] = reinterpret_cast<const uint2*>(args.b + item * args.b_stride)[lane + 32 * i];
    minus_r[i] = make_uint2(__vsub4(0, r[i].x), __vsub4(0, r[i].y));
  }
#pragma unroll
  for (int limb = 0; limb < kLimbs; ++limb)
    cuda::store_plain<R::kN>(m.plain + limb * Shape::kPlainBytes, p[limb], minus_p[limb], lane);
  cuda::store_reversed<R::kN>(m.reversed, r, minus_r, lane);
  __syncwarp();
  cuda::NegacyclicFragments<R::kN> fragments;
  fragments.load(m.reversed, lane);
  cuda::NegacyclicSums<R::kN, kLimbs> sums;
  sums.clear();
  sums.template add<kLimbs>(m.plain, fragments, lane);
  auto* const c = args.c + item * R::kStride;
#pragma unroll
  for (int half = 0; half < Shape::kHalves; ++half) {
    const uint32_t low = args.modulus.reduce(sums.coefficient(half, 0));
    const uint32_t high = args.modulus.reduce(sums.coefficient(half, 1));
    const unsigned word = 32 * half + lane;
    if constexpr (kLimbs == 1)
      reinterpret_cast<uint16_t*>(c)[word] = static_cast<uint16_t>(low | high << 8);
    else
      reinterpret_cast<uint32_t*>(c)[word] = low | high << 16;
  }
}

std::unique_ptr<Job> start(const Operands& operands) {
  std::unique_ptr<Job> job;
  with_ring(operands.problem, [&]<class R>(R* = nullptr) {
    if constexpr (R::kNegacyclic) job = std::make_unique<RingJob<R>>(operands, imma_negacyclic_kernel<R>, 32, 0);
  });
  return job;
}

bool supports(const Problem& problem, Sharing) {
  return has_ring(problem) && problem.shape == Shape::kNegacyclic;
}
Work work(const Problem& problem, Sharing sharing) {
  return {Unit::kImma, (problem.q <= 256 ? 1 : 2) * problem.products(), ring_bytes(problem, sharing)};
}

const Registration kNegacyclic({{"imma", "cuda", "int8 tensor cores, a warp per product, every item its own operands",
                                 supports, work, start, true}});

}  // namespace

}  // namespace polykem::lab
