// SPDX-License-Identifier: Apache-2.0
// The base of all methods on a GPU. It copies operands to the device, in the rows that a kernel needs, and products
// back.
#pragma once

#include <cstdint>
#include <functional>
#include <type_traits>

#include "../lab.hpp"
#include "../parallel.hpp"
#include "../storage.hpp"
#include "device_memory.cuh"

namespace polykem::lab {

/// The buffer in which the host arranges rows, for one transfer at a time.
template <class T>
T* host_rows(size_t count) {
  static Storage<T> storage;
  return storage.room_for(count);
}

/// Copies `rows` rows of `width` words to the GPU as elements of T, `stride` apart, with zeros between.
template <class T>
DeviceArray<T> upload_rows(const uint16_t* words, size_t rows, size_t width, size_t stride) {
  DeviceArray<T> device(rows * stride);
  if constexpr (std::is_same_v<T, uint16_t>) {
    if (width == stride) {
      device.upload(words);
      return device;
    }
  }
  T* const host = host_rows<T>(rows * stride);
  in_parallel(rows, [&](size_t row) {
    for (size_t i = 0; i < width; ++i)
      host[row * stride + i] = static_cast<T>(words[row * width + i]);
    std::fill(host + row * stride + width, host + (row + 1) * stride, T{0});
  });
  device.upload(host);
  return device;
}

/// Copies rows back; row r goes to words + r * width.
template <class T>
void download_rows(uint16_t* words, const DeviceArray<T>& device, size_t rows, size_t width, size_t stride) {
  if constexpr (std::is_same_v<T, uint16_t>) {
    if (width == stride) return device.download(words);
  }
  T* const host = host_rows<T>(rows * stride);
  device.download(host);
  in_parallel(rows, [&](size_t row) {
    for (size_t i = 0; i < width; ++i)
      words[row * width + i] = host[row * stride + i];
  });
}

inline size_t copies_of_a(const Operands& operands) {
  return operands.sharing == Sharing::kA ? 1 : operands.items;
}
inline size_t copies_of_b(const Operands& operands) {
  return operands.sharing == Sharing::kB ? 1 : operands.items;
}

/// Returns the resources of a kernel whose blocks have `threads` threads and `dynamic` bytes of dynamic shared memory.
inline Resources kernel_resources(const void* function, int threads, size_t dynamic) {
  cudaFuncAttributes attributes;
  check(cudaFuncGetAttributes(&attributes, function), "asking for a kernel's attributes");
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, 0), "asking for the GPU's properties");
  Resources r;
  r.registers = attributes.numRegs;
  r.shared_bytes = attributes.sharedSizeBytes + dynamic;
  r.threads = threads;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&r.blocks, function, threads, dynamic), "asking for occupancy");
  const int warps = r.blocks * ((threads + 31) / 32);
  r.occupancy = static_cast<double>(warps) / (properties.maxThreadsPerMultiProcessor / 32);
  return r;
}

/// The same, and allows the kernel this much shared memory from now on.
template <class Kernel>
Resources prepare_kernel(Kernel* kernel, int threads, size_t dynamic) {
  const auto* function = reinterpret_cast<const void*>(kernel);
  check(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(dynamic)),
        "shared memory of a kernel");
  return kernel_resources(function, threads, dynamic);
}

/// A derived class calls `use`, or sets `launch` and `kernel`, and reads.
class KernelJob : public Job {
 public:
  void run() override {
    start();
    check(cudaDeviceSynchronize(), "a kernel");
  }
  double seconds(double budget) override {
    return median_seconds(budget, [&] { start(); });
  }
  Resources resources() const override { return kernel; }

 protected:
  /// Makes function(arguments...) the kernel, in blocks of `threads` threads with `dynamic` bytes of shared memory.
  template <class... Arguments>
  void use(void (*function)(Arguments...), dim3 blocks, int threads, size_t dynamic, const Arguments&... arguments) {
    kernel = prepare_kernel(function, threads, dynamic);
    launch = [=] {
      function<<<blocks, threads, dynamic>>>(arguments...);
      return cudaGetLastError();
    };
  }

  std::function<cudaError_t()> launch;  ///< asynchronous
  Resources kernel;

 private:
  void start() const { check(launch(), "launching a kernel"); }
};

}  // namespace polykem::lab
