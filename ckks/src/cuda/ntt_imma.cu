// SPDX-License-Identifier: Apache-2.0
#include "ckks/src/cuda/ntt_imma.cuh"

#include "ckks/src/cuda/kernels.hpp"
#include "ckks/src/cuda/launch.hpp"

namespace polykem::ckks::cuda {

namespace {

template <class Passes>
cudaError_t run_one_pass(bool inverse, uint32_t* data, size_t rows, const RowMap& map, const Tables<uint32_t>& tables,
                         const ImmaTables::OnePass& matrices, cudaStream_t stream) {
  using Ntt = ImmaNtt<Passes>;
  if (matrices.twist == nullptr) return cudaErrorInvalidValue;
  return launch(inverse ? ntt_imma_kernel<Passes, true> : ntt_imma_kernel<Passes, false>, rows * kImmaCluster,
                Ntt::kThreads, kImmaCluster, Ntt::kSharedBytes, stream, data, map, tables.primes, matrices);
}

cudaError_t run_split(bool inverse, uint32_t* data, size_t rows, const RowMap& map, const Tables<uint32_t>& tables,
                      cudaStream_t stream) {
  const ImmaTables::Split& matrices = tables.imma.split[inverse];
  if (matrices.twist == nullptr) return cudaErrorInvalidValue;
  const auto run = [&](auto kernel, const uint32_t* matrix) {
    return launch(kernel, rows * (256 / (8 * kImmaWarps)), kImmaWarps * kWarp, 1, 0, stream, data, map, tables.primes,
                  matrix, matrices.twist);
  };
  const cudaError_t error =
      inverse ? run(ntt_split_kernel<true, true>, matrices.rows) : run(ntt_split_kernel<false, true>, matrices.columns);
  if (error != cudaSuccess) return error;
  return inverse ? run(ntt_split_kernel<false, false>, matrices.columns)
                 : run(ntt_split_kernel<true, false>, matrices.rows);
}

}  // namespace

cudaError_t ntt_imma(Form form, Direction direction, uint32_t* data, size_t rows, const RowMap& map,
                     const Tables<uint32_t>& tables, cudaStream_t stream) {
  const bool inverse = direction == Direction::kInverse;
  switch (form) {
    case Form::kImma256x256:
      return run_split(inverse, data, rows, map, tables, stream);
    case Form::kImma64x32x32:
      return run_one_pass<Passes64>(inverse, data, rows, map, tables, tables.imma.by_64_32_32[inverse], stream);
    case Form::kImma16:
      return run_one_pass<Passes16>(inverse, data, rows, map, tables, tables.imma.by_16[inverse], stream);
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace polykem::ckks::cuda
