// SPDX-License-Identifier: Apache-2.0
#include "multipliers.hpp"

namespace polykem::cuda {

bool multiplier_supports(Multiplier multiplier, MulKind kind, size_t n, unsigned logq, Shared shared) {
  if (!degree_supported(n)) return false;
  if (kind == MulKind::kBytes) return multiplier == Multiplier::kImma && logq == 8;
  if (kind != MulKind::kS3 && (logq < 8 || logq > 16)) return false;
  switch (multiplier) {
    case Multiplier::kSchoolbookInt32:
    case Multiplier::kDp4a:
    case Multiplier::kImma:
      return true;
    case Multiplier::kImmaTmvp:
      return n <= 821 && (kind == MulKind::kS3 || logq <= 14);
    case Multiplier::kImmaShared:
      return shared != Shared::kNone && n <= 821;
  }
  return false;
}

cudaError_t launch_multiplier(Multiplier multiplier, MulKind kind, size_t n, unsigned logq, const uint16_t* a,
                              const uint16_t* b, uint16_t* c, size_t count, Shared shared, cudaStream_t stream) {
  if (!multiplier_supports(multiplier, kind, n, logq, shared)) return cudaErrorInvalidValue;
  if (count == 0) return cudaSuccess;
  const size_t stride = poly_stride(n);
  const MulArgs args{
      a, b, c, count, shared == Shared::kA ? 0 : stride, shared == Shared::kB ? 0 : stride, mul_mask(kind, logq)};
  switch (multiplier) {
    case Multiplier::kSchoolbookInt32:
      return launch_schoolbook_int32(kind, n, args, stream);
    case Multiplier::kImma:
      return launch_imma(kind, n, args, stream);
    case Multiplier::kDp4a:
      return launch_dp4a(kind, n, args, stream);
    case Multiplier::kImmaTmvp:
      return launch_imma_tmvp(kind, n, args, stream);
    case Multiplier::kImmaShared:
      return launch_imma_shared(kind, n, args, stream);
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace polykem::cuda
