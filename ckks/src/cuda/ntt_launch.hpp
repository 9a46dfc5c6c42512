// SPDX-License-Identifier: Apache-2.0
// Launches of the one-pass transform for any source and target of rows.
#pragma once

#include "ckks/src/cuda/kernels.hpp"
#include "ckks/src/cuda/launch.hpp"
#include "ckks/src/cuda/ntt_shared.cuh"

namespace polykem::ckks::cuda {

template <class Word, int kLogN, int kCluster, bool kInverse, class Rows>
cudaError_t launch_shared(const Rows& rows, const RowMap& map, size_t polynomials, const Tables<Word>& tables,
                          cudaStream_t stream) {
  using Ntt = SharedNtt<Word, kLogN, kCluster, kInverse>;
  const RowOrder order = make_row_order(map, polynomials, sizeof(Factor<Word>) << kLogN);
  return launch(ntt_shared_kernel<Word, kLogN, kCluster, kInverse, Rows>, order.rows() * kCluster, Ntt::kThreads,
                kCluster, Ntt::BlockSlice::kSharedBytes, stream, rows, order, tables);
}

/// Returns the number of blocks of the cluster that production uses (ckks/figures.md compares them).
template <class Word>
constexpr int production_cluster(int log_n) {
  constexpr int kWords[] = {1, 1, 2, 8, 8}, kDoubleWords[] = {1, 2, 4, 8, 8};  // 2^12 .. 2^16
  return (sizeof(Word) == 4 ? kWords : kDoubleWords)[log_n - 12];
}

/// Launches the production form of the transform of rows, see ntt_shared_kernel: those of `map` in each of
/// `polynomials` polynomials.
template <class Word, bool kInverse, class Rows>
cudaError_t launch_ntt(const Rows& rows, const RowMap& map, size_t polynomials, const Tables<Word>& tables,
                       cudaStream_t stream) {
  const auto run = [&]<int kLogN>() {
    return launch_shared<Word, kLogN, production_cluster<Word>(kLogN), kInverse>(rows, map, polynomials, tables,
                                                                                 stream);
  };
  switch (tables.log_n) {
    case 12:
      return run.template operator()<12>();
    case 13:
      return run.template operator()<13>();
    case 14:
      return run.template operator()<14>();
    case 15:
      return run.template operator()<15>();
    case 16:
      return run.template operator()<16>();
  }
  return cudaErrorInvalidValue;
}

/// Rows that are transformed in place. A polynomial has `stride` rows.
template <class Word>
struct RowsInPlace {
  Word* data;
  unsigned stride;
  int log_n;

  __device__ __forceinline__ Word* points(const RowPlace& place) const {
    return data + ((size_t{place.polynomial} * stride + place.row) << log_n);
  }
};

template <class Word>
struct ForwardInPlace : RowsInPlace<Word> {
  struct Row {
    Word* points;
    __device__ __forceinline__ Word load(size_t i) const { return points[i]; }
    __device__ __forceinline__ void store(size_t i, const Vector<Word>& x) const { store_vector(points + i, x); }
  };
  __device__ __forceinline__ Row at(const RowPlace& place, const Prime<Word>&, const Tables<Word>&) const {
    return {this->points(place)};
  }
};

/// A row whose coefficients go to another place, or the same.
template <class Word>
struct InverseRow {
  const Word* from;
  Word* to;
  __device__ __forceinline__ Vector<Word> load(size_t i) const { return load_vector(from + i); }
  __device__ __forceinline__ void store(size_t i, Word x) const { to[i] = x; }
};

template <class Word>
struct InverseInPlace : RowsInPlace<Word> {
  __device__ __forceinline__ InverseRow<Word> at(const RowPlace& place, const Prime<Word>&, const Tables<Word>&) const {
    return {this->points(place), this->points(place)};
  }
};

}  // namespace polykem::ckks::cuda
