// SPDX-License-Identifier: Apache-2.0
// The functions that FrodoKEM's stages call in the library for microcontrollers.
#pragma once

#include "schemes/frodo/kernels.hpp"

namespace polykem::embedded {

/// Rows of A that are in memory at a time.
inline constexpr size_t kFrodoTileRows = 4;

extern const frodo::Kernels kFrodoKernels;

}  // namespace polykem::embedded
