// SPDX-License-Identifier: Apache-2.0
// Sampling: the entries of A, which are public, and noise. A thread has one Keccak state. [FIPS203, Alg 7, Alg 8]
#pragma once

#include "prim/keccak/cuda/keccak.cuh"
#include "schemes/mlkem/cuda/work.cuh"

namespace polykem::mlkem::cuda {

using polykem::cuda::keccak_f1600;

/// Where rho of each key is: word w of key i at base + i key_bytes + w word_bytes.
struct RhoPlace {
  const uint8_t* base;
  size_t key_bytes, word_bytes;

  __device__ void load(uint32_t (&rho)[8], size_t key) const {
    const uint8_t* const from = base + key * key_bytes;
    if (word_bytes == 4) return load_words(rho, from);
#pragma unroll
    for (int w = 0; w < 8; ++w)
      rho[w] = *reinterpret_cast<const uint32_t*>(from + static_cast<size_t>(w) * word_bytes);
  }
};

/// Where the entries of each key go: its rows of 16-bit coefficients.
struct EntryPlace {
  std::byte* base;
  size_t key_bytes;
  __device__ std::byte* row(size_t key, uint32_t entry) const { return base + key * key_bytes + entry * kRowBytes; }
};

/// An entry of A or, kTransposed, of A^T, row by row: the state that has absorbed its seed.
template <class Set, bool kTransposed>
__device__ __forceinline__ void absorb_entry(uint64_t (&state)[25], const RhoPlace& place, size_t key, uint32_t entry) {
  constexpr uint32_t kK = Shape<Set>::kK;
  uint32_t rho[8];
  place.load(rho, key);
  const uint32_t row = entry / kK, column = entry % kK;
  const uint32_t first = kTransposed ? row : column, second = kTransposed ? column : row;
  polykem::cuda::absorb_seed<polykem::cuda::kShake128RateBytes>(state, rho, first | second << 8 | 0x1f0000);
}

/// 12-bit integer number n of 8 in three words.
__device__ __forceinline__ uint32_t candidate(const uint32_t (&three)[3], int n) {
  const int bit = 12 * n;
  return __funnelshift_r(three[bit / 32], three[bit % 32 > 20 ? bit / 32 + 1 : bit / 32], bit % 32) & 0xfff;
}

/// Three words of the state, from word 3 t on.
__device__ __forceinline__ void three_words(uint32_t (&three)[3], const uint64_t (&state)[25], int t) {
#pragma unroll
  for (int w = 0; w < 3; ++w)
    three[w] = static_cast<uint32_t>(state[(3 * t + w) / 2] >> (32 * ((3 * t + w) % 2)));
}

inline constexpr int kCandidatesTriples = polykem::cuda::kShake128RateBytes / 12;
inline constexpr int kSampleStride =
    kN / 2 + 1;  ///< words of a lane's row in shared memory; two coefficients are spare

/// Appends a block's integers below q to a lane's row. kMayFill: stops at 256.
template <bool kMayFill>
__device__ __forceinline__ void accept_block(uint16_t* row, uint32_t& filled, const uint64_t (&state)[25]) {
#pragma unroll
  for (int t = 0; t < kCandidatesTriples; ++t) {
    uint32_t three[3];
    three_words(three, state, t);
#pragma unroll
    for (int n = 0; n < 8; ++n) {
      const uint32_t x = candidate(three, n);
      row[filled] = static_cast<uint16_t>(x);
      filled += x < kNttQ ? 1 : 0;
      if (kMayFill) filled = min(filled, static_cast<uint32_t>(kN));
    }
  }
}

/// SampleNTT of every entry of every key, from three blocks. Where they give less than 256 coefficients the entry is
/// put on the list `unusual` and its row is not complete. Blocks of one warp.
template <class Set, bool kTransposed>
__global__ void __launch_bounds__(32, 12)
    gen_a_kernel(EntryPlace to, RhoPlace rho, uint32_t* unusual, uint32_t entries) {
  constexpr uint32_t kEntries = Shape<Set>::kEntries;
  __shared__ uint32_t rows[32 * kSampleStride];
  const unsigned lane = warp_lane();
  const uint32_t first = blockIdx.x * 32u, mine = min(first + lane, entries - 1);
  uint64_t state[25];
  absorb_entry<Set, kTransposed>(state, rho, mine / kEntries, mine % kEntries);
  auto* const row = reinterpret_cast<uint16_t*>(rows + lane * kSampleStride);
  uint32_t filled = 0;
  keccak_f1600(state);
  accept_block<false>(row, filled, state);
  keccak_f1600(state);
  accept_block<false>(row, filled, state);
  keccak_f1600(state);
  accept_block<true>(row, filled, state);
  if (filled < kN && first + lane < entries) unusual[1 + atomicAdd(unusual, 1u)] = mine;
  __syncwarp();
  // Lane: which word of 32; groups of four words alternate between the halves of a row.
  const uint32_t place = (lane / 4 % 2) * 64 + lane / 8 * 4 + lane % 4;
  const int end = static_cast<int>(min(entries - first, 32u));
#pragma unroll 4
  for (int n = 0; n < end; ++n) {
    const uint32_t entry = first + static_cast<uint32_t>(n);
    auto* out = reinterpret_cast<uint32_t*>(to.row(entry / kEntries, entry % kEntries)) + place;
#pragma unroll
    for (int c = 0; c < 4; ++c)
      out[16 * c] = rows[n * kSampleStride + 32 * c + static_cast<int>(lane)];
  }
}

/// The entries of the list, from as many blocks as each needs. Any grid.
template <class Set, bool kTransposed>
__global__ void __launch_bounds__(32) gen_a_unusual_kernel(EntryPlace to, RhoPlace rho, const uint32_t* unusual) {
  constexpr uint32_t kEntries = Shape<Set>::kEntries;
  const uint32_t count = *unusual;
  for (uint32_t n = blockIdx.x * 32u + threadIdx.x; n < count; n += gridDim.x * 32u) {
    const uint32_t entry = unusual[1 + n];
    uint64_t state[25];
    absorb_entry<Set, kTransposed>(state, rho, entry / kEntries, entry % kEntries);
    auto* row = reinterpret_cast<uint16_t*>(to.row(entry / kEntries, entry % kEntries));
    for (uint32_t filled = 0; filled < kN;) {
      keccak_f1600(state);
#pragma unroll
      for (int t = 0; t < kCandidatesTriples; ++t) {
        uint32_t three[3];
        three_words(three, state, t);
#pragma unroll
        for (int c = 0; c < 8; ++c) {
          const uint32_t x = candidate(three, c);
          if (x >= kNttQ || filled >= kN) continue;
          row[(filled / 8 % 2) * 128 + filled / 16 * 8 + filled % 8] = static_cast<uint16_t>(x);
          ++filled;
        }
      }
    }
  }
}

/// Eight words of eight values of 4 bits, transposed: word x has the values x of all words.
__host__ __device__ __forceinline__ void transpose_nibbles(uint32_t (&w)[8]) {
  const auto exchange = [&w](int distance, uint32_t mask, int shift) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      if ((i & distance) != 0) continue;
      const uint32_t low = w[i], high = w[i + distance];
      w[i] = (low & mask) | ((high << shift) & ~mask);
      w[i + distance] = ((low >> shift) & mask) | (high & ~mask);
    }
  };
  exchange(4, 0x0000ffff, 16);
  exchange(2, 0x00ff00ff, 8);
  exchange(1, 0x0f0f0f0f, 4);
}

