// SPDX-License-Identifier: Apache-2.0
// The transform in two passes over global memory, by blocks that need no cluster: all but the last eight layers on a
// tile of neighbouring columns, the last eight on neighbouring points.
#pragma once

#include "ckks/src/cuda/columns.cuh"

namespace polykem::ckks::cuda {

/// The number of blocks of 256 threads on a multiprocessor, which leaves a thread 64 or 80 registers.
template <class Word>
inline constexpr int kTwoPassBlocks = sizeof(Word) == 4 ? 4 : 3;

template <class Word, int kLogN>
struct TwoPassNtt {
  static constexpr int kN = 1 << kLogN, kWidth = 1 << kLogRun<Word>;  ///< columns of a tile
  static constexpr int kFirst = kLogN - 12, kSecond = 4, kRows = kN >> 8;
  static constexpr int kPoints = 256 * kWidth;  ///< points of a block of the second kernel
  static constexpr int kThreads = 256, kTilePoints = kRows * kWidth;
  static_assert(kFirst >= 2 && kFirst <= 4);
  static constexpr unsigned kTileBytes = kTilePoints * sizeof(Word);
  static constexpr unsigned kTiles = 256 / kWidth, kSlices = kN / kPoints;
  using BlockSlice = Slice<Word, kLogN, kPoints, kThreads>;

  /// Calls body(c / kWidth, column) for all sets of 2^kBits points of the tile that a thread transforms.
  template <int kBits, class Body>
  __device__ __forceinline__ static void for_columns(Body&& body) {
    constexpr unsigned kColumns = kTilePoints >> kBits;
    for (unsigned c = threadIdx.x; c < kColumns; c += kThreads)
      body(c / kWidth, c % kWidth);
  }
};

/// Computes the forward transform but for its last eight layers. In and out: below 2q (32 bits) or 8q (64 bits).
template <class Word, int kLogN>
__global__ void __launch_bounds__(256, kTwoPassBlocks<Word>)
    ntt_tile_kernel(Word* data, const RowMap map, const Tables<Word> tables) {
  after_previous_kernel();
  using Ntt = TwoPassNtt<Word, kLogN>;
  constexpr int kA = 1 << Ntt::kFirst, kB = 1 << Ntt::kSecond, kWidth = Ntt::kWidth;
  const unsigned row = blockIdx.x / Ntt::kTiles, prime = map.prime[row % map.count];
  if (prime == RowMap::kSkip) return;
  const Word q = tables.primes[prime].q;
  const auto* factors = tables.forward + (size_t{prime} << kLogN);
  Word* points = data + (size_t{row} << kLogN) + blockIdx.x % Ntt::kTiles * kWidth;
  Word* tile = dynamic_shared<Word>();
  Ntt::template for_columns<Ntt::kFirst>([&](unsigned r, unsigned column) {
    Word x[kA];
#pragma unroll
    for (int k = 0; k < kA; ++k)
      x[k] = points[(k * kB + r) * 256 + column];
    transform_column<Ntt::kFirst>(x, TreeFactors<Word>{factors, 1}, q);
#pragma unroll
    for (int k = 0; k < kA; ++k)
      tile[(k * kB + r) * kWidth + column] = x[k];
  });
  __syncthreads();
  Ntt::template for_columns<Ntt::kSecond>([&](unsigned group, unsigned column) {
    Word x[kB];
#pragma unroll
    for (int k = 0; k < kB; ++k)
      x[k] = tile[(group * kB + k) * kWidth + column];
    transform_column<Ntt::kSecond>(x, TreeFactors<Word>{factors, kA + group}, q);
#pragma unroll
    for (int k = 0; k < kB; ++k)
      points[(group * kB + k) * 256 + column] = x[k];
  });
}

/// Computes the inverse transform but for its first eight layers. In: below q (32 bits) or 4q (64 bits). Out: in [0,
/// q).
template <class Word, int kLogN>
__global__ void __launch_bounds__(256, kTwoPassBlocks<Word>)
    ntt_inverse_tile_kernel(Word* data, const RowMap map, const Tables<Word> tables) {
  after_previous_kernel();
  using Ntt = TwoPassNtt<Word, kLogN>;
  constexpr int kA = 1 << Ntt::kFirst, kB = 1 << Ntt::kSecond, kWidth = Ntt::kWidth;
  const unsigned row = blockIdx.x / Ntt::kTiles, prime = map.prime[row % map.count];
  if (prime == RowMap::kSkip) return;
  const Word q = tables.primes[prime].q;
  const Factor<Word> inverse_n = tables.primes[prime].inverse_n;
  const auto* factors = tables.inverse + (size_t{prime} << kLogN);
  Word* points = data + (size_t{row} << kLogN) + blockIdx.x % Ntt::kTiles * kWidth;
  Word* tile = dynamic_shared<Word>();
  Ntt::template for_columns<Ntt::kSecond>([&](unsigned group, unsigned column) {
    Word x[kB];
#pragma unroll
    for (int k = 0; k < kB; ++k)
      x[k] = points[(group * kB + k) * 256 + column];
    invert_column<Ntt::kSecond>(x, TreeFactors<Word>{factors, kA + group}, q);
#pragma unroll
    for (int k = 0; k < kB; ++k)
      tile[(group * kB + k) * kWidth + column] = x[k];
  });
  __syncthreads();
  Ntt::template for_columns<Ntt::kFirst>([&](unsigned r, unsigned column) {
    Word x[kA];
#pragma unroll
    for (int k = 0; k < kA; ++k)
      x[k] = tile[(k * kB + r) * kWidth + column];
    finish_column<Ntt::kFirst>(x, factors, inverse_n, q);
#pragma unroll
    for (int k = 0; k < kA; ++k)
      points[(k * kB + r) * 256 + column] = x[k];
  });
}

/// Computes the last eight layers. In: below 2q (32 bits) or 8q (64 bits). Out: in [0, q). kInverse: computes the first
/// eight layers of the inverse. In: in [0, q). Out: below q or 4q.
template <class Word, int kLogN, bool kInverse>
__global__ void __launch_bounds__(256, kTwoPassBlocks<Word>)
    ntt_slice_kernel(Word* data, const RowMap map, const Tables<Word> tables) {
  after_previous_kernel();
  using Ntt = TwoPassNtt<Word, kLogN>;
  using Lane = Vector<Word>;
  const unsigned row = blockIdx.x / Ntt::kSlices, prime = map.prime[row % map.count];
  if (prime == RowMap::kSkip) return;
  const auto* factors = (kInverse ? tables.inverse : tables.forward) + (size_t{prime} << kLogN);
  Word* points = data + (size_t{row} << kLogN);
  const typename Ntt::BlockSlice slice{dynamic_shared<Word>(), blockIdx.x % Ntt::kSlices, threadIdx.x, factors,
                                       tables.primes[prime].q};
  const auto load = [&](size_t i) { return load_vector(points + i); };
  const auto store = [&](size_t i, const Lane& lane) { store_vector(points + i, lane); };
  if constexpr (kInverse) {
    slice.template inverse_segments<kLogN - 8>(load);
    __syncwarp();
    slice.copy_out(store);
  } else {
    slice.copy_in(load);
    __syncwarp();
    slice.template forward_segments<kLogN - 8>(store);
  }
}

}  // namespace polykem::ckks::cuda
