// SPDX-License-Identifier: Apache-2.0
#include "ckks/src/cuda/ntt_launch.hpp"
#include "ckks/src/cuda/ntt_two_pass.cuh"

namespace polykem::ckks::cuda {

const char* name_of(Form form) {
  constexpr const char* kNames[] = {"one block", "cluster of 2", "cluster of 4",  "cluster of 8",
                                    "two pass",  "imma 256x256", "imma 64x32x32", "imma 16x16x16x16"};
  return kNames[static_cast<int>(form)];
}

bool supports(Form form, int log_n, size_t word_bytes) {
  const int log_bytes = log_n + (word_bytes == 8 ? 3 : 2);
  switch (form) {
    case Form::kOneBlock:
      return log_n >= 12 && log_bytes <= 17;
    case Form::kCluster2:
      return log_bytes >= 16 && log_n <= 16 && log_bytes <= 18;
    case Form::kCluster4:
      return log_bytes >= 17 && log_n <= 16;
    case Form::kCluster8:
      return log_n == 15 || log_n == 16;
    case Form::kTwoPass:
      return log_n >= 14 && log_n <= 16;
    default:
      return log_n == 16 && word_bytes == 4;
  }
}

Form production_form(int log_n, size_t word_bytes) {
  const int blocks = word_bytes == 4 ? production_cluster<uint32_t>(log_n) : production_cluster<uint64_t>(log_n);
  if (blocks == 1) return Form::kOneBlock;
  return blocks == 2 ? Form::kCluster2 : blocks == 4 ? Form::kCluster4 : Form::kCluster8;
}

namespace {

template <class Word>
struct Job {
  Direction direction;
  Word* data;
  size_t rows;
  const RowMap& map;
  const Tables<Word>& tables;
  cudaStream_t stream;
};

template <class Word, int kLogN, int kCluster>
cudaError_t run_shared(const Job<Word>& job) {
  const auto run = [&](Word* data, const RowMap& map, size_t polynomials) {
    const RowsInPlace<Word> place{data, map.count, kLogN};
    if (job.direction == Direction::kForward)
      return launch_shared<Word, kLogN, kCluster, false>(ForwardInPlace<Word>{place}, map, polynomials, job.tables,
                                                         job.stream);
    return launch_shared<Word, kLogN, kCluster, true>(InverseInPlace<Word>{place}, map, polynomials, job.tables,
                                                      job.stream);
  };
  const size_t polynomials = job.rows / job.map.count, whole = polynomials * job.map.count;
  const cudaError_t error = run(job.data, job.map, polynomials);
  RowMap rest = job.map;
  rest.count = static_cast<uint32_t>(job.rows - whole);
  return error != cudaSuccess ? error : run(job.data + (whole << kLogN), rest, 1);
}

template <class Word, int kLogN>
cudaError_t run_two_pass(const Job<Word>& job) {
  using Ntt = TwoPassNtt<Word, kLogN>;
  const auto tiles = [&](auto kernel) {
    return launch(kernel, job.rows * Ntt::kTiles, Ntt::kThreads, 1, Ntt::kTileBytes, job.stream, job.data, job.map,
                  job.tables);
  };
  const auto slices = [&](auto kernel) {
    return launch(kernel, job.rows * Ntt::kSlices, Ntt::kThreads, 1, Ntt::BlockSlice::kSharedBytes, job.stream,
                  job.data, job.map, job.tables);
  };
  if (job.direction == Direction::kForward) {
    const cudaError_t error = tiles(ntt_tile_kernel<Word, kLogN>);
    return error != cudaSuccess ? error : slices(ntt_slice_kernel<Word, kLogN, false>);
  }
  const cudaError_t error = slices(ntt_slice_kernel<Word, kLogN, true>);
  return error != cudaSuccess ? error : tiles(ntt_inverse_tile_kernel<Word, kLogN>);
}

/// Runs a form for one N, where supports() says that there is one.
template <class Word, int kLogN>
cudaError_t run_form(Form form, const Job<Word>& job) {
  constexpr int kLogBytes = kLogN + (sizeof(Word) == 8 ? 3 : 2);
  if constexpr (kLogBytes <= 17) {
    if (form == Form::kOneBlock) return run_shared<Word, kLogN, 1>(job);
  }
  if constexpr (kLogBytes >= 16 && kLogBytes <= 18) {
    if (form == Form::kCluster2) return run_shared<Word, kLogN, 2>(job);
  }
  if constexpr (kLogBytes >= 17) {
    if (form == Form::kCluster4) return run_shared<Word, kLogN, 4>(job);
  }
  if constexpr (kLogN >= 15) {
    if (form == Form::kCluster8) return run_shared<Word, kLogN, 8>(job);
  }
  if constexpr (kLogN >= 14) {
    if (form == Form::kTwoPass) return run_two_pass<Word, kLogN>(job);
  }
  return cudaErrorInvalidValue;
}

}  // namespace

template <class Word>
cudaError_t ntt(Form form, Direction direction, Word* data, size_t rows, const RowMap& map, const Tables<Word>& tables,
                cudaStream_t stream) {
  if (!supports(form, tables.log_n, sizeof(Word)) || map.count == 0) return cudaErrorInvalidValue;
  if constexpr (sizeof(Word) == 4) {
    if (form >= Form::kImma256x256) return ntt_imma(form, direction, data, rows, map, tables, stream);
  }
  const Job<Word> job{direction, data, rows, map, tables, stream};
  switch (tables.log_n) {
    case 12:
      return run_form<Word, 12>(form, job);
    case 13:
      return run_form<Word, 13>(form, job);
    case 14:
      return run_form<Word, 14>(form, job);
    case 15:
      return run_form<Word, 15>(form, job);
    default:
      return run_form<Word, 16>(form, job);
  }
}

template cudaError_t ntt(Form, Direction, uint32_t*, size_t, const RowMap&, const Tables<uint32_t>&, cudaStream_t);
template cudaError_t ntt(Form, Direction, uint64_t*, size_t, const RowMap&, const Tables<uint64_t>&, cudaStream_t);

}  // namespace polykem::ckks::cuda
