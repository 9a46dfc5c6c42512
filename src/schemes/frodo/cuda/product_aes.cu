// SPDX-License-Identifier: Apache-2.0
// Products with A by AES-128: one block of threads computes an item. A lane encrypts the blocks whose words are its
// share of the tensor cores' tiles, so that A goes from registers to products without a detour. Warps share the work by
// steps, which need not end where a tile ends; sums are added up in shared memory.
#include "schemes/frodo/cuda/blocks_aes.cuh"
#include "schemes/frodo/cuda/records.cuh"
#include "schemes/frodo/matmul/cuda/tile.cuh"

namespace polykem::frodo::cuda {

namespace {

using polykem::cuda::mma_16x8x32;

/// The steps [first, end) that this warp does of `all` steps.
struct WarpSteps {
  uint32_t first, end;
  __device__ __forceinline__ explicit WarpSteps(uint32_t all) {
    const uint32_t warp = threadIdx.x / 32;
    first = all * warp / kAesWarps;
    end = all * (warp + 1) / kAesWarps;
  }
};

/// Computes gen_a, matmul.as and pack: B = A S + E of one item, into pk and the copy of pk in sk. A step is 16 rows and
/// four groups of eight columns: lane 4 g + t has group t of rows g and g + 8.
__global__ void __launch_bounds__(kAesThreads, 1)
    mul_a_s_aes_kernel(uint8_t* pk, uint8_t* sk, const uint8_t* noise, Sizes sizes) {
  extern __shared__ __align__(128) uint4 shared_memory[];
  const uint32_t n = sizes.n, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const size_t item = blockIdx.x;
  uint8_t* const record = pk + item * sizes.pk_bytes;
  const uint8_t* const s_rows = noise + item * sizes.noise_stride;
  const AesBlock aes(reinterpret_cast<uint8_t*>(shared_memory), n, record);
  for (uint32_t k = threadIdx.x; k < 2 * s_stride(n); k += kAesThreads) {
    const uint32_t row = k / (s_stride(n) / 4), column = 4 * (k % (s_stride(n) / 4));
    reinterpret_cast<uint32_t*>(aes.s())[k] =
        column < n ? *reinterpret_cast<const uint32_t*>(s_rows + row * n + column) : 0;
  }
  __syncthreads();
  const uint32_t groups = n / 8, steps_of_tile = (groups + 3) / 4;
  const WarpSteps steps(n / 16 * steps_of_tile);
  int low[4] = {}, high[4] = {};
  uint32_t tile = steps.first / steps_of_tile, in_tile = steps.first % steps_of_tile;
  uint4 row0 = aes.row(16 * tile + g), row1 = aes.row(16 * tile + 8 + g);
#pragma unroll 1
  for (uint32_t step = steps.first; step < steps.end; ++step) {
    const uint32_t group = 4 * in_tile + t;
    const uint4 columns = aes.columns(min(group, groups - 1));
    const uint2 s = *reinterpret_cast<const uint2*>(aes.s() + g * s_stride(n) + 8 * group);
    uint32_t a[2][4];
    aes.elements(a, row0, columns, row1, columns);
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      const uint32_t four = k == 0 ? s.x : s.y;
      const uint32_t b[2] = {__byte_perm(four, 0, 0x4140), __byte_perm(four, 0, 0x4342)};
      const uint32_t tile_of_a[4] = {a[0][2 * k], a[1][2 * k], a[0][2 * k + 1], a[1][2 * k + 1]};
      mma_16x8x32<false, true>(low, tile_of_a, b);
      mma_16x8x32<false, true>(high, tile_of_a, {b[0] << 8, b[1] << 8});
    }
    if (++in_tile < steps_of_tile && step + 1 < steps.end) continue;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      atomicAdd(&aes.sums()[128 * tile + 32 * k + lane], low[k] + (high[k] << 8));
      low[k] = high[k] = 0;
    }
    in_tile = 0;
    tile = min(tile + 1, n / 16 - 1);
    row0 = aes.row(16 * tile + g), row1 = aes.row(16 * tile + 8 + g);
  }
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < n; i += kAesThreads) {
    int error[kBar];
    load_errors(error, s_rows + kBar * n + kBar * i);
    uint32_t b[kBar], words[4];
#pragma unroll
    for (uint32_t j = 0; j < kBar; ++j) {
      const int sum = aes.sums()[128 * (i / 16) + 64 * (i % 16 / 8) + 32 * (j % 2) + i % 8 * 4 + j / 2];
      b[j] = static_cast<uint32_t>(sum + error[j]);
    }
    pack8(words, b, sizes.logq);
    store_packed(aes.packed(), i, words, sizes.logq);
  }
  __syncthreads();
  store_packed_rows(record + kSeedABytes, aes.packed(), n * sizes.logq);
  store_packed_rows(sk + item * sizes.sk_bytes + sizes.pk_offset + kSeedABytes, aes.packed(), n * sizes.logq);
}