/// 256 values of 4 bits in order -> as a row of noise.
__host__ __device__ __forceinline__ void noise_row(uint32_t (&row)[32]) {
  uint32_t eights[2][2][8];
#pragma unroll
  for (int r = 0; r < 16; ++r) {
    eights[0][r / 8][r % 8] = row[2 * r];
    eights[1][r / 8][r % 8] = row[2 * r + 1];
  }
#pragma unroll
  for (int h = 0; h < 2; ++h) {
#pragma unroll
    for (int q = 0; q < 2; ++q) {
      transpose_nibbles(eights[h][q]);
#pragma unroll
      for (int x = 0; x < 8; ++x)
        row[2 * (8 * h + x) + q] = eights[h][q][x];
    }
  }
}

/// Eight coefficients of eta = 2, plus 2, from 32 bits. [FIPS203, Alg 8]
__host__ __device__ constexpr uint32_t cbd2(uint32_t bits) {
  const uint32_t sums = (bits & 0x55555555) + ((bits >> 1) & 0x55555555);
  return (sums & 0x33333333) + 0x22222222 - ((sums >> 2) & 0x33333333);
}

/// Four coefficients of eta = 3, plus 3, from 24 bits: 16 bits.
__host__ __device__ constexpr uint32_t cbd3(uint32_t bits) {
  const uint32_t sums = (bits & 0x249249) + ((bits >> 1) & 0x249249) + ((bits >> 2) & 0x249249);
  const uint32_t values = (sums & 0x1c71c7) + 0x0c30c3 - ((sums >> 3) & 0x1c71c7);  // of 6 bits
  return (values & 0xf) | (values >> 2 & 0xf0) | (values >> 4 & 0xf00) | (values >> 6 & 0xf000);
}

