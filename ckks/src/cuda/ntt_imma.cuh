// SPDX-License-Identifier: Apache-2.0
// The transform of 2^16 points on int8 tensor cores, 32-bit words. Kept for comparison with the butterflies.
#pragma once

#include "ckks/src/cuda/basis.cuh"
#include "ckks/src/cuda/columns.cuh"
#include "ckks/src/cuda/imma_tables.hpp"

namespace polykem::ckks::cuda {

inline constexpr int kImmaLogN = 16, kImmaWarps = 8, kImmaCluster = 4;

/// Multiplies the 2^kBits points of 8 kTiles columns by a matrix, with one warp. read(point, column) is any residue's
/// word, write(point, column, word below q). All reads come before the first write.
template <int kBits, int kTiles, class Read, class Write>
__device__ __forceinline__ void multiply_columns(const uint32_t* matrix, const Prime<uint32_t>& prime, const Read& read,
                                                 const Write& write) {
  constexpr int kSteps = 1 << (kBits - 3);
  const unsigned lane = threadIdx.x % kWarp, g = lane / 4, t = lane % 4;
  uint32_t y[kTiles][kSteps][2];
#pragma unroll
  for (int tile = 0; tile < kTiles; ++tile) {
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      y[tile][step][0] = read(8 * step + t, 8 * tile + g);
      y[tile][step][1] = read(8 * step + 4 + t, 8 * tile + g);
    }
  }
  __syncwarp();
  const auto* fragments = reinterpret_cast<const uint4*>(matrix) + lane;
#pragma unroll 1
  for (int group = 0; group < kSteps; ++group) {
    int sums[kTiles][2][4] = {};
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
#pragma unroll
      for (int half = 0; half < 2; ++half, fragments += kWarp) {
        const uint4 loaded = __ldg(fragments);
        const uint32_t a[4] = {loaded.x, loaded.y, loaded.z, loaded.w};
#pragma unroll
        for (int tile = 0; tile < kTiles; ++tile)
          mma_bytes(sums[tile][half], a, y[tile][step]);
      }
    }
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
#pragma unroll
      for (int c = 0; c < 2; ++c) {
        const auto& s = sums[tile];
        write(8 * group + g, 8 * tile + 2 * t + c, join_bytes(s[0][c], s[0][2 + c], s[1][c], s[1][2 + c], prime));
      }
    }
  }
}

/// A row in the shared memories of a cluster of four blocks, as in SharedNtt.
template <class Passes>
struct ImmaNtt {
  static constexpr int kN = 1 << kImmaLogN, kPoints = kN / kImmaCluster, kThreads = kImmaWarps * kWarp;
  static constexpr unsigned kSharedBytes = padded<uint32_t>(kPoints) * sizeof(uint32_t);
  static constexpr int kFirst = Passes::kFirstBits, kLater = Passes::kLaterBits;
  static constexpr int kTiles = 4, kFirstTiles = kFirst > 5 ? 2 : 4;

  uint32_t* points;
  unsigned rank;
  const uint32_t *first_matrix, *later_matrix;
  const Factor<uint32_t>* twist;
  Prime<uint32_t> prime;

  __device__ __forceinline__ static void all_blocks() {
    cluster_arrive();
    cluster_wait();
  }

  /// Computes the first pass of the transform or the last of its inverse. column: among those of the row.
  template <bool kInverse, class Global>
  __device__ __forceinline__ void outer(const Global& global) const {
    constexpr unsigned kStride = kN >> kFirst, kColumns = kStride / kImmaCluster, kOfWarp = 8 * kFirstTiles;
    constexpr unsigned kOfBlock = (1u << kFirst) / kImmaCluster;
    const unsigned warp = threadIdx.x / kWarp;
    for (unsigned c = warp * kOfWarp; c < kColumns; c += kImmaWarps * kOfWarp) {
      const unsigned begin = rank * kColumns + c;
      const auto place = [&](unsigned k, unsigned column) {
        return ClusterPlace<uint32_t>(points + padded<uint32_t>(k % kOfBlock * kStride + begin + column), k / kOfBlock);
      };
      const auto in_row = [&](unsigned k, unsigned column) { return size_t{k * kStride + begin + column}; };
      if constexpr (kInverse) {
        const auto read = [&](unsigned k, unsigned column) {
          uint32_t x;
          place(k, column).load(0, x);
          return x;
        };
        multiply_columns<kFirst, kFirstTiles>(
            first_matrix, prime, read, [&](unsigned k, unsigned column, uint32_t x) { global(in_row(k, column), x); });
      } else {
        const auto read = [&](unsigned k, unsigned column) { return global(in_row(k, column)); };
        multiply_columns<kFirst, kFirstTiles>(
            first_matrix, prime, read, [&](unsigned k, unsigned column, uint32_t x) { place(k, column).store(0, x); });
      }
    }
  }

