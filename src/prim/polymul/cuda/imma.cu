// SPDX-License-Identifier: Apache-2.0
#include "prim/polymul/cuda/imma.cuh"

namespace polykem::cuda {

namespace {

template <int N, MulKind kKind>
constexpr int kBlocksPerSm = kKind == MulKind::kS3 || kKind == MulKind::kBytes ? 0 : kImmaBlocks<N>;

/// The warps of a block, each of which computes a product. Two or four are slower
/// (docs/adr/0004-ntru-products-on-the-gpu.md).
constexpr int kWarps = 1;

/// Computes products of operands in global memory.
template <int N, MulKind kKind>
__global__ void __launch_bounds__(kWarps* kWarp, (kBlocksPerSm<N, kKind>)) imma_kernel(MulArgs args) {
  using Shape = ImmaShape<N, kKind>;
  extern __shared__ __align__(128) uint8_t arena[];
  const unsigned warp = threadIdx.x / kWarp;
  const size_t item = static_cast<size_t>(blockIdx.x) * kWarps + warp;
  if (item >= args.count) return;
  uint4 a[Shape::kRounds];
  uint4 b[Shape::kRounds];
  load_groups<N, kKind>(a, args.a + item * args.a_stride);
  load_groups<N, kKind>(b, args.b + item * args.b_stride);
  ImmaProduct<N, kKind> product(arena + warp * Shape::kShared);
  product.store_a(a);
  product.store_b(b);
  __syncwarp();
  product.multiply();
  uint32_t* c = reinterpret_cast<uint32_t*>(args.c + item * Shape::kStride);
  product.for_each_pair(args.mask, [c](unsigned word, uint32_t pair) { c[word] = pair; });
}

/// Computes both products of one row of a, which is stored once.
template <int N, MulKind kKind>
__global__ void __launch_bounds__(kWarp) imma_crosswise_kernel(MulArgs args) {
  using Shape = ImmaShape<N, kKind>;
  __shared__ __align__(128) uint8_t arena[Shape::kShared];
  const size_t item = blockIdx.x;
  uint4 groups[Shape::kRounds];
  load_groups<N, kKind>(groups, args.a + item * Shape::kStride);
  ImmaProduct<N, kKind> product(arena);
  product.store_a(groups);
#pragma unroll 1
  for (int half = 0; half < 2; ++half) {
    load_groups<N, kKind>(groups, args.b + (item + (1 - half) * args.count) * Shape::kStride);
    __syncwarp();
    product.store_b(groups);
    __syncwarp();
    product.multiply();
    auto* c = reinterpret_cast<uint32_t*>(args.c + (item + half * args.count) * Shape::kStride);
    product.for_each_pair(args.mask, [c](unsigned word, uint32_t pair) { c[word] = pair; });
  }
}

}  // namespace

cudaError_t launch_mul(MulKind kind, size_t n, unsigned logq, const uint16_t* a, const uint16_t* b, uint16_t* c,
                       size_t count, cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  return launch_imma(kind, n, {a, b, c, count, poly_stride(n), poly_stride(n), mul_mask(kind, logq)}, stream);
}

cudaError_t launch_mul_crosswise(MulKind kind, size_t n, const uint16_t* a, const uint16_t* b, uint16_t* c,
                                 size_t count, cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  const MulArgs args{a, b, c, count, poly_stride(n), poly_stride(n), 0x00ff00ff};
  return with_degree(n, [&]<int N>() {
    const auto launch = [&]<MulKind kKind>() {
      return cuda::launch(imma_crosswise_kernel<N, kKind>, count, kWarp, 0, stream, args);
    };
    if (kind == MulKind::kBytes) return launch.template operator()<MulKind::kBytes>();
    if (kind == MulKind::kS3) return launch.template operator()<MulKind::kS3>();
    return cudaErrorInvalidValue;
  });
}

cudaError_t launch_imma(MulKind kind, size_t n, const MulArgs& args, cudaStream_t stream) {
  const auto launch = [&]<int N, MulKind kKind>() {
    constexpr int kBytes = kWarps * ImmaShape<N, kKind>::kShared;
    static_assert(kBytes <= 48 * 1024);
    return cuda::launch(imma_kernel<N, kKind>, blocks_for(args.count, kWarps), kWarps * kWarp, kBytes, stream, args);
  };
  if (kind != MulKind::kBytes) return with_degree_and_kind(n, kind, launch);
  return with_degree(n, [&]<int N>() { return launch.template operator()<N, MulKind::kBytes>(); });
}

}  // namespace polykem::cuda
