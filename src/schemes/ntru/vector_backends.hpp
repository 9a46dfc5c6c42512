// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/scheme.hpp"
#include "schemes/ntru/params.hpp"

namespace polykem::ntru {

/// Set P on a vector backend; ntru_avx2.cpp and ntru_avx512.cpp instantiate them. Calling an operation needs the CPU
/// features.
template <NtruParams P>
SchemeBackend avx2_backend();
template <NtruParams P>
SchemeBackend avx512_backend();

}  // namespace polykem::ntru