  /// Computes the pass from layer kLevel on, within the block's slice.
  template <bool kInverse, int kLevel>
  __device__ __forceinline__ void inner() const {
    constexpr unsigned kStride = kN >> (kLevel + kLater), kOfWarp = 8 * kTiles;
    const unsigned warp = threadIdx.x / kWarp;
    const Factor<uint32_t>* factors = twist + Passes::twist_place(kLevel) + rank * (kPoints >> (kImmaLogN - kLevel));
    for (unsigned c = warp * kOfWarp; c < unsigned{kPoints} >> kLater; c += kImmaWarps * kOfWarp) {
      const auto group = [&](unsigned column) { return (c + column) / kStride; };
      const auto place = [&](unsigned k, unsigned column) {
        return points + padded<uint32_t>(group(column) * (kStride << kLater) + (c + column) % kStride) +
               padded<uint32_t>(k * kStride);
      };
      const auto twisted = [&](uint32_t x, unsigned k, unsigned column) {
        return multiply_lazy(x, load_factor(factors + (size_t{k} << kLevel) + group(column)), prime.q);
      };
      multiply_columns<kLater, kTiles>(
          later_matrix, prime,
          [&](unsigned k, unsigned column) {
            const uint32_t x = *place(k, column);
            return kInverse ? x : twisted(x, k, column);
          },
          [&](unsigned k, unsigned column, uint32_t x) { *place(k, column) = kInverse ? twisted(x, k, column) : x; });
    }
    __syncthreads();
  }

  template <bool kInverse, int kLevel>
  __device__ __forceinline__ void all_inner() const {
    if constexpr (kLevel < kImmaLogN) {
      if constexpr (!kInverse) inner<false, kLevel>();
      all_inner<kInverse, kLevel + kLater>();
      if constexpr (kInverse) inner<true, kLevel>();
    }
  }
};

/// Transforms a row in place, by a cluster. In: any residues' words. Out: in [0, q).
template <class Passes, bool kInverse>
__global__ void __launch_bounds__(kImmaWarps* kWarp, 2)
    ntt_imma_kernel(uint32_t* data, const RowMap map, const Prime<uint32_t>* primes, const ImmaTables::OnePass tables) {
  after_previous_kernel();
  using Ntt = ImmaNtt<Passes>;
  using Copy = Slice<uint32_t, kImmaLogN, Ntt::kPoints, Ntt::kThreads>;
  const unsigned row = blockIdx.x / kImmaCluster, number = map.prime[row % map.count];
  if (number == RowMap::kSkip) return;
  uint32_t* words = data + (size_t{row} << kImmaLogN);
  const Ntt ntt{dynamic_shared<uint32_t>(),
                blockIdx.x % kImmaCluster,
                tables.first + number * Passes::kFirstWords,
                tables.later + number * Passes::kLaterWords,
                tables.twist + number * Passes::kTwists,
                primes[number]};
  const Copy copy{ntt.points, ntt.rank, threadIdx.x, nullptr, ntt.prime.q};
  if constexpr (kInverse) {
    copy.copy_in([&](size_t i) { return load_vector(words + i); });
    __syncthreads();
    ntt.template all_inner<true, Passes::kFirstBits>();
    Ntt::all_blocks();
    ntt.template outer<true>([&](size_t i, uint32_t x) { words[i] = x; });
    Ntt::all_blocks();  // no block may end while others read its shared memory
  } else {
    Ntt::all_blocks();  // all have begun
    ntt.template outer<false>([&](size_t i) { return words[i]; });
    Ntt::all_blocks();
    ntt.template all_inner<false, Passes::kFirstBits>();
    copy.copy_out([&](size_t i, const Vector<uint32_t>& x) { store_vector(words + i, x); });
  }
}

