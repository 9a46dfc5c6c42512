// SPDX-License-Identifier: Apache-2.0
#include "prim/polymul/cuda/imma.cuh"

namespace polykem::cuda {

namespace {

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

}  // namespace polykem::cuda
