// SPDX-License-Identifier: Apache-2.0
#include "core/backend.hpp"

#include <algorithm>

#include "core/cpu_features.hpp"

namespace polykem {

namespace {

#ifdef POLYKEM_HAVE_X86
constexpr bool kX86 = true;
#else
constexpr bool kX86 = false;
#endif
#ifdef POLYKEM_HAVE_AVX512
constexpr bool kAvx512 = true;
#else
constexpr bool kAvx512 = false;
#endif

#ifdef POLYKEM_HAVE_AMX
constexpr bool kAmx = true;
#else
constexpr bool kAmx = false;
#endif

#ifdef POLYKEM_HAVE_NEON
constexpr bool kNeon = true;
#else
constexpr bool kNeon = false;
#endif

/// The texts about CPU features describe what CpuFeatures asks for.
constexpr CpuBackend kBackends[] = {
    {{cpu::kAmx, "products of FrodoKEM and NTRU on matrix tiles, all else as avx512",
      "what avx512 needs, AMX with int8, and an operating system that lets the process use it (Linux 5.16)"},
     [] { return kAmx && cpu_features().amx() && may_use_tiles(); },
     cpu::kAvx512,
     true},
    {{cpu::kAvx512, "batches across the lanes of 512-bit vectors",
      "x86-64 with AVX-512 F, BW, VL, DQ, VBMI, VBMI2, VNNI, IFMA, VAES, VPCLMULQDQ and GFNI"},
     [] { return kAvx512 && cpu_features().avx512(); }},
    {{cpu::kAvx2, "batches across the lanes of 256-bit vectors", "x86-64 with AVX2, BMI2 and AES"},
     [] { return kX86 && cpu_features().avx2(); }},
    {{cpu::kNeonSha3, "as neon, with Keccak by the instructions for it", "AArch64 with the AES and SHA3 extensions"},
     [] { return kNeon && cpu_features().neon_sha3(); }},
    {{cpu::kNeon, "batches across the lanes of pairs of 128-bit vectors",
      "AArch64; with the AES extension FrodoKEM is faster"},
     [] { return kNeon && cpu_features().neon(); }},
    {{cpu::kRef, "portable C++, one stage a step, the reference for all others", "a 64-bit little-endian machine"},
     [] { return true; }},
};

constexpr const CpuBackend* find(std::string_view name) {
  const auto* const found = std::ranges::find(kBackends, name, &CpuBackend::name);
  return found != std::end(kBackends) ? found : nullptr;
}
static_assert(std::ranges::all_of(kBackends, [](const CpuBackend& backend) {
  return !backend.needs_large_stack || !find(backend.inherits)->needs_large_stack;
}));

}  // namespace

std::span<const CpuBackend> cpu_backends() {
  return kBackends;
}

const CpuBackend* find_cpu_backend(std::string_view name) {
  return find(name);
}

bool cpu_backend_available(const char* name) {
  const CpuBackend* const backend = find_cpu_backend(name);
  return backend != nullptr && backend->available();
}

}  // namespace polykem
