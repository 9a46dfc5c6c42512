// SPDX-License-Identifier: Apache-2.0
#include "core/cpu_features.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string_view>

#ifdef __x86_64__
#include <cpuid.h>
#endif
#ifdef POLYKEM_HAVE_NEON
#include <sys/auxv.h>
#endif
#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "core/environment.hpp"

namespace polykem {

namespace {

struct FeatureName {
  uint32_t bit;
  const char* name;
};

constexpr FeatureName kNames[] = {
    {CpuFeatures::kAvx2, "avx2"},
    {CpuFeatures::kBmi2, "bmi2"},
    {CpuFeatures::kAes, "aes"},
    {CpuFeatures::kAvx512f, "avx512f"},
    {CpuFeatures::kAvx512bw, "avx512bw"},
    {CpuFeatures::kAvx512dq, "avx512dq"},
    {CpuFeatures::kAvx512vl, "avx512vl"},
    {CpuFeatures::kAvx512ifma, "avx512ifma"},
    {CpuFeatures::kAvx512vbmi, "avx512vbmi"},
    {CpuFeatures::kAvx512vbmi2, "avx512vbmi2"},
    {CpuFeatures::kAvx512vnni, "avx512vnni"},
    {CpuFeatures::kVaes, "vaes"},
    {CpuFeatures::kVpclmulqdq, "vpclmulqdq"},
    {CpuFeatures::kGfni, "gfni"},
    {CpuFeatures::kAmxTile, "amx-tile"},
    {CpuFeatures::kAmxInt8, "amx-int8"},
    {CpuFeatures::kRdrand, "rdrand"},
    {CpuFeatures::kNeon, "neon"},
    {CpuFeatures::kSha3, "sha3"},
    {CpuFeatures::kShaNi, "sha-ni"},
    {CpuFeatures::kFma, "fma"},
};

#ifdef __x86_64__

constexpr uint64_t kAvxState = 0x6, kAvx512State = 0xe6;

/// The register state that the operating system saves: bit 2 AVX, bits 5-7 AVX-512, bits 17-18 AMX; 0 if that is
/// unknown. [Intel SDM vol. 1, 13.3]
uint64_t enabled_state() {
  uint32_t a, b, c, d;
  const bool osxsave = __get_cpuid(1, &a, &b, &c, &d) != 0 && ((c >> 27) & 1) != 0;
  if (!osxsave) return 0;
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (static_cast<uint64_t>(high) << 32) | low;
}

#endif

#ifndef POLYKEM_HAVE_X86

bool is_by_intel() {
  return false;
}

bool is_zen5() {
  return false;
}

#endif

#ifdef POLYKEM_HAVE_X86

/// The vendor's name as CPUID leaf 0 returns it in registers.
bool made_by(uint32_t ebx, uint32_t ecx, uint32_t edx) {
  uint32_t most = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0, &most, &b, &c, &d) != 0 && b == ebx && c == ecx && d == edx;
}

bool is_by_intel() {
  return made_by(signature_INTEL_ebx, signature_INTEL_ecx, signature_INTEL_edx);
}

bool is_zen5() {
  uint32_t a, b, c, d;
  if (!made_by(signature_AMD_ebx, signature_AMD_ecx, signature_AMD_edx) || !__get_cpuid(1, &a, &b, &c, &d))
    return false;
  const uint32_t base_family = a >> 8 & 0xf, extended_family = a >> 20 & 0xff;
  return base_family + extended_family == 26;
}

uint32_t probe() {
  uint32_t a, b, c, d;
  const uint64_t state = enabled_state();
  if (state == 0 || !__get_cpuid(1, &a, &b, &c, &d)) return 0;
  const uint32_t leaf1_c = c;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return 0;
  uint32_t found = 0;
  const auto add = [&](uint32_t reg, int bit, uint32_t feature) {
    if ((reg >> bit) & 1) found |= feature;
  };
  add(leaf1_c, 25, CpuFeatures::kAes);
  add(leaf1_c, 30, CpuFeatures::kRdrand);
  add(b, 8, CpuFeatures::kBmi2);
  if ((state & kAvxState) == kAvxState) {
    add(leaf1_c, 12, CpuFeatures::kFma);
    add(b, 5, CpuFeatures::kAvx2);
    add(b, 29, CpuFeatures::kShaNi);
    add(c, 9, CpuFeatures::kVaes);
    add(c, 10, CpuFeatures::kVpclmulqdq);
    add(c, 8, CpuFeatures::kGfni);
  }
  if ((state & kAvx512State) == kAvx512State) {
    add(b, 16, CpuFeatures::kAvx512f);
    add(b, 17, CpuFeatures::kAvx512dq);
    add(b, 21, CpuFeatures::kAvx512ifma);
    add(b, 30, CpuFeatures::kAvx512bw);
    add(b, 31, CpuFeatures::kAvx512vl);
    add(c, 1, CpuFeatures::kAvx512vbmi);
    add(c, 6, CpuFeatures::kAvx512vbmi2);
    add(c, 11, CpuFeatures::kAvx512vnni);
  }
  constexpr uint64_t kAmxState = 0x60000;
  if ((state & kAmxState) == kAmxState) {
    add(d, 24, CpuFeatures::kAmxTile);
    add(d, 25, CpuFeatures::kAmxInt8);
  }
  return found;
}

#elif defined(POLYKEM_HAVE_NEON)

/// [Linux, Documentation/arch/arm64/elf_hwcaps.rst]
uint32_t probe() {
  constexpr unsigned long kAsimd = 1ul << 1, kAesInstructions = 1ul << 3, kSha3Instructions = 1ul << 17;
  const unsigned long capabilities = getauxval(AT_HWCAP);
  uint32_t found = 0;
  if (capabilities & kAsimd) found |= CpuFeatures::kNeon;
  if (capabilities & kAesInstructions) found |= CpuFeatures::kAes;
  if (capabilities & kSha3Instructions) found |= CpuFeatures::kSha3;
  return found;
}

#else

uint32_t probe() {
  return 0;
}

#endif

/// True if `name` is in the comma-separated `list`.
bool lists(std::string_view list, std::string_view name) {
  while (!list.empty()) {
    const size_t end = std::min(list.find(','), list.size());
    if (list.substr(0, end) == name) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

uint32_t masked_by_environment(uint32_t found) {
  const char* mask = secure_getenv(environment::kCpuMask);
  if (mask == nullptr) return found;
  for (const auto& [bit, name] : kNames) {
    if (lists(mask, name)) found &= ~bit;
  }
  return found;
}

uint32_t features_found() {
  static const uint32_t found = masked_by_environment(probe());
  return found;
}

/// The names, separated by spaces. Allocates nothing, since the first call may come when memory has run out.
struct JoinedNames {
  explicit JoinedNames(uint32_t found) {
    char* end = text;
    for (const auto& [bit, name] : kNames) {
      if (!(found & bit)) continue;
      if (end != text) *end++ = ' ';
      end = std::copy_n(name, std::strlen(name), end);
    }
  }

  static constexpr size_t kBytes = [] {
    size_t bytes = 1;
    for (const auto& [bit, name] : kNames)
      bytes += std::string_view(name).size() + 1;
    return bytes;
  }();
  char text[kBytes] = {};
};

}  // namespace

const bool kCpuByIntel = is_by_intel();
const bool kCpuIsZen5 = is_zen5();

const CpuFeatures& cpu_features() {
  static const CpuFeatures features(features_found());
  return features;
}

namespace {
std::atomic<bool> has_tiles{false};
}

bool tiles_in_use() {
  return has_tiles.load(std::memory_order_relaxed);
}

/// [Linux, Documentation/arch/x86/xstate.rst]
bool may_use_tiles() {
#if defined(__x86_64__) && defined(__linux__)
  constexpr long kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  static const bool permitted = syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  if (permitted) has_tiles.store(true, std::memory_order_relaxed);
  return permitted;
#else
  return false;
#endif
}

VectorRegisters vector_registers() {
#ifdef __x86_64__
  static const uint64_t state = enabled_state();
  if ((state & kAvx512State) == kAvx512State) return VectorRegisters::kAvx512;
  if ((state & kAvxState) == kAvxState) return VectorRegisters::kAvx;
#endif
  return VectorRegisters::kSse;
}

const char* cpu_feature_names() {
  static const JoinedNames names(features_found());
  return names.text;
}

}  // namespace polykem
