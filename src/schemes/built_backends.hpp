// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "core/scheme.hpp"

namespace polykem {

/// Returns the backends that this build has for one parameter set, best first. `SetBackends` has a static function for
/// each backend, which returns a SchemeBackend: ref(); avx2() and avx512(), which only a build for x86 instantiates,
/// and possibly amx(); neon() and neon_sha3(), which only a build for AArch64 instantiates.
template <class SetBackends>
std::span<const SchemeBackend> built_backends() {
#ifdef POLYKEM_HAVE_AMX
  if constexpr (requires { SetBackends::amx(); }) {
    static const SchemeBackend all[] = {SetBackends::amx(), SetBackends::avx512(), SetBackends::avx2(),
                                        SetBackends::ref()};
    return all;
  }
#endif
#ifdef POLYKEM_HAVE_X86
  static const SchemeBackend all[] = {
#ifdef POLYKEM_HAVE_AVX512
      SetBackends::avx512(),
#endif
      SetBackends::avx2(), SetBackends::ref()};
#elif defined(POLYKEM_HAVE_NEON)
  static const SchemeBackend all[] = {SetBackends::neon_sha3(), SetBackends::neon(), SetBackends::ref()};
#else
  static const SchemeBackend all[] = {SetBackends::ref()};
#endif
  return all;
}

}  // namespace polykem
