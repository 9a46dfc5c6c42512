// SPDX-License-Identifier: Apache-2.0
// What the host's part of device headers names; nothing calls it. See cuda_host.hpp.
#pragma once

#include <cstddef>

struct dim3 {
  unsigned x, y, z;
  explicit dim3(unsigned blocks);
};
using cudaGraph_t = struct Graph*;
using cudaGraphNode_t = struct GraphNode*;
using cudaGraphExec_t = struct GraphExec*;
using cudaStream_t = struct Stream*;
enum cudaError_t { cudaSuccess, cudaErrorInvalidValue, cudaErrorInvalidConfiguration };
struct cudaKernelNodeParams {
  void* func;
  dim3 gridDim, blockDim;
  unsigned sharedMemBytes;
  void **kernelParams, **extra;
};
cudaError_t cudaGraphCreate(cudaGraph_t*, unsigned);
cudaError_t cudaGraphDestroy(cudaGraph_t);
cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t*, cudaGraph_t, const cudaGraphNode_t*, size_t,
                                   const cudaKernelNodeParams*);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t*, cudaGraph_t, unsigned long long);
cudaError_t cudaLaunchKernel(const void*, dim3, dim3, void**, size_t, cudaStream_t);
