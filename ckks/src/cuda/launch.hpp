// SPDX-License-Identifier: Apache-2.0
// A launch of a kernel, in clusters of blocks if asked for.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace polykem::ckks::cuda {

/// Launches a kernel. cluster: the number of blocks of a cluster, of which `blocks` is a multiple. shared_bytes:
/// dynamic shared memory of a block. The kernel's blocks may start while the last ones of the kernel before it in the
/// stream still run, so it must call after_previous_kernel().
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
  cudaLaunchAttribute attributes[2]{};
  attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[0].val.programmaticStreamSerializationAllowed = 1;
  attributes[1].id = cudaLaunchAttributeClusterDimension;
  attributes[1].val.clusterDim.x = cluster;
  attributes[1].val.clusterDim.y = attributes[1].val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3{static_cast<unsigned>(blocks), 1, 1};
  config.blockDim = dim3{threads, 1, 1};
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = cluster > 1 ? 2 : 1;
  return cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...);
}

}  // namespace polykem::ckks::cuda
