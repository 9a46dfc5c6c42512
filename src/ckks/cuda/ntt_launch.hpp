// SPDX-License-Identifier: Apache-2.0
// Launches of the one-pass transform for any source and target of rows.
#pragma once

#include "ckks/cuda/kernels.hpp"
#include "ckks/cuda/launch.hpp"
#include "ckks/cuda/ntt_shared.cuh"

namespace polykem::ckks::cuda {

template <class Word, int kLogN, int kCluster, bool kInverse, class Rows>
cudaError_t launch_shared(const Rows& rows, size_t count, const Tables<Word>& tables, cudaStream_t stream) {
  using Ntt = SharedNtt<Word, kLogN, kCluster>;
  return launch(ntt_shared_kernel<Word, kLogN, kCluster, kInverse, Rows>, count * kCluster, Ntt::kThreads, kCluster,
                Ntt::BlockSlice::kSharedBytes, stream, rows, tables);
}

/// Blocks of the cluster that production uses.
template <class Word>
constexpr int production_cluster(int log_n) {
  const int log_bytes = log_n + (sizeof(Word) == 8 ? 3 : 2);
  return log_bytes < 17 ? 1 : log_bytes == 19 ? 8 : 4;
}

/// The production form of the transform of `count` rows, see ntt_shared_kernel.
template <class Word, bool kInverse, class Rows>
cudaError_t launch_ntt(const Rows& rows, size_t count, const Tables<Word>& tables, cudaStream_t stream) {
  switch (tables.log_n) {
    case 12:
      return launch_shared<Word, 12, production_cluster<Word>(12), kInverse>(rows, count, tables, stream);
    case 13:
      return launch_shared<Word, 13, production_cluster<Word>(13), kInverse>(rows, count, tables, stream);
    case 14:
      return launch_shared<Word, 14, production_cluster<Word>(14), kInverse>(rows, count, tables, stream);
    case 15:
      return launch_shared<Word, 15, production_cluster<Word>(15), kInverse>(rows, count, tables, stream);
    case 16:
      return launch_shared<Word, 16, production_cluster<Word>(16), kInverse>(rows, count, tables, stream);
  }
  return cudaErrorInvalidValue;
}

/// Rows in place.
template <class Word>
struct RowsInPlace {
  Word* data;
  int log_n;
  RowMap map;

  __device__ __forceinline__ unsigned prime(unsigned row) const { return map.prime[row % map.count]; }
  __device__ __forceinline__ Word* at(unsigned row, size_t i) const { return data + (size_t{row} << log_n) + i; }
};

template <class Word>
struct ForwardInPlace : RowsInPlace<Word> {
  __device__ __forceinline__ Word load(unsigned row, unsigned, size_t i) const { return *this->at(row, i); }
  __device__ __forceinline__ void store(unsigned row, unsigned, size_t i, const Vector<Word>& lane) const {
    store_vector(this->at(row, i), lane);
  }
};

template <class Word>
struct InverseInPlace : RowsInPlace<Word> {
  __device__ __forceinline__ Vector<Word> load(unsigned row, unsigned, size_t i) const {
    return load_vector(static_cast<const Word*>(this->at(row, i)));
  }
  __device__ __forceinline__ void store(unsigned row, unsigned, size_t i, Word x) const { *this->at(row, i) = x; }
  __device__ __forceinline__ Factor<Word> scale(unsigned, unsigned prime, const Tables<Word>& tables) const {
    return tables.primes[prime].inverse_n;
  }
};

}  // namespace polykem::ckks::cuda
