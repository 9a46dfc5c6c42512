// SPDX-License-Identifier: Apache-2.0
// Arrays and tables in device memory for tests.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "ckks/src/cuda/imma_tables.hpp"
#include "kernel_reference.hpp"

namespace polykem::ckks::test {

/// Throws std::runtime_error with the driver's message.
inline void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
}

template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(size_t count) : count_(count) {
    check(cudaMalloc(&data_, count * sizeof(T)), "allocating device memory");
  }
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) { upload(values); }
  ~DeviceArray() { (void)cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* get() const { return data_; }
  size_t size() const { return count_; }
  void upload(const std::vector<T>& values) {
    check(cudaMemcpy(data_, values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice), "copying to the device");
  }
  std::vector<T> download() const {
    std::vector<T> values(count_);
    check(cudaMemcpy(values.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost), "copying from the device");
    return values;
  }

 private:
  T* data_ = nullptr;
  size_t count_;
};

/// The tables of the tensor-core forms in device memory.
struct DeviceImmaTables {
  struct OnePass {
    explicit OnePass(const cuda::HostImmaTables::OnePass& host)
        : first(host.first), later(host.later), twist(host.twist) {}
    DeviceArray<uint32_t> first, later;
    DeviceArray<cuda::Factor<uint32_t>> twist;
    cuda::ImmaTables::OnePass get() const { return {first.get(), later.get(), twist.get()}; }
  };
  struct Split {
    explicit Split(const cuda::HostImmaTables::Split& host)
        : columns(host.columns), rows(host.rows), twist(host.twist) {}
    DeviceArray<uint32_t> columns, rows;
    DeviceArray<cuda::Factor<uint32_t>> twist;
    cuda::ImmaTables::Split get() const { return {columns.get(), rows.get(), twist.get()}; }
  };
  explicit DeviceImmaTables(const cuda::HostImmaTables& host)
      : split{Split(host.split[0]), Split(host.split[1])},
        by_64{OnePass(host.by_64_32_32[0]), OnePass(host.by_64_32_32[1])},
        by_16{OnePass(host.by_16[0]), OnePass(host.by_16[1])} {}
  cuda::ImmaTables get() const {
    return {{split[0].get(), split[1].get()}, {by_64[0].get(), by_64[1].get()}, {by_16[0].get(), by_16[1].get()}};
  }
  Split split[2];
  OnePass by_64[2], by_16[2];
};

/// Primes and their tables in device memory.
template <class Word>
struct DeviceTables {
  DeviceTables(int log_n, const std::vector<PrimeRoot>& primes)
      : DeviceTables(primes, cuda::make_tables<Word>(log_n, primes)) {}
  DeviceTables(const std::vector<PrimeRoot>& roots_of, const cuda::HostTables<Word>& host)
      : roots(roots_of),
        primes(host.primes),
        forward(host.forward),
        inverse(host.inverse),
        tables{host.log_n, primes.get(), forward.get(), inverse.get(), {}} {}

  /// Includes the tables of the tensor-core forms, if there are such forms.
  void add_imma() {
    if (sizeof(Word) != 4 || tables.log_n != 16) return;
    imma = std::make_unique<DeviceImmaTables>(cuda::make_imma_tables(roots));
    tables.imma = imma->get();
  }

  std::vector<PrimeRoot> roots;
  DeviceArray<cuda::Prime<Word>> primes;
  DeviceArray<cuda::Factor<Word>> forward, inverse;
  std::unique_ptr<DeviceImmaTables> imma;
  cuda::Tables<Word> tables;
};

/// Maps rows to the first `count` primes, in order.
inline cuda::RowMap first_primes(uint32_t count) {
  cuda::RowMap map;
  map.count = count;
  for (uint32_t i = 0; i < count; ++i)
    map.prime[i] = static_cast<uint8_t>(i);
  return map;
}

}  // namespace polykem::ckks::test
