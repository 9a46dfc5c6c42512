// SPDX-License-Identifier: Apache-2.0
#include "core/backend.hpp"

#include <string_view>

#include "core/cpu.hpp"

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

constexpr BackendDescription kBackends[] = {
    {cpu::kAvx512, "batches across the lanes of 512-bit vectors",
     "x86-64 with AVX-512 F, BW, VL, DQ, VBMI, VBMI2, VNNI, IFMA, VAES, VPCLMULQDQ and GFNI"},
    {cpu::kAvx2, "batches across the lanes of 256-bit vectors", "x86-64 with AVX2, BMI2 and AES"},
    {cpu::kRef, "portable C++, one stage a step, the reference for all others", "a 64-bit little-endian machine"},
};

}  // namespace

std::span<const BackendDescription> cpu_backends() {
  return kBackends;
}

bool cpu_backend_available(const char* name) {
  const std::string_view wanted = name;
  if (wanted == cpu::kAvx512) return kAvx512 && cpu_features().avx512();
  if (wanted == cpu::kAvx2) return kX86 && cpu_features().avx2();
  return wanted == cpu::kRef;
}

}  // namespace polykem
