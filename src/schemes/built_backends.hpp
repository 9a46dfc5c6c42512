// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "core/backend.hpp"
#include "core/cpu.hpp"
#include "core/scheme.hpp"

namespace polykem {

/// What describes a vector backend is compiled for the CPUs that run it, as all code in its file. On other CPUs, which
/// might stop at its instructions, the backend has nothing but its name.
inline SchemeBackend described(SchemeBackend (*describe)(), bool runs, const char* name) {
  return runs ? describe() : SchemeBackend{.name = name, .ops = {}};
}

/// The backends of one parameter set that this build has, best first. `SetBackends` has a static function for each that
/// returns a SchemeBackend: ref(); avx2() and avx512(), which only a build for x86 instantiates, and possibly amx();
/// neon() and neon_sha3(), which only a build for AArch64 instantiates.
template <class SetBackends>
std::span<const SchemeBackend> built_backends() {
#ifdef POLYKEM_HAVE_X86
  [[maybe_unused]] const bool avx512 = cpu_features().avx512(), avx2 = cpu_features().avx2();
#endif
#ifdef POLYKEM_HAVE_AMX
  if constexpr (requires { SetBackends::amx(); }) {
    static const SchemeBackend all[] = {described(SetBackends::amx, avx512, cpu::kAmx),
                                        described(SetBackends::avx512, avx512, cpu::kAvx512),
                                        described(SetBackends::avx2, avx2, cpu::kAvx2), SetBackends::ref()};
    return all;
  }
#endif
#ifdef POLYKEM_HAVE_X86
  static const SchemeBackend all[] = {
#ifdef POLYKEM_HAVE_AVX512
      described(SetBackends::avx512, avx512, cpu::kAvx512),
#endif
      described(SetBackends::avx2, avx2, cpu::kAvx2), SetBackends::ref()};
#elif defined(POLYKEM_HAVE_NEON)
  static const SchemeBackend all[] = {SetBackends::neon_sha3(), SetBackends::neon(), SetBackends::ref()};
#else
  static const SchemeBackend all[] = {SetBackends::ref()};
#endif
  return all;
}

}  // namespace polykem
