// SPDX-License-Identifier: Apache-2.0
// One key for the whole batch: A is generated once, as two limbs of a byte with columns contiguous, and the rows of all
// items' S' are multiplied with it as one large product. Eight more columns are B of the key, so that S' B comes along.
#include "prim/matmul/cuda/gemm_limbs.cuh"
#include "schemes/frodo/cuda/blocks_aes.cuh"
#include "schemes/frodo/cuda/records.cuh"
#include "schemes/frodo/cuda/rows_shake.cuh"

namespace polykem::frodo::cuda {

namespace {

using polykem::cuda::GemmTile;
using polykem::cuda::kGemmColumns;
using polykem::cuda::kGemmInner;
using polykem::cuda::kGemmRows;

static_assert(kLimbColumns == kGemmColumns && kLimbRows == kGemmInner);

/// The limbs in memory: limb, column, row. Rows from n on are zero; columns from n + 8 on are not written.
struct LimbMatrix {
  uint8_t* base;
  uint32_t columns, rows;

  __device__ __forceinline__ uint8_t* column(uint32_t limb, uint32_t c) const {
    return base + (size_t{limb} * columns + c) * rows;
  }
  __device__ __forceinline__ void store(uint32_t row, uint32_t c, uint32_t value) const {
    column(0, c)[row] = static_cast<uint8_t>(value);
    column(1, c)[row] = static_cast<uint8_t>(value >> 8);
  }
};

/// gen_a by SHAKE128: a thread squeezes a row.
__global__ void __launch_bounds__(32) gen_a_shake_kernel(LimbMatrix a, const uint8_t* seed_a, uint32_t n) {
  const uint32_t row = 32 * blockIdx.x + threadIdx.x;
  uint32_t seed[4];
  load_seed(seed, seed_a);
  uint64_t state[25];
  absorb_row(state, row, seed);
#pragma unroll 1
  for (uint32_t first = 0; first < n; first += 4 * kRowRate) {
    keccak_f1600(state);
#pragma unroll
    for (uint32_t k = 0; k < 4 * kRowRate; ++k) {
      if (row < n && first + k < n) a.store(row, first + k, static_cast<uint32_t>(state[k / 4] >> (16 * (k % 4))));
    }
  }
}

constexpr uint32_t kAesRows = 16;  ///< rows that a block of gen_a_aes_kernel makes

/// gen_a by AES-128.
__global__ void __launch_bounds__(kAesThreads, 1) gen_a_aes_kernel(LimbMatrix a, const uint8_t* seed_a, uint32_t n) {
  extern __shared__ __align__(128) uint4 shared_memory[];
  const AesBlock aes(reinterpret_cast<uint8_t*>(shared_memory), n, seed_a);
  __syncthreads();
  const uint32_t row = kAesRows * blockIdx.x + threadIdx.x % kAesRows, groups = n / 8;
#pragma unroll 1
  for (uint32_t group = threadIdx.x / kAesRows * 2; group < groups; group += kAesThreads / kAesRows * 2) {
    uint32_t words[2][4];
    aes.elements(words, aes.row(row), aes.columns(group), aes.row(row), aes.columns(min(group + 1, groups - 1)));
#pragma unroll
    for (uint32_t k = 0; k < 16; ++k) {
      if (8 * group + k < n) a.store(row, 8 * group + k, words[k / 8][k % 8 / 2] >> (16 * (k % 2)));
    }
  }
}

/// unpack.b: the eight columns of B behind those of A; and zeros in the rows from n on. A block has a column.
__global__ void __launch_bounds__(128) add_b_kernel(LimbMatrix a, const uint8_t* b, Sizes sizes) {
  const uint32_t c = blockIdx.x, n = sizes.n;
  for (uint32_t row = n + threadIdx.x; row < a.rows; row += blockDim.x)
    a.store(row, c, 0);
  if (c < n) return;
  for (uint32_t row = threadIdx.x; row < n; row += blockDim.x) {
    uint32_t words[4], eight[kBar], value = 0;
    load_packed(words, b + row * sizes.logq, sizes.logq);
    unpack8(eight, words, sizes.logq);
#pragma unroll
    for (uint32_t j = 0; j < kBar; ++j)
      value = j == c - n ? eight[j] : value;
    a.store(row, c, value);
  }
}

constexpr uint32_t kGemmItems = kGemmRows / kBar;  ///< items of a block's tile
/// Shared memory: sums, then packed rows; 4 bytes before and after them are read.
constexpr uint32_t kPackedBytes = kGemmRows * 2 * kGemmColumns;
constexpr size_t kSharedProductBytes = polykem::cuda::kGemmShared + kPackedBytes + 4;

/// E' is added and the rows are packed side by side; S' B goes into v: 64 words for each item.
__device__ __forceinline__ void pack_tile(uint8_t* packed, uint16_t* v, const uint16_t* sums, const uint8_t* noise,
                                          const Sizes& sizes, size_t first_item, uint32_t first_column, size_t count) {
#pragma unroll 1
  for (uint32_t k = threadIdx.x; k < kGemmRows * 8; k += blockDim.x) {
    const uint32_t row = k / 8, group = k % 8, column = first_column + 8 * group;
    const size_t item = first_item + row / kBar;
    if (item >= count || column > sizes.n) continue;
    const uint4 eight = *reinterpret_cast<const uint4*>(sums + row * polykem::cuda::kGemmStride + 8 * group);
    if (column == sizes.n) {
      reinterpret_cast<uint4*>(v)[item * kBar + row % kBar] = eight;
      continue;
    }
    int error[kBar];
    load_errors(error, noise + item * sizes.noise_stride + kBar * sizes.n + row % kBar * sizes.n + column);
    const uint32_t pairs[4] = {eight.x, eight.y, eight.z, eight.w};
    uint32_t c[kBar], words[4];
#pragma unroll
    for (uint32_t j = 0; j < kBar; ++j)
      c[j] = (pairs[j / 2] >> (16 * (j % 2))) + static_cast<uint32_t>(error[j]);
    pack8(words, c, sizes.logq);
    store_packed(packed, k, words, sizes.logq);
  }
  __syncthreads();
}

/// matmul.sa, pack.c1 or a part of compare for 16 items and 64 columns. In decaps the kernel adds to fail, which is 0
/// before.
__global__ void __launch_bounds__(polykem::cuda::kGemmThreads, 3)
    mul_sa_shared_kernel(C1Target target, uint16_t* v, LimbMatrix a, const uint8_t* noise, Sizes sizes, size_t count) {
  extern __shared__ __align__(128) uint4 shared_memory[];
  auto* const shared = reinterpret_cast<uint8_t*>(shared_memory);
  const uint32_t tiles = a.columns / kGemmColumns, first_column = blockIdx.x % tiles * kGemmColumns;
  const size_t first_item = size_t{blockIdx.x / tiles} * kGemmItems;
  auto* const sums = reinterpret_cast<uint16_t*>(shared);
  {
    GemmTile tile(shared);
    const auto last = static_cast<uint32_t>(min(count - 1 - first_item, size_t{kGemmItems - 1}));
    tile.multiply(
        a.rows / kGemmInner, noise + first_item * sizes.noise_stride,
        [&](uint32_t r) { return min(r / uint32_t{kBar}, last) * sizes.noise_stride + r % kBar * sizes.n; },
        a.column(0, first_column), [&](uint32_t limb, uint32_t c) { return (limb * a.columns + c) * a.rows; });
    tile.store(sums);
  }
  uint8_t* const packed = shared + polykem::cuda::kGemmShared;
  pack_tile(packed, v, sums, noise, sizes, first_item, first_column, count);
  if (first_column >= sizes.n) return;
  const uint32_t bytes = min(sizes.n - first_column, uint32_t{kGemmColumns}) / 8 * sizes.logq, lane = threadIdx.x % 32;
  uint32_t difference = 0;
#pragma unroll 1
  for (uint32_t row = threadIdx.x / 32 * 32; row < threadIdx.x / 32 * 32 + 32; ++row) {
    const size_t item = first_item + row / kBar;
    if (item >= count) return;
    const uint8_t* const from = packed + row * 8 * sizes.logq;
    const size_t offset = item * sizes.ct_bytes + (row % kBar * sizes.n + first_column) / 8 * sizes.logq;
    if (target.ct != nullptr) {
      polykem::cuda::store_record(target.ct + offset, static_cast<int>(bytes), lane,
                                  [&](int at) { return shared_word(from, at); });
      continue;
    }
    if (4 * lane < bytes)
      difference |= polykem::cuda::record_word(target.own + offset, static_cast<int>(lane), static_cast<int>(bytes)) ^
                    shared_word(from, 4 * lane);
    if (row % kBar == kBar - 1) {
      atomicOr(&target.fail[item], difference);
      difference = 0;
    }
  }
}

}  // namespace

void mul_sa_shared(LaunchContext& t) {
  const uint32_t n = t.sizes.n;
  const LimbMatrix a{t.limbs, limb_columns(n), limb_rows(n)};
  const uint8_t* const pk = pk_of(t).base;
  if (t.set.gen_a == GenA::shake) {
    t.launch(gen_a_shake_kernel, polykem::cuda::blocks_for(n, 32), 32, 0, a, pk, n);
  } else {
    t.launch(gen_a_aes_kernel, n / kAesRows, kAesThreads, aes_layout(n).end, a, pk, n);
  }
  t.launch(add_b_kernel, n + kBar, 128, 0, a, pk + kSeedABytes, t.sizes);
  t.launch(mul_sa_shared_kernel, polykem::cuda::blocks_for(t.count(), kGemmItems) * (a.columns / kGemmColumns),
           polykem::cuda::kGemmThreads, kSharedProductBytes, c1_of(t), t.v, a, t.noise, t.sizes, t.count());
}

}  // namespace polykem::frodo::cuda
