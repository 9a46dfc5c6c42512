// SPDX-License-Identifier: Apache-2.0
// Samples the entries of A, which are public, and noise. A thread has one Keccak state. [FIPS203, Alg 7, Alg 8]
#pragma once

#include "prim/keccak/cuda/keccak.cuh"
#include "schemes/mlkem/cuda/work.cuh"

namespace polykem::mlkem::cuda {

using polykem::cuda::keccak_f1600;

/// The destination of the entries of A of each key, as rows of 16-bit coefficients.
struct EntryArray {
  std::byte* base;
  size_t key_bytes;
};

/// Sets the state to one that has absorbed the seed of an entry of A or, if kTransposed, of A^T. Entries are counted
/// row by row.
template <class Set, bool kTransposed>
__device__ __forceinline__ void absorb_entry(uint64_t (&state)[25], const SeedArray& seeds, size_t key,
                                             uint32_t entry) {
  constexpr uint32_t kK = Shape<Set>::kK;
  uint32_t rho[8];
  seeds.load(rho, key);
  const uint32_t row = entry / kK, column = entry % kK;
  const uint32_t first = kTransposed ? row : column, second = kTransposed ? column : row;
  polykem::cuda::absorb_seed<polykem::cuda::kShake128RateBytes>(state, rho, first | second << 8 | 0x1f0000);
}

/// Returns 12-bit integer n of the eight in three words. It shifts to the left where it can, which compiles to a
/// multiplication, because the other units limit the kernel.
__device__ __forceinline__ uint32_t candidate(const uint32_t (&three)[3], int n) {
  const int word = 12 * n / 32, bit = 12 * n % 32;
  if (bit == 0) return three[word] & 0xfff;
  if (bit == 20) return three[word] >> 20;
  if (bit > 20) return __funnelshift_r(three[word], three[word + 1], bit) & 0xfff;
  uint32_t x;
  asm("{.reg .b32 top; shl.b32 top, %1, %2; shr.u32 %0, top, 20;}" : "=r"(x) : "r"(three[word]), "r"(20 - bit));
  return x;
}

/// Copies three 32-bit words of the state, from word 3 t on.
__device__ __forceinline__ void three_words(uint32_t (&three)[3], const uint64_t (&state)[25], int t) {
#pragma unroll
  for (int w = 0; w < 3; ++w)
    three[w] = static_cast<uint32_t>(state[(3 * t + w) / 2] >> (32 * ((3 * t + w) % 2)));
}

inline constexpr int kCandidateTriples = polykem::cuda::kShake128RateBytes / 12;
/// Words of a lane's row in shared memory, with eight spare coefficients. It is odd, so that rows begin in different
/// banks.
inline constexpr int kSampleStride = kN / 2 + 5;

/// Appends a block's integers below q to a lane's row, which ends at the shared address `end`. If kMayFill, it stops at
/// `full`, after which at most eight more are written.
template <bool kMayFill>
__device__ __forceinline__ void accept_block(uint32_t& end, uint32_t full, const uint64_t (&state)[25]) {
#pragma unroll
  for (int t = 0; t < kCandidateTriples; ++t) {
    uint32_t three[3];
    three_words(three, state, t);
    if (kMayFill) end = min(end, full);
#pragma unroll
    for (int n = 0; n < 8; ++n) {
      const uint32_t x = candidate(three, n);
      // This is in assembly because compilers would count coefficients and bytes separately.
      asm volatile(
          "{.reg .pred below; .reg .b16 low; cvt.u16.u32 low, %1; st.shared.u16 [%0], low;"
          "setp.lt.u32 below, %1, %2; @below add.u32 %0, %0, 2;}"
          : "+r"(end)
          : "r"(x), "n"(kNttQ)
          : "memory");
    }
  }
}

/// The shared memory of a warp that samples entries.
struct SampleMemory {
  uint32_t rows[32][kSampleStride];
};

/// Samples an entry in each lane by SampleNTT, from three blocks or, if kToTheEnd, from as many as it takes. The
/// entries of the first `stored` lanes are stored. Returns true if this lane's row is complete.
template <class Set, bool kTransposed, bool kToTheEnd>
__device__ __forceinline__ bool sample_entry(SampleMemory& memory, const EntryArray& to, const SeedArray& rho,
                                             uint32_t entry, unsigned stored) {
  constexpr uint32_t kEntries = Shape<Set>::kEntries;
  const unsigned lane = warp_lane();
  uint64_t state[25];
  absorb_entry<Set, kTransposed>(state, rho, entry / kEntries, entry % kEntries);
  auto end = static_cast<uint32_t>(__cvta_generic_to_shared(memory.rows[lane]));
  const uint32_t full = end + static_cast<uint32_t>(kRowBytes);
  keccak_f1600(state);
  accept_block<false>(end, full, state);
  keccak_f1600(state);
  accept_block<false>(end, full, state);
  do {
    keccak_f1600(state);
    accept_block<true>(end, full, state);
  } while (kToTheEnd && __any_sync(0xffffffff, end < full));
  __syncwarp();
  const unsigned long long offset = entry / kEntries * to.key_bytes + entry % kEntries * kRowBytes;
  // A lane stores one word of each 32; groups of four words alternate between the halves of a row.
  const uint32_t index = (lane / 4 % 2) * 64 + lane / 8 * 4 + lane % 4;
#pragma unroll 4
  for (unsigned n = 0; n < stored; ++n) {
    auto* const out =
        reinterpret_cast<uint32_t*>(to.base + __shfl_sync(0xffffffff, offset, static_cast<int>(n))) + index;
#pragma unroll
    for (unsigned c = 0; c < 4; ++c)
      out[16 * c] = memory.rows[n][32 * c + lane];
  }
  __syncwarp();
  return end >= full;
}

/// Samples every entry of every key from three blocks of SHAKE128. If they give fewer than 256 coefficients, the entry
/// is put on the list `retries`, and its row is not complete. A thread block is one warp.
template <class Set, bool kTransposed>
__global__ void __launch_bounds__(32, 12)
    sample_ntt_kernel(EntryArray to, SeedArray rho, uint32_t* retries, uint32_t entries) {
  __shared__ SampleMemory memory;
  const uint32_t first = blockIdx.x * 32u, mine = min(first + warp_lane(), entries - 1);
  const bool complete = sample_entry<Set, kTransposed, false>(memory, to, rho, mine, min(entries - first, 32u));
  if (!complete && first + warp_lane() < entries) retries[1 + atomicAdd(retries, 1u)] = mine;
}

/// Samples the entries on the list `retries`, with `blocks` thread blocks of one warp.
template <class Set, bool kTransposed>
__device__ __forceinline__ void complete_entries(SampleMemory& memory, const EntryArray& to, const SeedArray& rho,
                                                 const uint32_t* retries, uint32_t blocks) {
  const uint32_t count = *retries;
  for (uint32_t first = blockIdx.x * 32u; first < count; first += blocks * 32u) {
    const uint32_t mine = retries[1 + min(first + warp_lane(), count - 1)];
    sample_entry<Set, kTransposed, true>(memory, to, rho, mine, min(count - first, 32u));
  }
}

/// Transposes eight words of eight 4-bit values: word x gets value x of every word.
__device__ __forceinline__ void transpose_nibbles(uint32_t (&w)[8]) {
  const auto exchange_bytes = [&w](int distance, uint32_t first, uint32_t second) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      if ((i & distance) != 0) continue;
      const uint32_t low = w[i], high = w[i + distance];
      w[i] = __byte_perm(low, high, first);
      w[i + distance] = __byte_perm(low, high, second);
    }
  };
  exchange_bytes(4, 0x5410, 0x7632);
  exchange_bytes(2, 0x6240, 0x7351);
