// SPDX-License-Identifier: Apache-2.0
// The portable code, compiled for NEON, with AArch64's AES where the CPU has it.
#include "core/backend.hpp"
#include "core/cpu_features.hpp"
#include "schemes/lac/backend.hpp"
#include "schemes/lac/backends.hpp"
#include "schemes/lac/ref/portable.hpp"

namespace polykem::lac {

namespace {

struct Neon : ref::Portable {
  static constexpr const char* kName = cpu::kNeon;
  static Aes256Ctr prg() { return cpu_features().has(CpuFeatures::kAes) ? aes256_ctr_neon : aes256_ctr_portable; }
};

struct NeonSha3 : Neon {
  static constexpr const char* kName = cpu::kNeonSha3;
};

}  // namespace

std::span<const SchemeBackend> neon_backends() {
  static constexpr auto kBackends = backends<Neon>();
  return kBackends;
}

std::span<const SchemeBackend> neon_sha3_backends() {
  static constexpr auto kBackends = backends<NeonSha3>();
  return kBackends;
}

}  // namespace polykem::lac
