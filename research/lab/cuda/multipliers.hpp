// SPDX-License-Identifier: Apache-2.0
// Cyclic products of NTRU on the GPU: the algorithms side by side behind one launch. The library uses imma alone and
// has no kernel of the others. See docs/adr/0004.
#pragma once

#include "prim/polymul/cuda/polymul_cuda.hpp"

namespace polykem::cuda {

/// Named by algorithm. All give the same coefficients.
enum class Multiplier {
  kSchoolbookInt32,  ///< one block per product, one 32-bit multiply-add per coefficient pair [SEONG21, algorithm 2]
  kDp4a,             ///< one warp per product, byte limbs, four multiply-adds per instruction
  kImma,             ///< one warp per product, int8 tensor cores, operands distinct per item: the library's
  kImmaTmvp,         ///< the same after one level of the three-product Toeplitz split (logq <= 14)
  kImmaShared,       ///< a matrix product on int8 tensor cores; needs one operand shared by all items
};

/// Which operand is one row used for every item.
enum class Shared { kNone, kA, kB };

/// Whether launch_multiplier() accepts the combination.
bool multiplier_supports(Multiplier multiplier, MulKind kind, size_t n, unsigned logq, Shared shared);

/// launch_mul() by any algorithm. A shared operand is a single row, and c is another array than it.
///
/// Returns cudaErrorInvalidValue for what multiplier_supports() denies, or the launch's error.
cudaError_t launch_multiplier(Multiplier multiplier, MulKind kind, size_t n, unsigned logq, const uint16_t* a,
                              const uint16_t* b, uint16_t* c, size_t count, Shared shared, cudaStream_t stream);

cudaError_t launch_schoolbook_int32(MulKind kind, size_t n, const MulArgs& args, cudaStream_t stream);
cudaError_t launch_dp4a(MulKind kind, size_t n, const MulArgs& args, cudaStream_t stream);
cudaError_t launch_imma_tmvp(MulKind kind, size_t n, const MulArgs& args, cudaStream_t stream);
cudaError_t launch_imma_shared(MulKind kind, size_t n, const MulArgs& args, cudaStream_t stream);

}  // namespace polykem::cuda
