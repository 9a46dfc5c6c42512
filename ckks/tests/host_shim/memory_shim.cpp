// SPDX-License-Identifier: Apache-2.0
#include "memory_shim.hpp"

#include <map>
#include <mutex>

#include "cuda_runtime.h"

namespace {

ShimMemory memory{0, 0, 0, ~size_t{0}, ~size_t{0}, 0, 1, 9, &host_shim::loading};
std::map<void*, size_t> sizes;
std::mutex mutex;

}  // namespace

extern "C" __attribute__((visibility("default"))) ShimMemory* polykem_shim_memory() {
  return &memory;
}

cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t bytes, cudaMemPool_t, cudaStream_t) {
  const std::lock_guard lock(mutex);
  if (bytes > memory.limit || memory.used + memory.waiting > memory.limit - bytes || memory.calls_left == 0)
    return cudaErrorMemoryAllocation;
  --memory.calls_left;
  const cudaError_t error = cudaMalloc(pointer, bytes);
  sizes[*pointer] = bytes;
  memory.used += bytes;
  memory.max_used = std::max(memory.max_used, memory.used);
  return error;
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t) {
  const std::lock_guard lock(mutex);
  const auto entry = sizes.find(pointer);
  if (entry == sizes.end()) return cudaErrorInvalidValue;
  memory.used -= entry->second;
  sizes.erase(entry);
  return cudaFree(pointer);
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t) {
  const std::lock_guard lock(mutex);
  memory.waiting = 0;
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t) {
  std::memset(to, value, bytes);
  if (value == 0) memory.zeroized += bytes;
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t) {
  return cudaMemcpy(to, from, bytes, kind);
}

cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind, cudaStream_t) {
  if (width > to_pitch || width > from_pitch) return cudaErrorInvalidValue;
  for (size_t row = 0; row < height; ++row)
    std::memcpy(static_cast<char*>(to) + row * to_pitch, static_cast<const char*>(from) + row * from_pitch, width);
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t* unused, size_t* all) {
  *unused = *all = size_t{1} << 30;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {"Simulated GPU", memory.compute_major, 0};
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count) {
  *count = memory.devices;
  return cudaSuccess;
}