/// Sets bytes[i] to byte i of each of the four words.
__device__ __forceinline__ void split_bytes(uint32_t (&bytes)[4], const uint32_t (&words)[4]) {
  const uint32_t low01 = __byte_perm(words[0], words[1], 0x5140), low23 = __byte_perm(words[2], words[3], 0x5140);
  const uint32_t high01 = __byte_perm(words[0], words[1], 0x7362), high23 = __byte_perm(words[2], words[3], 0x7362);
  bytes[0] = __byte_perm(low01, low23, 0x5410);
  bytes[1] = __byte_perm(low01, low23, 0x7632);
  bytes[2] = __byte_perm(high01, high23, 0x5410);
  bytes[3] = __byte_perm(high01, high23, 0x7632);
}

/// Returns the sum over k of sums[k][i] 2^(8 k), in [0, q). Sums are in [0, 2^27).
__device__ __forceinline__ uint32_t join_products(const int (&sums)[7][4], int i, const Prime<uint32_t>& prime) {
  uint64_t low = 0, high = 0;
#pragma unroll
  for (int k = 0; k < 4; ++k)
    low += static_cast<uint64_t>(sums[k][i]) << (8 * k);
#pragma unroll
  for (int k = 4; k < 7; ++k)
    high += static_cast<uint64_t>(sums[k][i]) << (8 * (k - 4));
  return reduce((uint64_t{reduce(high, prime)} << 32) + low, prime);
}

/// Computes one of the two products of the 256 x 256 form, in place. A warp keeps the bytes of eight columns of 256
/// words, which lie 256 words apart or (kContiguous) side by side, and runs through the matrix. kTwisted: multiplies by
/// the factors. In: any residues' words. Out: in [0, q).
template <bool kContiguous, bool kTwisted>
__global__ void __launch_bounds__(kImmaWarps* kWarp, 1)
    ntt_split_kernel(uint32_t* data, const RowMap map, const Prime<uint32_t>* primes, const uint32_t* matrices,
                     const Factor<uint32_t>* twists) {
  after_previous_kernel();
  constexpr unsigned kBlocks = 256 / (8 * kImmaWarps);
  const unsigned row = blockIdx.x / kBlocks, number = map.prime[row % map.count];
  if (number == RowMap::kSkip) return;
  const Prime<uint32_t> prime = primes[number];
  const unsigned lane = threadIdx.x % kWarp, g = lane / 4, t = lane % 4;
  const unsigned begin = (blockIdx.x % kBlocks * kImmaWarps + threadIdx.x / kWarp) * 8;
  uint32_t* words = data + (size_t{row} << kImmaLogN);
  const auto place = [&](unsigned k, unsigned column) { return kContiguous ? column * 256 + k : k * 256 + column; };
  uint32_t bytes[8][4][2];
#pragma unroll
  for (int step = 0; step < 8; ++step) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      uint32_t four[4], split[4];
#pragma unroll
      for (int a = 0; a < 4; ++a)
        four[a] = words[place(32 * step + 16 * half + 4 * t + a, begin + g)];
      split_bytes(split, four);
#pragma unroll
      for (int byte = 0; byte < 4; ++byte)
        bytes[step][byte][half] = split[byte];
    }
  }
  __syncwarp();
  const auto* fragments = reinterpret_cast<const uint4*>(matrices + (size_t{number} << 16)) + lane;
#pragma unroll 1
  for (unsigned tile = 0; tile < 16; ++tile) {
    int sums[7][4] = {};
#pragma unroll
    for (int step = 0; step < 8; ++step) {
#pragma unroll
      for (int byte = 0; byte < 4; ++byte, fragments += kWarp) {
        const uint4 loaded = __ldg(fragments);
        const uint32_t a[4] = {loaded.x, loaded.y, loaded.z, loaded.w};
#pragma unroll
        for (int other = 0; other < 4; ++other)
          mma_bytes(sums[byte + other], a, bytes[step][other]);
      }
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const unsigned at = place(16 * tile + g + 8 * (i / 2), begin + 2 * t + i % 2);
      uint32_t x = join_products(sums, i, prime);
      if constexpr (kTwisted) x = multiply(x, load_factor(twists + (size_t{number} << 16) + at), prime.q);
      words[at] = x;
    }
  }
}

}  // namespace polykem::ckks::cuda
