// SPDX-License-Identifier: Apache-2.0
// The base of all methods on a CPU: one core, memory aligned to cache lines, time by the clock.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <new>

#include "../lab.hpp"

namespace polykem::lab {

/// Memory for `count` elements of T, zeroed, 64-byte aligned, with 64 further bytes behind it.
template <class T>
class Lines {
 public:
  Lines() = default;
  explicit Lines(size_t count) : bytes_((count * sizeof(T) + 191) / 64 * 64) {
    data_.reset(static_cast<T*>(std::aligned_alloc(64, bytes_)));
    if (data_ == nullptr) throw std::bad_alloc();
    std::memset(static_cast<void*>(data_.get()), 0, bytes_);
  }
  T* get() const { return data_.get(); }

 private:
  struct Free {
    void operator()(T* memory) const { std::free(static_cast<void*>(memory)); }
  };
  size_t bytes_ = 0;
  std::unique_ptr<T, Free> data_;
};

inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// A batch on a core. Its time is the lower quartile of many samples, which leaves out interrupts.
class CpuJob : public Job {
 public:
  double seconds(double budget) override {
    std::vector<double> samples;
    run();
    const double begin = now();
    while (samples.size() < 5 || (now() - begin < budget && samples.size() < 10000)) {
      const double start = now();
      run();
      samples.push_back(now() - start);
    }
    std::nth_element(samples.begin(), samples.begin() + static_cast<long>(samples.size() / 4), samples.end());
    return samples[samples.size() / 4];
  }
};

}  // namespace polykem::lab
