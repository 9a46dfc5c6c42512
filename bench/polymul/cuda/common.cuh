// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace polykem::bench {

/// Throws std::runtime_error with the driver's words.
inline void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
}

/// Device memory that is given back with its owner.
template <class T>
struct DeviceArray {
  T* data = nullptr;
  size_t size = 0;

  explicit DeviceArray(size_t count) : size(count) { check(cudaMalloc(&data, count * sizeof(T)), "cudaMalloc"); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(data); }
};

/// Median seconds of one call of `launch` over nine samples of `repeats` calls each, after a warm-up.
template <class Launch>
double median_seconds(int repeats, Launch&& launch) {
  cudaEvent_t start, stop;
  check(cudaEventCreate(&start), "cudaEventCreate");
  check(cudaEventCreate(&stop), "cudaEventCreate");
  launch();
  launch();
  std::vector<float> samples;
  for (int sample = 0; sample < 9; ++sample) {
    check(cudaEventRecord(start), "cudaEventRecord");
    for (int i = 0; i < repeats; ++i)
      launch();
    check(cudaEventRecord(stop), "cudaEventRecord");
    check(cudaEventSynchronize(stop), "a timed kernel");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start, stop), "cudaEventElapsedTime");
    samples.push_back(milliseconds);
  }
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
  std::sort(samples.begin(), samples.end());
  return samples[samples.size() / 2] * 1e-3 / repeats;
}

}  // namespace polykem::bench
