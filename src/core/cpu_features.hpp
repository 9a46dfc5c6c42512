// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace polykem {

/// CPU features that decide which backend runs. Probed once; POLYKEM_CPU_MASK="avx512f,vaes" hides features, so that
/// one machine can test the paths of another. A program with more rights than its user (setuid, setcap) ignores it.
class CpuFeatures {
 public:
  explicit CpuFeatures(uint32_t found) : found_(found) {}

  enum Bit : uint32_t {
    kAvx2 = 1u << 0,
    kBmi2 = 1u << 1,
    kAes = 1u << 2,
    kAvx512f = 1u << 3,
    kAvx512bw = 1u << 4,
    kAvx512dq = 1u << 5,
    kAvx512vl = 1u << 6,
    kAvx512ifma = 1u << 7,
    kAvx512vbmi = 1u << 8,
    kAvx512vbmi2 = 1u << 9,
    kAvx512vnni = 1u << 10,
    kVaes = 1u << 11,
    kVpclmulqdq = 1u << 12,
    kGfni = 1u << 13,
    kAmxInt8 = 1u << 14,
    kRdrand = 1u << 15,
    kAmxTile = 1u << 16,
    kNeon = 1u << 17,
    kSha3 = 1u << 18,
    kShaNi = 1u << 19,
    kFma = 1u << 20,
  };

  bool has(uint32_t bits) const { return (found_ & bits) == bits; }
  bool avx2() const { return has(kAvx2 | kBmi2 | kAes); }
  /// These are also listed in POLYKEM_AVX512_FLAGS (src/CMakeLists.txt) for the compiler and in core/backend.cpp for
  /// users.
  bool avx512() const {
    return avx2() && has(kAvx512f | kAvx512bw | kAvx512dq | kAvx512vl | kAvx512ifma | kAvx512vbmi | kAvx512vbmi2 |
                         kAvx512vnni | kVaes | kVpclmulqdq | kGfni);
  }

  bool neon() const { return has(kNeon); }
  bool neon_sha3() const { return has(kNeon | kAes | kSha3); }

  /// Also needs may_use_tiles().
  bool amx() const { return avx512() && has(kAmxTile | kAmxInt8); }

 private:
  uint32_t found_;
};

const CpuFeatures& cpu_features();

/// True on Intel's CPUs. Set when the library is loaded and false before; results do not depend on it.
extern const bool kCpuByIntel;
/// True on AMD's family 26, Zen 5; likewise.
extern const bool kCpuIsZen5;

/// Asks the operating system, once, to let this process use matrix tiles; true if it does. From then on a signal needs
/// 8 KB more stack on threads that have used them, and sigaltstack() refuses smaller stacks.
bool may_use_tiles();
/// True if may_use_tiles() has returned true in this process.
bool tiles_in_use();

/// The widest vector registers that code in this process can use, including those that POLYKEM_CPU_MASK hides. x86-64.
enum class VectorRegisters { kSse, kAvx, kAvx512 };
VectorRegisters vector_registers();

/// The features found, as names separated by spaces; static storage.
const char* cpu_feature_names();

}  // namespace polykem
