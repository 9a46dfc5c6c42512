// SPDX-License-Identifier: Apache-2.0
// How much memory a call takes beyond what the test gave it.
#pragma once

#include <malloc.h>

#include <cstddef>
#include <fstream>
#include <string>

namespace polykem::test {

/// The highest rise of the process's resident memory since this object was made.
class MemoryRise {
 public:
  static constexpr const char* kWhyNot = "this system does not reset the peak of memory use (/proc/self/clear_refs)";

  MemoryRise() {
    malloc_trim(0);  // what earlier tests freed or took must not hide what comes
    std::ofstream reset("/proc/self/clear_refs");
    reset << "5" << std::flush;
    before_ = reset.good() ? peak() : 0;
  }
  /// False where kilobytes() would say nothing; a test must then be skipped.
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
