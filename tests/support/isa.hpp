// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#ifdef __aarch64__
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ostream>
#include <string>

#include "core/backend.hpp"
#include "core/cpu_features.hpp"
#include "support/bytes.hpp"

namespace polykem::test {

#ifdef __aarch64__

/// neon_aes is code that needs the AES extension, which no backend requires.
enum class Isa { kNeon, kNeonAes, kNeonSha3 };

inline const char* isa_name(Isa isa) {
  return isa == Isa::kNeon ? "neon" : isa == Isa::kNeonAes ? "neon_aes" : "neon_sha3";
}
inline const char* backend_name(Isa isa) {
  return isa == Isa::kNeonSha3 ? cpu::kNeonSha3 : cpu::kNeon;
}
inline bool cpu_has(Isa isa) {
  const unsigned long capabilities = getauxval(AT_HWCAP);
  return (isa == Isa::kNeon || (capabilities & HWCAP_AES) != 0) &&
         (isa != Isa::kNeonSha3 || (capabilities & HWCAP_SHA3) != 0);
}

// The table of the instruction set under test: of primitives that only NEON itself changes, of those that the AES
// extension makes, and of those that have a form of their own for SHA3.
#define POLYKEM_TABLE(name) name##Neon
#define POLYKEM_AES_TABLE(name) name##Neon
#define POLYKEM_SHA3_TABLE(name) pick(name##Neon, name##NeonSha3)

#define POLYKEM_TABLE_ISAS ::testing::Values(::polykem::test::Isa::kNeon)
#define POLYKEM_AES_ISAS ::testing::Values(::polykem::test::Isa::kNeonAes)
#define POLYKEM_SHA3_ISAS ::testing::Values(::polykem::test::Isa::kNeon, ::polykem::test::Isa::kNeonSha3)

#else

/// avx2_vaes is code for CPUs with VAES, which the backend avx2 does not require.
enum class Isa { kAvx2, kAvx2Vaes, kAvx512 };

inline const char* isa_name(Isa isa) {
  return isa == Isa::kAvx2 ? "avx2" : isa == Isa::kAvx2Vaes ? "avx2_vaes" : "avx512";
}
inline const char* backend_name(Isa isa) {
  return isa == Isa::kAvx512 ? cpu::kAvx512 : cpu::kAvx2;
}
inline bool cpu_has(Isa isa) {
  if (isa == Isa::kAvx512) return cpu_features().avx512();
  return cpu_features().avx2() && (isa == Isa::kAvx2 || cpu_features().has(CpuFeatures::kVaes));
}

#define POLYKEM_TABLE(name) pick(name##Avx2, name##Avx512)
#define POLYKEM_AES_TABLE(name) pick(name##Avx2, name##Avx512)
#define POLYKEM_SHA3_TABLE(name) pick(name##Avx2, name##Avx512)

#define POLYKEM_TABLE_ISAS ::testing::Values(::polykem::test::Isa::kAvx2, ::polykem::test::Isa::kAvx512)
#define POLYKEM_AES_ISAS POLYKEM_TABLE_ISAS
#define POLYKEM_SHA3_ISAS POLYKEM_TABLE_ISAS

#endif

inline void PrintTo(Isa isa, std::ostream* out) {
  *out << isa_name(isa);
}

/// A test per instruction set, skipped where the CPU lacks it.
class IsaTest : public ::testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    if (!cpu_has(GetParam())) GTEST_SKIP() << "this CPU has no " << isa_name(GetParam());
  }

  /// The table of the instruction set under test, one of two.
  template <class Table>
  static const Table& pick(const Table& first, const Table& second) {
#ifdef __aarch64__
    return GetParam() == Isa::kNeon ? first : second;
#else
    return GetParam() == Isa::kAvx512 ? second : first;
#endif
  }
};

/// Memory with 64-byte alignment, zeroed in the beginning.
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

}  // namespace polykem::test

#define POLYKEM_INSTANTIATE(suite, isas)      \
  INSTANTIATE_TEST_SUITE_P(Isas, suite, isas, \
                           [](const auto& info) { return std::string(::polykem::test::isa_name(info.param)); })
/// For POLYKEM_TABLE, POLYKEM_AES_TABLE, and POLYKEM_SHA3_TABLE or backend_name().
#define POLYKEM_EVERY_ISA(suite) POLYKEM_INSTANTIATE(suite, POLYKEM_TABLE_ISAS)
#define POLYKEM_EVERY_AES_ISA(suite) POLYKEM_INSTANTIATE(suite, POLYKEM_AES_ISAS)
#define POLYKEM_EVERY_SHA3_ISA(suite) POLYKEM_INSTANTIATE(suite, POLYKEM_SHA3_ISAS)
