// SPDX-License-Identifier: Apache-2.0
// Measures the time of work on a GPU.
#pragma once

#include <vector>

#include "common.hpp"

namespace polykem::bench {

/// Marks on a stream, whose times are read after the last one has passed.
class Marks {
 public:
  explicit Marks(size_t count) : events_(count) {
    for (auto& event : events_)
      check(cudaEventCreate(&event), "event");
  }
  Marks(const Marks&) = delete;
  Marks& operator=(const Marks&) = delete;
  ~Marks() {
    for (const auto event : events_)
      cudaEventDestroy(event);
  }
  void record(size_t i, cudaStream_t stream) { check(cudaEventRecord(events_[i], stream), "event"); }
  void wait(const char* what) { check(cudaEventSynchronize(events_.back()), what); }
  /// Returns the milliseconds from mark i to the next one.
  float after(size_t i) const {
    float ms = 0;
    check(cudaEventElapsedTime(&ms, events_[i], events_[i + 1]), "event");
    return ms;
  }

 private:
  std::vector<cudaEvent_t> events_;
};

/// Returns the median time of launch() on the default stream in milliseconds, after two warm-ups.
template <class F>
double gpu_milliseconds(F&& launch) {
  launch();
  launch();
  Marks marks(2);
  std::vector<float> times;
  for (int i = 0; i < kSamples; ++i) {
    marks.record(0, nullptr);
    launch();
    check(cudaGetLastError(), "a launch");
    marks.record(1, nullptr);
    marks.wait("a timed kernel");
    times.push_back(marks.after(0));
  }
  return median(times);
}

}  // namespace polykem::bench
