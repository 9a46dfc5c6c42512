// SPDX-License-Identifier: Apache-2.0
// A GPU's memory, taken and freed in the order of a stream's work.
#pragma once

#include <cuda_runtime.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "ckks/src/device_module.hpp"

namespace polykem::ckks::cuda {

class GpuError : public std::runtime_error {
 public:
  GpuError(Outcome outcome, const std::string& text) : std::runtime_error(text), outcome_(outcome) {}
  Outcome outcome() const { return outcome_; }

 private:
  Outcome outcome_;
};

inline void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  (void)cudaGetLastError();  // otherwise the next call would report it again
  const Outcome outcome = error == cudaErrorMemoryAllocation ? Outcome::kOutOfMemory : Outcome::kFailed;
  throw GpuError(outcome, std::string(what) + ": " + cudaGetErrorString(error));
}

/// Makes a GPU the calling thread's current device as long as the object lives.
class CurrentDevice {
 public:
  explicit CurrentDevice(int ordinal) {
    check(cudaGetDevice(&before_), "asking for the current device");
    if (before_ == ordinal) return;
    check(cudaSetDevice(ordinal), "choosing the device");
    changed_ = true;
  }
  ~CurrentDevice() {
    if (changed_) (void)cudaSetDevice(before_);
  }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int before_ = 0;
  bool changed_ = false;
};

/// A stream and a pool of memory of the current device.
class Memory {
 public:
  /// The pool keeps up to kept_bytes of unused memory.
  Memory(int ordinal, size_t kept_bytes) {
    try {
      check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
      cudaMemPoolProps properties{};
      properties.allocType = cudaMemAllocationTypePinned;
      properties.location.type = cudaMemLocationTypeDevice;
      properties.location.id = ordinal;
      check(cudaMemPoolCreate(&pool_, &properties), "making a pool of memory");
      uint64_t kept = kept_bytes;
      check(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &kept), "setting up memory");
    } catch (...) {
      destroy();
      throw;
    }
  }
  ~Memory() { destroy(); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  cudaStream_t stream() const { return stream_; }
  void wait() const { check(cudaStreamSynchronize(stream_), "computing"); }

  /// Allocates memory. Where there is too little, tries again once what waits to be freed is free.
  void* allocate(size_t bytes) const {
    void* memory = nullptr;
    cudaError_t error = cudaMallocFromPoolAsync(&memory, bytes, pool_, stream_);
    if (error == cudaErrorMemoryAllocation) {
      (void)cudaGetLastError();
      wait();
      check(cudaMemPoolTrimTo(pool_, 0), "returning memory");
      error = cudaMallocFromPoolAsync(&memory, bytes, pool_, stream_);
    }
    check(error, "allocating memory");
    return memory;
  }
  void free(void* memory) const noexcept {
    if (memory != nullptr && cudaFreeAsync(memory, stream_) != cudaSuccess) (void)cudaGetLastError();
  }

 private:
  void destroy() noexcept {
    if (stream_ != nullptr) (void)cudaStreamSynchronize(stream_);
    if (pool_ != nullptr) (void)cudaMemPoolDestroy(pool_);
    if (stream_ != nullptr) (void)cudaStreamDestroy(stream_);
    (void)cudaGetLastError();
  }

  cudaStream_t stream_ = nullptr;
  cudaMemPool_t pool_ = nullptr;
};

template <class T>
class Array {
 public:
  Array(const Memory& memory, size_t count)
      : memory_(memory), data_(count == 0 ? nullptr : static_cast<T*>(memory.allocate(count * sizeof(T)))) {}
  /// Copies constants and waits until they are copied.
  Array(const Memory& memory, const std::vector<T>& values) : Array(memory, values.size()) {
    if (values.empty()) return;
    check(cudaMemcpyAsync(data_, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice, memory.stream()),
          "copying to the device");
    memory.wait();
  }
  ~Array() { memory_.free(data_); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  T* get() const { return data_; }

 private:
  const Memory& memory_;
  T* data_;
};

}  // namespace polykem::ckks::cuda
