// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/scheme.hpp"
#include "schemes/saber/params.hpp"

namespace polykem::saber {

/// These return the operations of set P on a vector backend. saber_avx2.cpp, saber_avx512.cpp, saber_neon.cpp and
/// saber_neon_sha3.cpp instantiate them. The operations may only be called on a CPU with the backend's features.
template <SaberParams P>
const SchemeBackend& avx2_backend();
template <SaberParams P>
const SchemeBackend& avx512_backend();
template <SaberParams P>
const SchemeBackend& neon_backend();
template <SaberParams P>
const SchemeBackend& neon_sha3_backend();

}  // namespace polykem::saber
