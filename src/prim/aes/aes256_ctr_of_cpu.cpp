// SPDX-License-Identifier: Apache-2.0
#include "core/cpu_features.hpp"
#include "prim/aes/aes256_ctr.hpp"

namespace polykem {

Aes256Ctr aes256_ctr_of_cpu() {
#ifdef POLYKEM_HAVE_AVX512
  if (cpu_features().avx512()) return aes256_ctr_avx512;
#endif
#ifdef POLYKEM_HAVE_X86
  if (cpu_features().avx2()) return aes256_ctr_avx2;
#endif
#ifdef POLYKEM_HAVE_NEON
  if (cpu_features().has(CpuFeatures::kAes)) return aes256_ctr_neon;
#endif
  return nullptr;
}

}  // namespace polykem
