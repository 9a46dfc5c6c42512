// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "core/scheme.hpp"
#include "schemes/lac/params.hpp"

namespace polykem::lac {

/// Each function returns kSets on a backend; lac_ref.cpp, lac_avx2.cpp and so on define them. Only calling an operation
/// needs the CPU features.
std::span<const SchemeBackend> ref_backends();
std::span<const SchemeBackend> avx2_backends();
std::span<const SchemeBackend> avx512_backends();
std::span<const SchemeBackend> neon_backends();
std::span<const SchemeBackend> neon_sha3_backends();

}  // namespace polykem::lac
