// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/scheme.hpp"
#include "schemes/mlkem/params.hpp"

namespace polykem::mlkem {

/// Set P on a vector backend, with AVX-512 as on Intel's CPUs or as on others; mlkem_avx2.cpp, mlkem_avx512.cpp,
/// mlkem_neon.cpp and mlkem_neon_sha3.cpp instantiate them. Calling an operation needs the CPU features.
template <MlkemParams P, bool by_intel>
const SchemeBackend& avx2_backend();
template <MlkemParams P, bool by_intel>
const SchemeBackend& avx512_backend();
template <MlkemParams P>
const SchemeBackend& neon_backend();
template <MlkemParams P>
const SchemeBackend& neon_sha3_backend();

}  // namespace polykem::mlkem
