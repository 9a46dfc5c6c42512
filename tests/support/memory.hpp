// SPDX-License-Identifier: Apache-2.0
// Measures the memory that a call takes beyond the test's.
#pragma once

#include <malloc.h>

#include <cstddef>
#include <fstream>
#include <string>

namespace polykem::test {

/// The largest increase of the process's resident memory since the construction.
class MemoryRise {
 public:
  static constexpr const char* kWhyNot = "this system does not reset the peak of memory use (/proc/self/clear_refs)";

  MemoryRise() {
    malloc_trim(0);  // memory that earlier tests freed must not hide new memory
    std::ofstream reset("/proc/self/clear_refs");
    reset << "5" << std::flush;
    before_ = reset.good() ? peak() : 0;
  }
  /// Returns false if kilobytes() is meaningless here; a test must then be skipped.
  bool measures() const { return before_ > 0; }
  size_t kilobytes() const { return peak() - before_; }

 private:
  static size_t peak() {
    std::ifstream status("/proc/self/status");
    size_t kilobytes = 0;
    for (std::string word; status >> word;) {
      if (word == "VmHWM:") status >> kilobytes;
    }
    return kilobytes;
  }

  size_t before_;
};

}  // namespace polykem::test
