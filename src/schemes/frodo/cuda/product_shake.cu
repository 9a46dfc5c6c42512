// SPDX-License-Identifier: Apache-2.0
// Products with A by SHAKE128: a warp uses up 32 rows of A, 84 columns at a time, as its threads squeeze them.
#include "schemes/frodo/cuda/records.cuh"
#include "schemes/frodo/cuda/rows_shake.cuh"
#include "schemes/frodo/matmul/cuda/tile.cuh"

namespace polykem::frodo::cuda {

namespace {

static_assert(polykem::cuda::kTileColumns == 4 * kRowRate);

/// The number of one-warp blocks, and of blocks of several warps, for which a multiprocessor must have registers.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 900
inline constexpr int kRowBlocks = 20, kItemBlocks = 2;
#else
inline constexpr int kRowBlocks = 1, kItemBlocks = 1;
#endif
constexpr int kMaxItemThreads = 256;

/// Return acc plus the products of two 16-bit elements of A and two signed bytes, the lower or the upper ones of `s`.
__device__ __forceinline__ int mul_pair_low(uint32_t a, uint32_t s, int acc) {
  return __dp2a_lo(static_cast<int>(a), static_cast<int>(s), acc);
}
__device__ __forceinline__ int mul_pair_high(uint32_t a, uint32_t s, int acc) {
  return __dp2a_hi(static_cast<int>(a), static_cast<int>(s), acc);
}

/// Returns two neighbouring bytes of a row of S transposed, or 0 beyond its end.
__device__ __forceinline__ uint32_t two_errors(const uint8_t* row, uint32_t column, uint32_t n) {
  return column < n ? *reinterpret_cast<const uint16_t*>(row + column) : 0;
}

constexpr uint32_t pair_bytes(uint32_t n) {
  return row_blocks(n) * 2 * kRowRate * 16;
}

/// Computes gen_a, matmul.as and pack: 32 rows of B = A S + E by a block of one warp, into pk and the copy of pk in sk.
/// A thread has a row: each squeezed pair of elements is multiplied with all eight columns of S, which lie in shared
/// memory in the form [pair][column][2]. Dynamic shared memory: pair_bytes(n).
__global__ void __launch_bounds__(32, kRowBlocks)
    mul_a_s_shake_kernel(uint8_t* pk, uint8_t* sk, const uint8_t* noise, Sizes sizes, uint32_t tiles) {
  extern __shared__ __align__(128) uint4 pairs[];
  const unsigned lane = threadIdx.x;
  const size_t item = blockIdx.x / tiles;
  const uint32_t first_row = blockIdx.x % tiles * 32, row = first_row + lane, n = sizes.n;
  const uint8_t* const s = noise + item * sizes.noise_stride;
  for (uint32_t p = lane; p < row_blocks(n) * 2 * kRowRate; p += 32) {
    uint32_t two[kBar];
#pragma unroll
    for (uint32_t j = 0; j < kBar; ++j)
      two[j] = two_errors(s + j * n, 2 * p, n);
    pairs[p] = make_uint4(two[0] | two[1] << 16, two[2] | two[3] << 16, two[4] | two[5] << 16, two[6] | two[7] << 16);
  }
  uint8_t* const record = pk + item * sizes.pk_bytes;
  uint32_t seed[4];
  load_seed(seed, record);
  uint64_t state[25];
  absorb_row(state, row, seed);
  int sum[kBar] = {};
  __syncwarp();
#pragma unroll 1
  for (uint32_t block = 0; block < row_blocks(n); ++block) {
    keccak_f1600(state);
    const uint4* const pair = pairs + block * 2 * kRowRate;
#pragma unroll
    for (int k = 0; k < 2 * kRowRate; ++k) {
      const auto a = static_cast<uint32_t>(state[k / 2] >> (32 * (k % 2)));
      const uint4 b = pair[k];
      const uint32_t columns[4] = {b.x, b.y, b.z, b.w};
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        sum[2 * j] = mul_pair_low(a, columns[j], sum[2 * j]);
        sum[2 * j + 1] = mul_pair_high(a, columns[j], sum[2 * j + 1]);
      }
    }
  }
  __syncwarp();
  auto* const packed = reinterpret_cast<uint8_t*>(pairs) + 16;
  if (row < n) {
    int error[kBar];
    load_errors(error, s + kBar * n + kBar * row);
    uint32_t b[kBar], words[4];
#pragma unroll
    for (int j = 0; j < static_cast<int>(kBar); ++j)
      b[j] = static_cast<uint32_t>(sum[j] + error[j]);
    pack8(words, b, sizes.logq);
    store_packed(packed, lane, words, sizes.logq);
  }
  __syncwarp();
  const auto bytes = static_cast<int>(min(32u, n - first_row) * sizes.logq);
  const size_t offset = kSeedABytes + size_t{first_row} * sizes.logq;
  for (uint8_t* to : {record + offset, sk + item * sizes.sk_bytes + sizes.pk_offset + offset})
    polykem::cuda::store_record(to, bytes, lane, [&](int at) { return shared_word(packed, at); });
}

/// The bytes of shared memory of mul_s_a_shake_kernel: the sums, and a tile for each warp.
constexpr size_t sums_bytes_shake(uint32_t n) {
  return sizeof(int) * polykem::cuda::kTileSums * row_blocks(n);
}
constexpr size_t shared_bytes_sa_shake(uint32_t n, uint32_t warps) {
  const size_t tiles = size_t{warps} * polykem::cuda::kTileBytes, packed = 16 * size_t{n} + 4;
  return sums_bytes_shake(n) + 16 + (tiles > packed ? tiles : packed);
}

/// Loads the words of S' that the tensor cores take with rows first_row .. first_row + 31 of A, and 0 beyond n.
__device__ __forceinline__ void load_s_tile(uint32_t (&s)[4], const uint8_t* noise, uint32_t first_row, uint32_t n,
                                            unsigned lane) {
  const uint8_t* const row = noise + lane / 4 * n;
#pragma unroll
  for (int k = 0; k < 4; ++k)
    s[k] = polykem::cuda::spread_bytes(two_errors(row, first_row + 8 * k + 2 * (lane % 4), n));
}

/// Permutes the state and, in the time that hashing leaves free, adds the product of S' and a tile of A that was
/// squeezed before: two groups of columns in every four rounds.
__device__ __forceinline__ void permute_and_multiply(uint64_t (&state)[25], int* sums, uint32_t address,
                                                     const uint32_t (&s)[4], unsigned lane) {
  constexpr int kRounds = 4;
  static_assert(24 / kRounds * 2 == polykem::cuda::kTileGroups + 1);
#pragma unroll 1
  for (int round = 0; round < 24; round += kRounds) {
    polykem::cuda::add_groups_product(sums, address, s, lane, round / 2);
#pragma unroll
    for (int r = 0; r < kRounds; ++r)
      polykem::cuda::keccak_round(state, round + r);
  }
}

/// Computes gen_a, matmul.sa, and pack.c1 or a part of compare: B' = S' A + E' of one item by a block. Each warp takes
/// tiles of 32 rows of A in turn; sums are kept in shared memory. While a warp squeezes 84 columns, it multiplies those
/// before.
__global__ void __launch_bounds__(kMaxItemThreads, kItemBlocks)
    mul_s_a_shake_kernel(Ciphertexts target, Records seeds, const uint8_t* noise, Sizes sizes) {
  using polykem::cuda::kTileStride;
  extern __shared__ __align__(128) uint4 shared[];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const uint32_t n = sizes.n, blocks = row_blocks(n);
  int* const sums = reinterpret_cast<int*>(shared);
  uint8_t* const after = reinterpret_cast<uint8_t*>(shared) + sums_bytes_shake(n) + 16;
  auto* const mismatch = reinterpret_cast<uint32_t*>(after - 16);
  uint8_t* const tile = after + warp * polykem::cuda::kTileBytes;
  const size_t item = blockIdx.x;
  const uint8_t* const s1 = noise + item * sizes.noise_stride;
  for (uint32_t k = threadIdx.x; k < polykem::cuda::kTileSums * blocks; k += blockDim.x)
    sums[k] = 0;
  auto* const row_of_tile = reinterpret_cast<ulonglong2*>(tile + lane * kTileStride);
  for (int k = 0; k < kTileStride / 16; ++k)
    row_of_tile[k] = make_ulonglong2(0, 0);
  uint32_t seed[4], s[4] = {};
  load_seed(seed, seeds[item]);
  const uint32_t address = polykem::cuda::tile_address(tile, lane);
  __syncthreads();
  int* before = sums;  // the first product is that of zeros
#pragma unroll 1
  for (uint32_t first_row = 32 * warp; first_row < n; first_row += blockDim.x) {
    uint64_t state[25];
    absorb_row(state, first_row + lane, seed);
#pragma unroll 1
    for (uint32_t block = 0; block < blocks; ++block) {
      permute_and_multiply(state, before, address, s, lane);
      before = sums + block * polykem::cuda::kTileSums;
      if (block == 0) load_s_tile(s, s1, first_row, n, lane);
      __syncwarp();
#pragma unroll
      for (int k = 0; k + 1 < kRowRate; k += 2)
        row_of_tile[k / 2] = make_ulonglong2(state[k], state[k + 1]);
      row_of_tile[kRowRate / 2].x = state[kRowRate - 1];
      __syncwarp();
    }
  }
#pragma unroll 1
  for (int group = 0; group < polykem::cuda::kTileGroups; group += 2)
    polykem::cuda::add_groups_product(before, address, s, lane, group);
  __syncthreads();
  finish_c1(target, item, s1 + kBar * n, sizes, after, mismatch, [sums](uint32_t column, uint32_t row) {
    constexpr uint32_t kColumns = polykem::cuda::kTileColumns;
    const uint32_t in_tile = column % kColumns;
    return sums[column / kColumns * polykem::cuda::kTileSums + in_tile / 8 * 64 + row % 2 * 32 + in_tile % 8 * 4 +
                row / 2];
  });
}

/// Returns the number of warps of a block: as many as leave few of them idle when the last tiles of 32 rows are
/// computed, and as leave room for two blocks on a multiprocessor.
constexpr uint32_t warps_of(uint32_t n) {
  return n == 640 ? 5 : n == 976 ? 8 : 7;
}

constexpr bool fits(uint32_t n) {
  return shared_bytes_sa_shake(n, warps_of(n)) <= shake_shared_bytes(n);
}
static_assert(fits(640) && fits(976) && fits(1344));

}  // namespace

void mul_a_s_shake(LaunchContext& context) {
  const uint32_t tiles = (context.sizes.n + 31) / 32;
  context.to.launch_with_shared_memory(pair_bytes(context.sizes.n), mul_a_s_shake_kernel, context.count() * tiles, 32,
                                       context.io.pk_out, context.io.sk_out, context.noise, context.sizes, tiles);
}

void mul_s_a_shake(LaunchContext& context) {
  const uint32_t warps = warps_of(context.sizes.n);
  context.to.launch_with_shared_memory(shared_bytes_sa_shake(context.sizes.n, warps), mul_s_a_shake_kernel,
                                       context.count(), 32 * warps, target_of(context), pk_of(context), context.noise,
                                       context.sizes);
}

}  // namespace polykem::frodo::cuda
