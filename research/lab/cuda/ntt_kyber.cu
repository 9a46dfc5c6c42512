// SPDX-License-Identifier: Apache-2.0
// Kyber's own transform, as in ML-KEM's kernels; half a warp computes a product. [FIPS203, 4.3]
#include "prim/ntt/cuda/ntt.cuh"
#include "ring.cuh"

namespace polykem::lab {

namespace {

using KyberRing = Ring<256, true, uint16_t>;
constexpr int kWarps = 4;

__global__ void __launch_bounds__(32 * kWarps) ntt_kyber_kernel(RingArgs<KyberRing> args) {
  using namespace polykem::cuda;
  __shared__ __align__(16) uint32_t exchange_memory[kWarps][2 * kExchangeStride];
  const unsigned l = threadIdx.x % kPolyLanes, half = threadIdx.x / kPolyLanes % 2, warp = threadIdx.x / 32;
  const size_t place = size_t{blockIdx.x} * 2 * kWarps + threadIdx.x / kPolyLanes;
  const size_t item = place < args.count ? place : args.count - 1;  // lanes beyond the batch store nothing
  uint32_t* const exchange = exchange_memory[warp] + half * kExchangeStride;
  const uint16_t* a = args.a + item * args.a_stride;
  const int8_t* b = args.b + item * args.b_stride;
  Coefficients x, y;
#pragma unroll
  for (int r = 0; r < kLaneCoefficients; ++r) {
    x[r] = a[l + 16 * r];
    y[r] = static_cast<uint32_t>(b[l + 16 * r] + static_cast<int>(kNttQ));
  }
  const RowFactors factors = kRowFactors.forward[l];
  forward_transform(x, factors, exchange, l);
  forward_transform(y, factors, exchange, l);
  uint32_t gamma_y[8];
  times_gamma(gamma_y, y, factors);
#pragma unroll
  for (int pair = 0; pair < 8; ++pair) {
    uint32_t sum0 = 0, sum1 = 0;
    add_product(sum0, sum1, reduce_small(x[2 * pair]), reduce_small(x[2 * pair + 1]), y[2 * pair], y[2 * pair + 1],
                gamma_y[pair]);
    x[2 * pair] = sum0;
    x[2 * pair + 1] = sum1;
  }
  inverse_transform(x, kRowFactors.inverse[l], exchange, l);
  if (place >= args.count) return;
#pragma unroll
  for (int r = 0; r < kLaneCoefficients; ++r)
    args.c[item * KyberRing::kStride + l + 16 * r] = static_cast<uint16_t>(x[r]);
}

std::unique_ptr<Job> start(const Operands& operands) {
  return std::make_unique<RingJob<KyberRing>>(operands, ntt_kyber_kernel, 32 * kWarps, 0, 2 * kWarps);
}

bool supports(const Problem& problem, Sharing) {
  return has_ring(problem) && problem.n == 256 && problem.q == polykem::cuda::kNttQ;
}
/// A product takes three transforms of seven layers.
Work work(const Problem& problem, Sharing sharing) {
  return {Unit::kButterfly, 3 * 7 * 128, ring_bytes(problem, sharing)};
}

const Registration kNttKyber({{"ntt_kyber", "cuda", "Kyber's own transform, as in ML-KEM's kernels", supports, work,
                               start, true}});

}  // namespace

}  // namespace polykem::lab
