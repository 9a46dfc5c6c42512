// SPDX-License-Identifier: Apache-2.0
// Cyclic products of NTRU on the GPU's int8 tensor cores. Other algorithms are measured against these by
// research/lab; see docs/adr/0004.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "prim/polymul/cuda/degrees.hpp"

namespace polykem::cuda {

enum class MulKind {
  kTernary,  ///< b has coefficients -128..127, such as 0, 1 and -1, of which only the low 8 bits are read; a is any
  kGeneral,  ///< both operands are any 16-bit coefficients
  kShort,    ///< the same for logq up to 12, at two thirds of the price; only within kernels
  kBytes,    ///< both operands have coefficients -128..127, of which only the low 8 bits are read
  kS3,       ///< both have coefficients 0, 1, 2 or -1; the product is reduced modulo (3, Phi_n), so its coefficient
             ///< n - 1 is 0
};

/// Computes c = a * b mod (2^8, x^n - 1), or mod (3, Phi_n) for s3, for `count` items; kind is bytes or s3.
///
/// a, b and c are in device memory, 16-byte aligned; row i is bytes, from i * poly_stride(n) on. Anything past
/// coefficient n - 1 of a row of a or b is ignored; c gets zeros there. c may be a or b. n is one for which
/// degree_supported(n) is true. count may be 0. Returns cudaErrorInvalidValue for other kinds and degrees,
/// cudaErrorInvalidConfiguration for more than kMaxBlocks items, or the launch's error. The launch is asynchronous on
/// `stream`.
cudaError_t launch_byte_mul(MulKind kind, size_t n, const uint8_t* a, const uint8_t* b, uint8_t* c, size_t count,
                            cudaStream_t stream);

/// Computes the products a y and a x for the halves x, y of b: c[i] = a[i] b[count + i] and c[count + i] = a[i] b[i],
/// i < count. Everything else is as for launch_byte_mul(), but c must not be a or b.
cudaError_t launch_byte_mul_crosswise(MulKind kind, size_t n, const uint8_t* a, const uint8_t* b, uint8_t* c,
                                      size_t count, cudaStream_t stream);

}  // namespace polykem::cuda