/// 16 coefficients of eta = 3 from three words: two words.
__host__ __device__ __forceinline__ void cbd3_words(uint32_t& low, uint32_t& high, uint32_t a, uint32_t b, uint32_t c) {
  low = cbd3(a & 0xffffff) | cbd3((a >> 24 | b << 8) & 0xffffff) << 16;
  high = cbd3((b >> 16 | c << 16) & 0xffffff) | cbd3(c >> 8) << 16;
}

inline constexpr int kNoiseStride = static_cast<int>(kNoiseBytes) / 4 + 1;  ///< words of a lane's row in shared memory

/// The noise of eta = 3 from two blocks, in order, in shared memory.
__device__ __forceinline__ void sample_eta3(uint32_t* values, uint64_t (&state)[25]) {
  constexpr int kFirst = 11, kAll = 16;  // triples of words: of the first block, of both
  keccak_f1600(state);
#pragma unroll
  for (int t = 0; t < kFirst; ++t) {
    uint32_t three[3];
    three_words(three, state, t);
    cbd3_words(values[2 * t], values[2 * t + 1], three[0], three[1], three[2]);
  }
  const auto left = static_cast<uint32_t>(state[16] >> 32);  // word 33 of 34
  keccak_f1600(state);
#pragma unroll
  for (int t = kFirst; t < kAll; ++t) {
    uint32_t three[3];
#pragma unroll
    for (int w = 0; w < 3; ++w) {
      const int at = 3 * t + w - 34;
      three[w] = at < 0 ? left : static_cast<uint32_t>(state[at < 0 ? 0 : at / 2] >> (32 * (at % 2 != 0)));
    }
    cbd3_words(values[2 * t], values[2 * t + 1], three[0], three[1], three[2]);
  }
}

/// SamplePolyCBD: polynomials first .. first + polys - 1 of `all` of every item, as rows of noise. Blocks of one warp.
template <unsigned kEta>
__global__ void __launch_bounds__(32, kEta == 3 ? 16 : 24)
    sample_noise_kernel(uint32_t* noise, ItemWords seeds, uint32_t first, uint32_t polys, uint32_t all) {
  __shared__ uint32_t rows[32 * kNoiseStride];
  const unsigned lane = warp_lane();
  const size_t begin = blockIdx.x * size_t{32}, end = seeds.count * polys;
  const size_t mine = min(begin + lane, end - 1);
  const size_t item = mine / polys;
  const auto nonce = first + static_cast<uint32_t>(mine % polys);
  uint32_t seed[8], row[32];
  seeds.load(seed, item);
  uint64_t state[25];
  polykem::cuda::absorb_seed<polykem::cuda::kRateBytes>(state, seed, nonce | 0x1f00);
  uint32_t* const own = rows + lane * kNoiseStride;
  if constexpr (kEta == 3) {
    sample_eta3(own, state);
#pragma unroll
    for (int w = 0; w < 32; ++w)
      row[w] = own[w];
  } else {
    keccak_f1600(state);
    polykem::cuda::squeeze_words(row, state);
#pragma unroll
    for (uint32_t& word : row)
      word = cbd2(word);
  }
  noise_row(row);
#pragma unroll
  for (int w = 0; w < 32; ++w)
    own[w] = row[w];
  __syncwarp();
  const size_t place = item * all + nonce;
#pragma unroll 4
  for (int n = 0; n < 32; ++n) {
    const size_t to = __shfl_sync(0xffffffff, static_cast<unsigned long long>(place), n);
    if (begin + static_cast<size_t>(n) < end) noise[32 * to + lane] = rows[n * kNoiseStride + static_cast<int>(lane)];
  }
}

}  // namespace polykem::mlkem::cuda
