// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/scheme.hpp"
#include "schemes/lac/params.hpp"

namespace polykem::lac {

/// A set on each backend; lac_ref.cpp, lac_avx2.cpp and so on define them. Calling an operation needs the CPU features.
/// `set` must live as long as the result.
SchemeBackend ref_backend(const Set& set);
SchemeBackend avx2_backend(const Set& set);
SchemeBackend avx512_backend(const Set& set);
SchemeBackend neon_backend(const Set& set);
SchemeBackend neon_sha3_backend(const Set& set);

}  // namespace polykem::lac
