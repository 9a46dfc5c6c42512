// SPDX-License-Identifier: Apache-2.0
// The library's product (prim/polymul/cuda/imma.cuh) of operands that are rows of words in global memory.
#include "multipliers.cuh"
#include "prim/polymul/cuda/imma.cuh"

namespace polykem::cuda {

namespace {

template <int N, MulKind kKind>
constexpr int kBlocksPerSm = kKind == MulKind::kS3 || kKind == MulKind::kBytes ? 0 : kImmaBlocks<N>;

/// A block of one warp computes a product. Two or four warps are slower (docs/adr/0004-ntru-products-on-the-gpu.md).
template <int N, MulKind kKind>
__global__ void __launch_bounds__(kWarp, (kBlocksPerSm<N, kKind>)) imma_kernel(MulArgs args) {
  using Shape = ImmaShape<N, kKind>;
  extern __shared__ __align__(128) uint8_t arena[];
  const size_t item = blockIdx.x;
  uint4 a[Shape::kRounds];
  uint4 b[Shape::kRounds];
  load_groups<N, kKind>(a, args.a + item * args.a_stride);
  load_groups<N, kKind>(b, args.b + item * args.b_stride);
  ImmaProduct<N, kKind> product(arena);
  product.store_a(a);
  product.store_b(b);
  __syncwarp();
  product.multiply();
  uint32_t* c = reinterpret_cast<uint32_t*>(args.c + item * Shape::kStride);
  product.for_each_pair(args.mask, [c](unsigned word, uint32_t pair) { c[word] = pair; });
}

}  // namespace

cudaError_t launch_imma(MulKind kind, size_t n, const MulArgs& args, cudaStream_t stream) {
  const auto launch = [&]<int N, MulKind kKind>() {
    constexpr int kBytes = ImmaShape<N, kKind>::kShared;
    static_assert(kBytes <= 48 * 1024);
    return cuda::launch(imma_kernel<N, kKind>, args.count, kWarp, kBytes, stream, args);
  };
  if (kind != MulKind::kBytes) return with_degree_and_kind(n, kind, launch);
  return with_degree(n, [&]<int N>() { return launch.template operator()<N, MulKind::kBytes>(); });
}

}  // namespace polykem::cuda
