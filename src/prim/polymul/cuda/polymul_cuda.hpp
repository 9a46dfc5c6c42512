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
  kBytes,    ///< only the low 8 bits of both operands and of the product are used (logq = 8)
  kS3,       ///< both have coefficients 0, 1, 2 or -1; the product is reduced modulo (3, Phi_n), so its coefficient
             ///< n - 1 is 0
};

/// The operands of one launch. With a stride of 0 coefficients all items share the operand.
struct MulArgs {
  const uint16_t* a;
  const uint16_t* b;
  uint16_t* c;
  size_t count;
  size_t a_stride;
  size_t b_stride;
  uint32_t mask;  ///< (q - 1) * 0x10001
};

/// Computes c = a * b mod (x^n - 1, 2^logq), or mod (3, Phi_n) for s3, for `count` items.
///
/// a, b and c are in device memory, 16-byte aligned; row i begins at i * poly_stride(n) coefficients. Anything past
/// coefficient n - 1 of a row of a or b is ignored; c gets zeros there. c may be a or b. n is one for which
/// degree_supported(n) is true. logq is 8..16, 8 for bytes, and ignored for s3. count may be 0. Returns
/// cudaErrorInvalidValue for other degrees, cudaErrorInvalidConfiguration for more than kMaxBlocks items, or the
/// launch's error. The launch is asynchronous on `stream`.
cudaError_t launch_mul(MulKind kind, size_t n, unsigned logq, const uint16_t* a, const uint16_t* b, uint16_t* c,
                       size_t count, cudaStream_t stream);

/// Computes the products a y and a x for the halves x, y of b: c[i] = a[i] b[count + i] and c[count + i] = a[i] b[i],
/// i < count.
///
/// kind is bytes or s3. Memory, errors and stream are as for launch_mul(); c must not be a or b.
cudaError_t launch_mul_crosswise(MulKind kind, size_t n, const uint16_t* a, const uint16_t* b, uint16_t* c,
                                 size_t count, cudaStream_t stream);

/// Does the same as launch_mul(), with operands that may be shared; count is not 0. c is no shared operand.
cudaError_t launch_imma(MulKind kind, size_t n, const MulArgs& args, cudaStream_t stream);

/// Returns (q - 1) * 0x10001 for q = 2^logq; s3 takes 16 bits.
constexpr uint32_t mul_mask(MulKind kind, unsigned logq) {
  return (kind == MulKind::kS3 ? 0xffff : (1u << logq) - 1) * 0x10001u;
}

}  // namespace polykem::cuda
