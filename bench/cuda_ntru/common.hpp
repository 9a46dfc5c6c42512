// SPDX-License-Identifier: Apache-2.0
// Helpers of both halves of the benchmark: errors, medians, device memory.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/operations.hpp"
#include "schemes/ntru/params.hpp"

namespace polykem::bench {

using ntru::NtruParams;

inline constexpr int kSamples = 9;
inline constexpr const char* kOpNames[] = {"keygen", "encaps", "decaps"};

/// Says why and ends the program.
[[noreturn]] inline void die(const std::string& why) {
  std::fprintf(stderr, "polykem_bench_cuda_ntru: %s\n", why.c_str());
  std::exit(1);
}

inline void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) die(std::string(what) + ": " + cudaGetErrorString(error));
}

template <class T>
T median(std::vector<T> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Device memory that is freed with its owner.
struct DeviceBytes {
  uint8_t* data = nullptr;
  size_t size = 0;
  explicit DeviceBytes(size_t bytes) : size(bytes) { check(cudaMalloc(&data, bytes), "cudaMalloc"); }
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;
  ~DeviceBytes() { cudaFree(data); }
};

}  // namespace polykem::bench
