// SPDX-License-Identifier: Apache-2.0
// The polynomials that the GPU's products take: their degrees and their rows. Compiles without CUDA.
#pragma once

#include <cstddef>

namespace polykem::cuda {

/// Returns the number of coefficients from one item's row to the next: n rounded up to a multiple of 32, so that rows
/// begin at multiples of 64 bytes.
constexpr size_t poly_stride(size_t n) {
  return (n + 31) / 32 * 32;
}

/// True for the degrees of the NTRU sets, for which kernels are compiled.
constexpr bool degree_supported(size_t n) {
  return n == 509 || n == 677 || n == 701 || n == 821 || n == 1229 || n == 1373;
}

}  // namespace polykem::cuda
