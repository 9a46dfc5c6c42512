// SPDX-License-Identifier: Apache-2.0
// A launch of a kernel, in clusters of blocks if asked for.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace polykem::ckks::cuda {

/// cluster: blocks of a cluster, of which `blocks` is a multiple; shared_bytes: dynamic shared memory of a block.
template <class... Parameters, class... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), size_t blocks, unsigned threads, unsigned cluster,
                   size_t shared_bytes, cudaStream_t stream, const Arguments&... arguments) {
  if (blocks == 0) return cudaSuccess;
  if (blocks > 0x7fffffff) return cudaErrorInvalidConfiguration;
  if (shared_bytes > 48 * 1024) {
    const cudaError_t error =
        cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(shared_bytes));
    if (error != cudaSuccess) return error;
  }
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = cluster;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3{static_cast<unsigned>(blocks), 1, 1};
  config.blockDim = dim3{threads, 1, 1};
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = cluster > 1 ? 1 : 0;
  return cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...);
}

}  // namespace polykem::ckks::cuda