#pragma unroll
  for (int i = 0; i < 8; i += 2) {
    const uint32_t low = w[i], high = w[i + 1];
    w[i] = (low & 0x0f0f0f0f) | ((high << 4) & 0xf0f0f0f0);
    w[i + 1] = ((low >> 4) & 0x0f0f0f0f) | (high & 0xf0f0f0f0);
  }
}

/// Turns 256 values of 4 bits, which are in order, into a row of noise.
__device__ __forceinline__ void noise_row(uint32_t (&row)[32]) {
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

/// Returns eight coefficients for eta = 2, plus 2, of 4 bits each from 32 bits. The bits to be subtracted are inverted,
/// so that 2 minus their sum is added. [FIPS203, Alg 8]
__host__ __device__ constexpr uint32_t cbd2(uint32_t bits) {
  bits ^= 0xcccccccc;
  const uint32_t sums = bits - ((bits >> 1) & 0x55555555);
  return sums - 3 * ((sums >> 2) & 0x33333333);
}

/// Returns four coefficients for eta = 3, plus 3, of 4 bits each from 24 bits. [FIPS203, Alg 8]
__host__ __device__ constexpr uint32_t cbd3(uint32_t bits) {
  const uint32_t sums = (bits & 0x249249) + ((bits >> 1) & 0x249249) + ((bits >> 2) & 0x249249);
  const uint32_t values = (sums & 0x1c71c7) + 0x0c30c3 - ((sums >> 3) & 0x1c71c7);  // 6 bits each
  return (values & 0xf) | (values >> 2 & 0xf0) | (values >> 4 & 0xf00) | (values >> 6 & 0xf000);
}

/// Returns 16 coefficients for eta = 3, plus 3, in two words, from the three words a, b and c.
__host__ __device__ __forceinline__ void cbd3_words(uint32_t& low, uint32_t& high, uint32_t a, uint32_t b, uint32_t c) {
  low = cbd3(a & 0xffffff) | cbd3((a >> 24 | b << 8) & 0xffffff) << 16;
  high = cbd3((b >> 16 | c << 16) & 0xffffff) | cbd3(c >> 8) << 16;
}

/// Words of a lane's row in shared memory, with four words of padding, so that eight lanes that move four words each
/// meet in no bank.
inline constexpr int kNoiseStride = static_cast<int>(kNoiseBytes) / 4 + 4;

/// Samples a polynomial for eta = 3 from two blocks. Its values are in order in shared memory.
__device__ __forceinline__ void sample_eta3(uint32_t* values, uint64_t (&state)[25]) {
  constexpr int kFirst = 11, kAll = 16;  // triples of words in the first block, in both
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

/// Samples 32 rows of noise, from row 32 warp on, with one warp. `rows` is shared memory.
template <unsigned kEta, uint32_t kFirst, uint32_t kPolys, uint32_t kAll>
__device__ __forceinline__ void sample_noise(uint32_t* rows, uint32_t* noise, const ItemWords& seeds, size_t warp) {
  const unsigned lane = warp_lane();
  const size_t begin = warp * 32, end = seeds.count * kPolys;
  const size_t mine = min(begin + lane, end - 1);
  const auto nonce = kFirst + static_cast<uint32_t>(mine % kPolys);
  uint32_t seed[8], row[32];
  seeds.load(seed, mine / kPolys);
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
  for (int w = 0; w < 32; w += 4)
    *reinterpret_cast<uint4*>(own + w) = make_uint4(row[w], row[w + 1], row[w + 2], row[w + 3]);
  __syncwarp();
  // Eight lanes write a row.
#pragma unroll
  for (int n = 0; n < 32; n += 4) {
    const int of_lane = n + static_cast<int>(lane) / 8;
    const size_t number = begin + static_cast<size_t>(of_lane);
    const size_t index = number / kPolys * kAll + kFirst + number % kPolys;
    if (number < end)
      reinterpret_cast<uint4*>(noise)[8 * index + lane % 8] =
          *reinterpret_cast<const uint4*>(rows + of_lane * kNoiseStride + 4 * (static_cast<int>(lane) % 8));
  }
}

/// Samples polynomials kFirst to kFirst + kPolys - 1 of the kAll of every item by SamplePolyCBD, as rows of noise.
/// seeds.base is nullptr if there are none. The first retry_blocks thread blocks complete A. A thread block is one
/// warp.
template <class Set, bool kTransposed, unsigned kEta, uint32_t kFirst, uint32_t kPolys, uint32_t kAll>
__global__ void __launch_bounds__(32, 12)
    sample_noise_kernel(uint32_t* noise, ItemWords seeds, EntryArray to, SeedArray rho, const uint32_t* retries,
                        uint32_t retry_blocks) {
  __shared__ union alignas(16) Memory {
    SampleMemory entries;
    uint32_t noise[32 * kNoiseStride];
  } memory;
  if (blockIdx.x < retry_blocks)
    return complete_entries<Set, kTransposed>(memory.entries, to, rho, retries, retry_blocks);
  sample_noise<kEta, kFirst, kPolys, kAll>(memory.noise, noise, seeds, blockIdx.x - retry_blocks);
}

}  // namespace polykem::mlkem::cuda
