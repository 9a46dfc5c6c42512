// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/scheme.hpp"
#include "schemes/ntru/params.hpp"

namespace polykem::ntru {

/// Each function returns set P's operations on a vector backend; ntru_avx2.cpp, ntru_avx512.cpp, ntru_amx.cpp,
/// ntru_neon.cpp and ntru_neon_sha3.cpp instantiate them. The operations run only on CPUs that have the backend's
/// features.
template <NtruParams P>
const SchemeBackend& avx2_backend();
template <NtruParams P>
const SchemeBackend& avx512_backend();
template <NtruParams P>
const SchemeBackend& amx_backend();
template <NtruParams P>
const SchemeBackend& neon_backend();
template <NtruParams P>
const SchemeBackend& neon_sha3_backend();

}  // namespace polykem::ntru
