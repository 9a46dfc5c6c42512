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

/// Rows of kStride bytes.
struct ByteMulArgs {
  const uint8_t *a, *b;
  uint8_t* c;
  size_t count;
};

/// Computes products of rows of bytes.
template <int N, MulKind kKind>
__global__ void __launch_bounds__(kWarp) imma_bytes_kernel(ByteMulArgs args) {
  using Shape = ImmaShape<N, kKind>;
  __shared__ __align__(128) uint8_t arena[Shape::kShared];
  const size_t item = blockIdx.x;
  uint2 a[Shape::kRounds], b[Shape::kRounds];
  load_byte_groups<N, kKind>(a, args.a + item * Shape::kStride);
  load_byte_groups<N, kKind>(b, args.b + item * Shape::kStride);
  ImmaProduct<N, kKind> product(arena);
  product.store_plain_bytes(a);
  product.store_reversed_bytes(b);
  __syncwarp();
  product.multiply();
  auto* c = reinterpret_cast<uint16_t*>(args.c + item * Shape::kStride);
  product.for_each_byte_pair([c](unsigned word, uint16_t bytes) { c[word] = bytes; });
}

/// Computes both products of one row of a, which is stored once.
template <int N, MulKind kKind>
__global__ void __launch_bounds__(kWarp) imma_crosswise_kernel(ByteMulArgs args) {
  using Shape = ImmaShape<N, kKind>;
  __shared__ __align__(128) uint8_t arena[Shape::kShared];
  const size_t item = blockIdx.x;
  uint2 groups[Shape::kRounds];
  load_byte_groups<N, kKind>(groups, args.a + item * Shape::kStride);
  ImmaProduct<N, kKind> product(arena);
  product.store_plain_bytes(groups);
#pragma unroll 1
  for (int half = 0; half < 2; ++half) {
    load_byte_groups<N, kKind>(groups, args.b + (item + (1 - half) * args.count) * Shape::kStride);
    __syncwarp();
    product.store_reversed_bytes(groups);
    __syncwarp();
    product.multiply();
    auto* c = reinterpret_cast<uint16_t*>(args.c + (item + half * args.count) * Shape::kStride);
    product.for_each_byte_pair([c](unsigned word, uint16_t bytes) { c[word] = bytes; });
  }
}

/// Calls f with degree and kind as compile-time constants, for kinds whose operands are bytes.
template <class F>
cudaError_t with_degree_and_byte_kind(size_t n, MulKind kind, F&& f) {
  return with_degree(n, [&]<int N>() {
    if (kind == MulKind::kBytes) return f.template operator()<N, MulKind::kBytes>();
    if (kind == MulKind::kS3) return f.template operator()<N, MulKind::kS3>();
    return cudaErrorInvalidValue;
  });
}

}  // namespace

cudaError_t launch_byte_mul(MulKind kind, size_t n, const uint8_t* a, const uint8_t* b, uint8_t* c, size_t count,
                            cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  const ByteMulArgs args{a, b, c, count};
  return with_degree_and_byte_kind(n, kind, [&]<int N, MulKind kKind>() {
    return cuda::launch(imma_bytes_kernel<N, kKind>, count, kWarp, 0, stream, args);
  });
}

cudaError_t launch_byte_mul_crosswise(MulKind kind, size_t n, const uint8_t* a, const uint8_t* b, uint8_t* c,
                                      size_t count, cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  const ByteMulArgs args{a, b, c, count};
  return with_degree_and_byte_kind(n, kind, [&]<int N, MulKind kKind>() {
    return cuda::launch(imma_crosswise_kernel<N, kKind>, count, kWarp, 0, stream, args);
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
