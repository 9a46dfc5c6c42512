// SPDX-License-Identifier: Apache-2.0
// What a module says of a GPU for which it has no code.
#pragma once

#include <cuda_runtime.h>

#include <string>

namespace polykem::cuda {

/// True if the driver has neither machine code for the device nor PTX that it can translate.
inline bool is_without_code(cudaError_t error) {
  return error == cudaErrorNoKernelImageForDevice || error == cudaErrorInvalidKernelImage ||
         error == cudaErrorUnsupportedPtxVersion || error == cudaErrorJitCompilerNotFound ||
         error == cudaErrorJitCompilationDisabled;
}

/// Returns which GPU has no code, why, what the module has (POLYKEM_CUDA_CODE, a list) and how to build it. At most 240
/// characters for a name of 63.
inline std::string without_code(cudaError_t error, const char* name, int major, int minor) {
  const std::string digits[] = {std::to_string(major), std::to_string(minor)};
  std::string text = "the module has code for " POLYKEM_CUDA_CODE ", not for ";
  text += name + (", compute capability " + digits[0]) + "." + digits[1];
  if (error != cudaErrorNoKernelImageForDevice) text += std::string(" (") + cudaGetErrorString(error) + ")";
  return text + ": make cuda ARCHS=" + digits[0] + digits[1];
}

}  // namespace polykem::cuda
