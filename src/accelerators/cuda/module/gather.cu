// SPDX-License-Identifier: Apache-2.0
#include "accelerators/cuda/module/gather.hpp"

#include "prim/cuda/launch.hpp"

namespace polykem::cuda {

namespace {

constexpr int kThreads = 128;

/// A warp copies one record. The index is public.
__global__ void __launch_bounds__(kThreads)
    gather_kernel(uint8_t* to, const uint8_t* from, const uint64_t* index, size_t record_bytes, size_t count) {
  const size_t item = blockIdx.x * size_t{kThreads / 32} + threadIdx.x / 32;
  if (item >= count) return;
  const uint8_t* source = from + index[item] * record_bytes;
  for (size_t b = threadIdx.x % 32; b < record_bytes; b += 32)
    to[item * record_bytes + b] = source[b];
}

__global__ void read_from_host_kernel(uint32_t* to, const uint32_t* from) {
  to[threadIdx.x] = from[threadIdx.x];
}

__global__ void take_from_host_kernel(uint32_t* to, volatile uint32_t* from) {
  to[threadIdx.x] = from[threadIdx.x];
  from[threadIdx.x] = 0;
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x != 0) return;
  __threadfence_system();  // the other threads' writes, which the barrier has shown this one, come before the next
  from[blockDim.x] = 0;
}

}  // namespace

cudaError_t find_machine_code() {
  cudaFuncAttributes attributes;
  const cudaError_t status = cudaFuncGetAttributes(&attributes, gather_kernel);
  if (status != cudaSuccess) (void)cudaGetLastError();
  return status;
}

cudaError_t gather(uint8_t* to, const uint8_t* from, const uint64_t* index, size_t record_bytes, size_t count,
                   cudaStream_t stream) {
  const size_t blocks = (count + kThreads / 32 - 1) / (kThreads / 32);
  return launch(gather_kernel, blocks, kThreads, 0, stream, to, from, index, record_bytes, count);
}

cudaError_t read_from_host(void* to, const void* from, size_t bytes, cudaStream_t stream) {
  return launch(read_from_host_kernel, 1, static_cast<unsigned>(bytes / 4), 0, stream, static_cast<uint32_t*>(to),
                static_cast<const uint32_t*>(from));
}

cudaError_t take_from_host(void* to, uint32_t* from, size_t bytes, cudaStream_t stream) {
  return launch(take_from_host_kernel, 1, static_cast<unsigned>(bytes / 4), 0, stream, static_cast<uint32_t*>(to),
                from);
}

}  // namespace polykem::cuda
