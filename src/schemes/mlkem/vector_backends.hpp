// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "core/scheme.hpp"

namespace polykem::mlkem {

/// The vector backends, sets in the order in which schemes() lists them. Calling an operation needs the CPU features.
std::span<const SchemeBackend> avx2_backends();
std::span<const SchemeBackend> avx512_backends();

}  // namespace polykem::mlkem
