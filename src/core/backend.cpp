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

constexpr BackendDescription kBackends[] = {
    {cpu::kAmx, "products of FrodoKEM and NTRU on matrix tiles, all else as avx512",
     "what avx512 needs, AMX with int8, and an operating system that lets the process use it (Linux 5.16)"},
    {cpu::kAvx512, "batches across the lanes of 512-bit vectors",
     "x86-64 with AVX-512 F, BW, VL, DQ, VBMI, VBMI2, VNNI, IFMA, VAES, VPCLMULQDQ and GFNI"},
    {cpu::kAvx2, "batches across the lanes of 256-bit vectors", "x86-64 with AVX2, BMI2 and AES"},
    {cpu::kNeonSha3, "as neon, with Keccak by the instructions for it", "AArch64 with the AES and SHA3 extensions"},
    {cpu::kNeon, "batches across the lanes of pairs of 128-bit vectors",
     "AArch64; with the AES extension FrodoKEM is faster"},
    {cpu::kRef, "portable C++, one stage a step, the reference for all others", "a 64-bit little-endian machine"},
};

}  // namespace

std::span<const BackendDescription> cpu_backends() {
  return kBackends;
}

const char* inherited_cpu_backend(const char* name) {
  return std::string_view(name) == cpu::kAmx ? cpu::kAvx512 : nullptr;
}

bool cpu_backend_available(const char* name) {
  const std::string_view wanted = name;
  if (wanted == cpu::kAmx) return kAmx && cpu_features().amx() && may_use_tiles();
  if (wanted == cpu::kAvx512) return kAvx512 && cpu_features().avx512();
  if (wanted == cpu::kAvx2) return kX86 && cpu_features().avx2();
  if (wanted == cpu::kNeonSha3) return kNeon && cpu_features().neon_sha3();
  if (wanted == cpu::kNeon) return kNeon && cpu_features().neon();
  return wanted == cpu::kRef;
}

}  // namespace polykem
