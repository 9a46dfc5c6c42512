// SPDX-License-Identifier: Apache-2.0
// Cyclic products of NTRU on the GPU: the algorithms side by side behind one launch. See docs/adr/0004.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "prim/polymul/cuda/degrees.hpp"

namespace polykem::cuda {

/// Named by algorithm. All give the same coefficients.
enum class Multiplier {
  schoolbook_int32,  ///< one block per product, one 32-bit multiply-add per coefficient pair [SEONG21, algorithm 2]
  dp4a,              ///< one warp per product, byte limbs, four multiply-adds per instruction
  imma,              ///< one warp per product, int8 tensor cores, operands distinct per item
  imma_tmvp,         ///< the same after one level of the three-product Toeplitz split (logq <= 14)
  imma_shared,       ///< a matrix product on int8 tensor cores; needs one operand shared by all items
};

enum class MulKind {
  ternary,  ///< b has coefficients -128..127, such as 0, 1 and -1, and only the low 8 bits of it are read; a is any
  general,  ///< both operands are any 16-bit coefficients
  bytes,    ///< only the low 8 bits of either count, and of the product (logq = 8); imma alone has it
  s3,       ///< both have coefficients 0, 1, 2, for imma also -1; the product is reduced modulo (3, Phi_n), so its
            ///< coefficient n-1 is 0
};

/// Which operand is one row used for every item.
enum class Shared { none, a, b };

/// Whether launch_mul accepts the combination.
bool multiplier_supports(Multiplier multiplier, MulKind kind, size_t n, unsigned logq, Shared shared);

/// The fastest one for the product, as measured on an H200 (docs/adr/0004-ntru-products-on-the-gpu.md).
Multiplier preferred_multiplier(MulKind kind, size_t n, unsigned logq, Shared shared);

/// c = a * b mod (x^n - 1, 2^logq), or mod (3, Phi_n) for s3, for `count` items.
///
/// a, b, c: device memory, row i at i * poly_stride(n) coefficients (a shared operand is a single row), 16-byte
/// aligned. What a and b hold past coefficient n-1 of a row is ignored; c gets zeros there. c may be a or b, unless
/// that one is shared. logq: 8..16, ignored for s3. count 0 is no error. Returns cudaErrorInvalidValue for what
/// multiplier_supports() denies, or the launch's error. Asynchronous on `stream`.
cudaError_t launch_mul(Multiplier multiplier, MulKind kind, size_t n, unsigned logq, const uint16_t* a,
                       const uint16_t* b, uint16_t* c, size_t count, Shared shared, cudaStream_t stream);

/// The products a y and a x for the halves x, y of b: c[i] = a[i] b[count + i] and c[count + i] = a[i] b[i], i < count.
///
/// kind: bytes or s3. Memory, errors and stream as for launch_mul, by imma; c is neither a nor b.
cudaError_t launch_mul_crosswise(MulKind kind, size_t n, const uint16_t* a, const uint16_t* b, uint16_t* c,
                                 size_t count, cudaStream_t stream);

}  // namespace polykem::cuda
