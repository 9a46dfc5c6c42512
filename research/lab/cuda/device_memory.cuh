// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace polykem::lab {

/// Throws std::runtime_error with the driver's message.
inline void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
}

/// Device memory that is freed with its owner.
template <class T>
struct DeviceArray {
  T* data = nullptr;
  size_t size = 0;

  DeviceArray() = default;
  explicit DeviceArray(size_t count) : size(count) { check(cudaMalloc(&data, count * sizeof(T)), "cudaMalloc"); }
  DeviceArray(DeviceArray&& other) noexcept : data(other.data), size(other.size) { other.data = nullptr; }
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    std::swap(data, other.data);
    std::swap(size, other.size);
    return *this;
  }
  ~DeviceArray() { cudaFree(data); }

  void upload(const T* from) { check(cudaMemcpy(data, from, size * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy"); }
  void download(T* to) const { check(cudaMemcpy(to, data, size * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy"); }
};

/// Returns the median seconds of a call of `launch` over nine samples of about `budget` seconds, after a warm-up.
/// Events go to `stream`.
template <class Launch>
double median_seconds(double budget, Launch&& launch, cudaStream_t stream = nullptr) {
  cudaEvent_t start, stop;
  check(cudaEventCreate(&start), "cudaEventCreate");
  check(cudaEventCreate(&stop), "cudaEventCreate");
  const auto sample = [&](int repeats) {
    check(cudaEventRecord(start, stream), "cudaEventRecord");
    for (int i = 0; i < repeats; ++i)
      launch();
    check(cudaEventRecord(stop, stream), "cudaEventRecord");
    check(cudaEventSynchronize(stop), "a timed kernel");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start, stop), "cudaEventElapsedTime");
    return milliseconds * 1e-3 / repeats;
  };
  launch();
  const double once = sample(3);
  const int repeats = static_cast<int>(std::clamp(budget / 9 / once, 1.0, 1000.0));
  std::vector<double> samples;
  for (int i = 0; i < 9; ++i)
    samples.push_back(sample(repeats));
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
  std::sort(samples.begin(), samples.end());
  return samples[samples.size() / 2];
}

}  // namespace polykem::lab
