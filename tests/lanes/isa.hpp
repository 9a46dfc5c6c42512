// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ostream>
#include <string>
#include <vector>

namespace polykem::testing {

enum class Isa { avx2, avx512 };

inline const char* isa_name(Isa isa) {
  return isa == Isa::avx2 ? "avx2" : "avx512";
}
inline void PrintTo(Isa isa, std::ostream* out) {
  *out << isa_name(isa);
}

inline bool cpu_has(Isa isa) {
  if (isa == Isa::avx2) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
  return __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512ifma") &&
         __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("vpclmulqdq");
}

/// A test per instruction set, skipped where the CPU lacks it.
class IsaTest : public ::testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    if (!cpu_has(GetParam())) GTEST_SKIP() << "this CPU has no " << isa_name(GetParam());
  }

  /// The table of the instruction set under test.
  template <class Table>
  static const Table& pick(const Table& avx2, const Table& avx512) {
    return GetParam() == Isa::avx2 ? avx2 : avx512;
  }
};

/// Memory with 64-byte alignment, zeroed at first.
template <class T>
class AlignedBuffer {
 public:
  explicit AlignedBuffer(size_t count)
      : bytes_((count * sizeof(T) + 63) / 64 * 64), data_(static_cast<T*>(std::aligned_alloc(64, bytes_))) {
    std::memset(static_cast<void*>(data_), 0, bytes_);
  }
  ~AlignedBuffer() { std::free(data_); }
  AlignedBuffer(const AlignedBuffer&) = delete;
  AlignedBuffer& operator=(const AlignedBuffer&) = delete;

  T* data() { return data_; }
  T& operator[](size_t i) { return data_[i]; }

 private:
  size_t bytes_;
  T* data_;
};

/// Repeatable bytes (xorshift64*).
class Noise {
 public:
  explicit Noise(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}

  uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545f4914f6cdd1du;
  }
  std::vector<uint8_t> bytes(size_t count) {
    std::vector<uint8_t> out(count);
    for (uint8_t& byte : out)
      byte = static_cast<uint8_t>(next() >> 56);
    return out;
  }

 private:
  uint64_t state_;
};

}  // namespace polykem::testing

#define POLYKEM_EVERY_ISA(suite)                                                                              \
  INSTANTIATE_TEST_SUITE_P(Isas, suite,                                                                       \
                           ::testing::Values(::polykem::testing::Isa::avx2, ::polykem::testing::Isa::avx512), \
                           [](const auto& info) { return std::string(::polykem::testing::isa_name(info.param)); })
