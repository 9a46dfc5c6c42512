// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/scheme.hpp"
#include "schemes/mldsa/params.hpp"

namespace polykem::mldsa {

template <MldsaParams P>
const SchemeBackend& avx2_backend();
template <MldsaParams P>
const SchemeBackend& avx512_backend();

template <MldsaParams P>
const SchemeBackend& neon_backend();
template <MldsaParams P>
const SchemeBackend& neon_sha3_backend();

}  // namespace polykem::mldsa
