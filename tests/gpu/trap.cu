// SPDX-License-Identifier: Apache-2.0
// libpolykem_gpu_trap.so: a kernel that ends the GPU's context, as a fault of the application's own kernels would.
#include <cuda_runtime_api.h>

namespace {

__global__ void trap_kernel() {
  asm volatile("trap;");
}

}  // namespace

/// Returns the driver's error, which must not be 0. After it the process has no GPU.
extern "C" __attribute__((visibility("default"))) int polykem_gpu_trap() {
  trap_kernel<<<1, 1>>>();
  return static_cast<int>(cudaDeviceSynchronize());
}
