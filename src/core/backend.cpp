// SPDX-License-Identifier: Apache-2.0
#include "core/backend.hpp"

#include <cstring>

#include "core/cpu.hpp"

namespace polykem {

namespace {

#ifdef POLYKEM_HAVE_X86
constexpr bool kX86 = true;
#else
constexpr bool kX86 = false;
#endif

constexpr BackendDescription kBackends[] = {
    {BackendId::avx512, "avx512", "batches across the lanes of 512-bit vectors",
     "x86-64 with AVX-512 F, BW, VL, DQ, VBMI, VBMI2, VNNI, IFMA, VAES, VPCLMULQDQ and GFNI", kX86},
    {BackendId::avx2, "avx2", "batches across the lanes of 256-bit vectors", "x86-64 with AVX2, BMI2 and AES", kX86},
    {BackendId::ref, "ref", "portable C++, one stage a step, the reference for all others", "any 64-bit machine", true},
};

}  // namespace

std::span<const BackendDescription> backends() { return kBackends; }

const BackendDescription* find_backend(const char* name) {
  for (const auto& backend : kBackends) {
    if (std::strcmp(backend.name, name) == 0) return &backend;
  }
  return nullptr;
}

bool backend_available(const BackendDescription& backend) {
  if (!backend.built) return false;
  switch (backend.id) {
    case BackendId::avx512: return cpu_features().avx512();
    case BackendId::avx2: return cpu_features().avx2();
    case BackendId::ref: return true;
  }
  return false;
}

}  // namespace polykem
