// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/scheme.hpp"
#include "schemes/mldsa/params.hpp"

namespace polykem::mldsa {

/// These return the operations of set P on a vector backend. mldsa_avx2.cpp, mldsa_avx512.cpp, mldsa_neon.cpp and
/// mldsa_neon_sha3.cpp instantiate them. The operations may only be called on a CPU with the backend's features.
template <MldsaParams P>
const SchemeBackend& avx2_backend();
template <MldsaParams P>
const SchemeBackend& avx512_backend();

template <MldsaParams P>
const SchemeBackend& neon_backend();
template <MldsaParams P>
const SchemeBackend& neon_sha3_backend();

}  // namespace polykem::mldsa