/// Computes gen_a, matmul.sa, and pack.c1 or a part of compare: B' = S' A + E' of one item. A step is eight rows and
/// eight groups of eight columns: lane 4 g + t has group g of rows t and t + 4. A word of A has two elements of
/// different columns, four bytes; S' is multiplied with one byte at a time, the others' places in the tile being zero.
__global__ void __launch_bounds__(kAesThreads, 1)
    mul_s_a_aes_kernel(Ciphertexts target, Records seeds, const uint8_t* noise, Sizes sizes) {
  extern __shared__ __align__(128) uint4 shared_memory[];
  const uint32_t n = sizes.n, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const size_t item = blockIdx.x;
  const uint8_t* const s_rows = noise + item * sizes.noise_stride;
  const AesBlock aes(reinterpret_cast<uint8_t*>(shared_memory), n, seeds[item]);
  for (uint32_t k = threadIdx.x; k < kBar * n; k += kAesThreads)
    aes.s()[k % n * kBar + k / n] = s_rows[k];
  __syncthreads();
  const uint32_t groups = n / 8, steps_of_tile = n / 8;
  const WarpSteps steps((groups + 7) / 8 * steps_of_tile);
  int sum[2][4][4] = {};
  uint32_t tile = steps.first / steps_of_tile, in_tile = steps.first % steps_of_tile;
  uint4 columns = aes.columns(min(8 * tile + g, groups - 1));
#pragma unroll 1
  for (uint32_t step = steps.first; step < steps.end; ++step) {
    const uint32_t row = 8 * in_tile + t;
    const uint32_t s0 = aes.s()[row * kBar + g], s1 = aes.s()[(row + 4) * kBar + g];
    uint32_t a[2][4];
    aes.elements(a, aes.row(row), columns, aes.row(row + 4), columns);
#pragma unroll
    for (int w = 0; w < 2; ++w) {
#pragma unroll
      for (int byte = 0; byte < 4; ++byte)
        mma_16x8x32<false, true>(sum[w][byte], {a[0][w], a[0][w + 2], a[1][w], a[1][w + 2]},
                                 {s0 << (8 * byte), s1 << (8 * byte)});
    }
    if (++in_tile < steps_of_tile && step + 1 < steps.end) continue;
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      const int w = k / 8, odd = k / 4 % 2, entry = k % 4;
      atomicAdd(&aes.sums()[512 * tile + 32 * k + lane], sum[w][2 * odd][entry] + (sum[w][2 * odd + 1][entry] << 8));
      sum[w][2 * odd][entry] = sum[w][2 * odd + 1][entry] = 0;
    }
    in_tile = 0;
    ++tile;
    columns = aes.columns(min(8 * tile + g, groups - 1));
  }
  __syncthreads();
  const int* const sums = aes.sums();
  finish_c1(target, item, s_rows + kBar * n, sizes, aes.packed(), aes.mismatch(),
            [sums](uint32_t column, uint32_t row) {
              const uint32_t word = column % 8 / 2, k = word % 2 * 8 + column % 2 * 4 + word / 2 * 2 + row % 2;
              return sums[column / 64 * 512 + 32 * k + column / 8 % 8 * 4 + row / 2];
            });
}

}  // namespace

void mul_a_s_aes(LaunchContext& context) {
  context.to.launch_with_shared_memory(aes_layout(context.sizes.n).end, mul_a_s_aes_kernel, context.count(),
                                       kAesThreads, context.io.pk_out, context.io.sk_out, context.noise, context.sizes);
}

void mul_s_a_aes(LaunchContext& context) {
  context.to.launch_with_shared_memory(aes_layout(context.sizes.n).end, mul_s_a_aes_kernel, context.count(),
                                       kAesThreads, target_of(context), pk_of(context), context.noise, context.sizes);
}

}  // namespace polykem::frodo::cuda
