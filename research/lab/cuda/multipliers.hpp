// SPDX-License-Identifier: Apache-2.0
// Algorithms for NTRU's cyclic products on the GPU, behind one launch function. The library uses only imma and has no
// kernels of the others; see docs/adr/0004.
#pragma once

#include "prim/polymul/cuda/polymul_cuda.hpp"

namespace polykem::cuda {

/// The operands of one launch of any kind, in rows of poly_stride(n) 16-bit coefficients. With a stride of 0
/// coefficients all items share the operand.
struct MulArgs {
  const uint16_t* a;
  const uint16_t* b;
  uint16_t* c;
  size_t count;
  size_t a_stride;
  size_t b_stride;
  uint32_t mask;  ///< (q - 1) * 0x10001
};

/// The algorithms. All compute the same coefficients.
enum class Multiplier {
  kSchoolbookInt32,  ///< one block per product, one 32-bit multiply-add per coefficient pair [SEONG21, algorithm 2]
  kDp4a,             ///< one warp per product, byte limbs, four multiply-adds per instruction
  kImma,             ///< one warp per product, int8 tensor cores, own operands for each item: the library's
  kImmaTmvp,         ///< the same after one level of the three-product Toeplitz split (logq <= 14)
  kImmaShared,       ///< a matrix product on int8 tensor cores; needs one operand shared by all items
};

/// The operand that is one row for all items.
enum class Shared { kNone, kA, kB };

/// Returns whether launch_multiplier() accepts the combination.
bool multiplier_supports(Multiplier multiplier, MulKind kind, size_t n, unsigned logq, Shared shared);

/// Computes c = a * b mod (x^n - 1, q), or mod (3, Phi_n) for s3, for `count` items. q = 2^logq, logq = 8..16. A shared
/// operand is a single row, and must not overlap c. Everything else is as for launch_byte_mul().
///
/// Returns cudaErrorInvalidValue for a combination that multiplier_supports() denies, or the launch's error.
cudaError_t launch_multiplier(Multiplier multiplier, MulKind kind, size_t n, unsigned logq, const uint16_t* a,
                              const uint16_t* b, uint16_t* c, size_t count, Shared shared, cudaStream_t stream);

/// Do the same by one algorithm, for args.count items, which are not 0.
cudaError_t launch_imma(MulKind kind, size_t n, const MulArgs& args, cudaStream_t stream);
cudaError_t launch_schoolbook_int32(MulKind kind, size_t n, const MulArgs& args, cudaStream_t stream);
cudaError_t launch_dp4a(MulKind kind, size_t n, const MulArgs& args, cudaStream_t stream);
cudaError_t launch_imma_tmvp(MulKind kind, size_t n, const MulArgs& args, cudaStream_t stream);
cudaError_t launch_imma_shared(MulKind kind, size_t n, const MulArgs& args, cudaStream_t stream);

/// Returns (q - 1) * 0x10001 for q = 2^logq; s3 takes 16 bits.
constexpr uint32_t mul_mask(MulKind kind, unsigned logq) {
  return (kind == MulKind::kS3 ? 0xffff : (1u << logq) - 1) * 0x10001u;
}

}  // namespace polykem::cuda
