// SPDX-License-Identifier: Apache-2.0
// The product as in the 2021 paper: a block computes an item, its threads take output coefficients in turn, with a
// 32-bit multiply-add for each pair of coefficients. [SEONG21, algorithm 2]
#include "multipliers.cuh"
#include "prim/polymul/cuda/polymul_cuda.cuh"

namespace polykem::cuda {

namespace {

constexpr int kThreads = 256;

/// The floor of a product: N^2 32-bit multiply-adds and N^2 / 32 wavefronts of shared memory (b is broadcast, a is
/// not).
template <int N, MulKind kKind>
__global__ void __launch_bounds__(kThreads) schoolbook_int32_kernel(MulArgs args) {
  constexpr int kOutputs = (N + kThreads - 1) / kThreads;
  constexpr int kStride = kPolyStride<N>;
  // a is stored twice, so that a[N + k - i] does not wrap. The tail is for reads of idle outputs.
  __shared__ uint16_t twice_a[N + kOutputs * kThreads];
  __shared__ uint16_t b[N];
  __shared__ uint32_t last;
  const size_t item = blockIdx.x;
  const uint16_t* row_a = args.a + item * args.a_stride;
  const uint16_t* row_b = args.b + item * args.b_stride;
  for (int i = threadIdx.x; i < N; i += kThreads) {
    twice_a[i] = twice_a[N + i] = row_a[i];
    b[i] = row_b[i];
  }
  for (int i = 2 * N + threadIdx.x; i < N + kOutputs * kThreads; i += kThreads)
    twice_a[i] = 0;
  __syncthreads();

  uint32_t sum[kOutputs] = {};
  for (int i = 0; i < N; ++i) {
    const uint32_t factor = kKind == MulKind::kTernary ? static_cast<uint32_t>(static_cast<int8_t>(b[i])) : b[i];
#pragma unroll
    for (int m = 0; m < kOutputs; ++m)
      sum[m] += factor * twice_a[N - i + m * kThreads + threadIdx.x];
  }

  if (kKind == MulKind::kS3) {
    if (threadIdx.x == (N - 1) % kThreads) last = 2 * sum[(N - 1) / kThreads];
    __syncthreads();
  }
#pragma unroll
  for (int m = 0; m < kOutputs; ++m) {
    const int k = m * kThreads + threadIdx.x;
    if (k >= kStride) continue;
    uint32_t value = kKind == MulKind::kS3 ? mod3(sum[m] + last) : sum[m] & args.mask;
    if (k >= N) value = 0;
    args.c[item * kStride + k] = static_cast<uint16_t>(value);
  }
}

}  // namespace

cudaError_t launch_schoolbook_int32(MulKind kind, size_t n, const MulArgs& args, cudaStream_t stream) {
  return with_degree_and_kind(n, kind, [&]<int N, MulKind kKind>() {
    return launch(schoolbook_int32_kernel<N, kKind>, args.count, kThreads, 0, stream, args);
  });
}

}  // namespace polykem::cuda
