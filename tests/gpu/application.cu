// SPDX-License-Identifier: Apache-2.0
// libpolykem_gpu_application.so: what an application does on the GPU beside the library.
#include <cuda_runtime_api.h>

#include <cstddef>

namespace {

__global__ void trap_kernel() {
  asm volatile("trap;");
}

}  // namespace

/// Copies device memory to the host after all that the default stream has queued. Returns the driver's error.
extern "C" __attribute__((visibility("default"))) int polykem_gpu_read(void* to, const void* from, size_t bytes) {
  return static_cast<int>(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
}

/// Runs a kernel that ends the GPU's context, as a fault of the application's own kernels would. Returns the driver's
/// error, which must not be 0. After it the process has no GPU.
extern "C" __attribute__((visibility("default"))) int polykem_gpu_trap() {
  trap_kernel<<<1, 1>>>();
  return static_cast<int>(cudaDeviceSynchronize());
}
