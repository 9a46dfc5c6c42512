// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/scheme.hpp"
#include "schemes/ntru/params.hpp"

namespace polykem::ntru {

/// Set P on a vector backend; ntru_avx2.cpp, ntru_avx512.cpp, ntru_amx.cpp, ntru_neon.cpp and ntru_neon_sha3.cpp
/// instantiate them. Calling an operation needs the CPU features.
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
