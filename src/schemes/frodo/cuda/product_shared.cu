// SPDX-License-Identifier: Apache-2.0
// Products for one key that serves the whole batch. A is generated once, as two limbs of one byte each, with columns
// contiguous, or comes in this form from a key set. The rows of all items' S' are multiplied with it as one large
// product. Eight more columns are B of the key, so that the product includes S' B.
#include "schemes/frodo/cuda/blocks_aes.cuh"
#include "schemes/frodo/cuda/records.cuh"
#include "schemes/frodo/cuda/rows_shake.cuh"
#include "schemes/frodo/matmul/cuda/gemm_limbs.cuh"

namespace polykem::frodo::cuda {

namespace {

using polykem::cuda::GemmTile;
using polykem::cuda::kGemmColumns;
using polykem::cuda::kGemmInner;
using polykem::cuda::kGemmRows;

static_assert(kLimbColumns == kGemmColumns && kLimbRows == kGemmInner);

/// The limbs in memory, in the order limb, column, row. Rows from n on are zero; columns from n + 8 on are not written.
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

/// Computes gen_a by SHAKE128. A thread squeezes a row.
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

constexpr uint32_t kAesRows = 16;  ///< the number of rows that a block of gen_a_aes_kernel makes

/// Computes gen_a by AES-128.
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

/// Computes unpack.b: writes the eight columns of B behind those of A, and zeros in the rows from n on. A block has a
/// column.
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

/// The number of blocks for which a multiprocessor must have registers. Three were measured on compute capability 9.0;
/// others but 10.0 have no shared memory for so many, and the small products that stand for one on 7.5 need more
/// registers.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr int kGemmBlocks = 1;
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 900
constexpr int kGemmBlocks = 2;
#else
constexpr int kGemmBlocks = 3;
#endif

constexpr uint32_t kGemmItems = kGemmRows / kBar;  ///< the number of items of a block's tile
/// The shared memory holds the steps of the product, then the tile's part of E'. The tile's sums replace the steps, but
/// for the first bytes: 4 before and after each packed row are read.
constexpr uint32_t kSumsOffset = 16, kErrorsOffset = polykem::cuda::kGemmShared;
constexpr size_t kSharedProductBytes = kErrorsOffset + kGemmRows * kGemmColumns;
static_assert(kSharedProductBytes <= shake_shared_bytes(640) && kSharedProductBytes <= aes_shared_bytes(640));
static_assert(kSumsOffset + 2 * kGemmRows * polykem::cuda::kGemmStride <= kErrorsOffset);

/// The destination of the sums of a block's tile.
struct TileOutput {
  Ciphertexts target;
  uint16_t* v;            ///< S' B: 64 words for each item
  const uint8_t* errors;  ///< E', in rows of kGemmColumns bytes
  const Sizes& sizes;
  size_t first_item, count;
  uint32_t first_column;

  /// Returns true if eight packed coefficients are 16 aligned bytes of a ciphertext.
  __device__ __forceinline__ bool aligned() const {
    return sizes.logq == 16 && ((reinterpret_cast<uintptr_t>(target.ct) | sizes.ct_bytes) & 15) == 0;
  }

  /// Returns the byte offset of eight coefficients in the ciphertexts.
  __device__ __forceinline__ size_t offset(uint32_t row, uint32_t column) const {
    return (first_item + row / kBar) * sizes.ct_bytes + (row % kBar * sizes.n + column) / 8 * sizes.logq;
  }

  /// Adds E' to the eight sums of a group of columns, and packs them.
  __device__ __forceinline__ void pack(uint32_t (&words)[4], uint4 eight, uint32_t row, uint32_t group) const {
    int error[kBar];
    load_errors(error, errors + row * kGemmColumns + kBar * group);
    const uint32_t pairs[4] = {eight.x, eight.y, eight.z, eight.w};
    uint32_t c[kBar];
#pragma unroll
    for (uint32_t j = 0; j < kBar; ++j)
      c[j] = (pairs[j / 2] >> (16 * (j % 2))) + static_cast<uint32_t>(error[j]);
    pack8(words, c, sizes.logq);
  }

  /// Adds to fail the differences between an item's ciphertext and its words. All lanes call it.
  __device__ __forceinline__ void add_difference(size_t item, uint32_t difference) const {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
      difference |= __shfl_xor_sync(0xffffffff, difference, distance);
    if (threadIdx.x % 32 == 0) atomicOr(&target.fail[item], difference);
  }

  /// Does everything if the ciphertexts are aligned. Otherwise it stores S' B, and replaces each row of sums by its
  /// packed bytes.
  __device__ __forceinline__ void finish_groups(uint16_t* sums) const {
    constexpr uint32_t kGroups = kGemmColumns / 8;  // the groups of a row, which are in one warp
    const bool direct = aligned();
#pragma unroll 2
    for (uint32_t k = threadIdx.x; k < kGemmRows * kGroups; k += polykem::cuda::kGemmThreads) {
      const uint32_t row = k / kGroups, group = k % kGroups, column = first_column + 8 * group;
      const size_t item = first_item + row / kBar;
      if (item >= count) break;
      uint16_t* const own_sums = sums + row * polykem::cuda::kGemmStride;
      const uint4 eight = *reinterpret_cast<const uint4*>(own_sums + 8 * group);
      uint8_t* const ct = target.ct + offset(row, column);
      uint32_t words[4], difference = 0;
      __syncwarp();
      if (column == sizes.n) reinterpret_cast<uint4*>(v)[item * kBar + row % kBar] = eight;
      if (column < sizes.n) {
        pack(words, eight, row, group);
        if (!direct) {
          store_packed(reinterpret_cast<uint8_t*>(own_sums), group, words, sizes.logq);
        } else if (target.stored()) {
          store_packed(ct, 0, words, 16);
        } else {
          const uint4 own = *reinterpret_cast<const uint4*>(ct);
          difference = (own.x ^ byte_swapped(words[0])) | (own.y ^ byte_swapped(words[1])) |
                       (own.z ^ byte_swapped(words[2])) | (own.w ^ byte_swapped(words[3]));
        }
      }
      if (direct && !target.stored()) add_difference(item, difference);
    }
  }

  /// Stores or compares ciphertexts of any alignment, from rows of packed bytes. A warp has an item.
  __device__ __forceinline__ void finish_rows(const uint16_t* rows) const {
    if (first_column >= sizes.n) return;
    const uint32_t columns = min(sizes.n - first_column, uint32_t{kGemmColumns}), bytes = columns / 8 * sizes.logq;
    const uint32_t lane = threadIdx.x % 32;
#pragma unroll 1
    for (uint32_t i = threadIdx.x / 32; i < kGemmItems; i += polykem::cuda::kGemmThreads / 32) {
      const size_t item = first_item + i;
      if (item >= count) return;
      uint32_t difference = 0;
#pragma unroll 1
      for (uint32_t row = kBar * i; row < kBar * (i + 1); ++row) {
        const auto* const from = reinterpret_cast<const uint8_t*>(rows + row * polykem::cuda::kGemmStride);
        uint8_t* const ct = target.ct + offset(row, first_column);
        if (target.stored()) {
          polykem::cuda::store_record(ct, static_cast<int>(bytes), lane, [&](int at) { return shared_word(from, at); });
          continue;
        }
        for (uint32_t at = 4 * lane; at < bytes; at += 4 * 32)
          difference |=
              shared_word(from, at) ^ polykem::cuda::record_word(ct, static_cast<int>(at / 4), static_cast<int>(bytes));
      }
      if (!target.stored()) add_difference(item, difference);
    }
  }
};

/// Computes matmul.sa, and pack.c1 or a part of compare, for 16 items and 64 columns. In decaps the kernel adds to
/// fail, which is 0 before.
__global__ void __launch_bounds__(polykem::cuda::kGemmThreads, kGemmBlocks)
    mul_s_a_shared_kernel(Ciphertexts target, uint16_t* v, LimbMatrix a, const uint8_t* noise, Sizes sizes,
                          size_t count) {
  extern __shared__ __align__(128) uint4 shared_memory[];
  auto* const shared = reinterpret_cast<uint8_t*>(shared_memory);
  const uint32_t tiles = a.columns / kGemmColumns, first_column = blockIdx.x % tiles * kGemmColumns;
  const size_t first_item = size_t{blockIdx.x / tiles} * kGemmItems;
  auto* const sums = reinterpret_cast<uint16_t*>(shared + kSumsOffset);
  uint8_t* const errors = shared + kErrorsOffset;
  {
    const uint8_t* const first = noise + first_item * sizes.noise_stride;
    const auto last = static_cast<uint32_t>(min(count - 1 - first_item, size_t{kGemmItems - 1}));
    const auto row = [&](uint32_t r) {
      return min(r / uint32_t{kBar}, last) * sizes.noise_stride + r % kBar * sizes.n;
    };
    constexpr uint32_t kPieces = kGemmColumns / 16;
    for (uint32_t k = threadIdx.x; k < kGemmRows * kPieces; k += polykem::cuda::kGemmThreads) {
      const uint8_t* const from = first + kBar * sizes.n + first_column + k % kPieces * 16;
      polykem::cuda::begin_copy_by_l2(errors + 16 * k, from + row(k / kPieces));
    }
    GemmTile tile(shared);
    tile.multiply(a.rows / kGemmInner, first, row, a.column(0, first_column),
                  [&](uint32_t limb, uint32_t c) { return (limb * a.columns + c) * a.rows; });
    tile.store(sums);
  }
  const TileOutput output{target, v, errors, sizes, first_item, count, first_column};
  output.finish_groups(sums);
  if (output.aligned()) return;
  __syncthreads();
  output.finish_rows(sums);
}

}  // namespace

/// Computes the limbs of the one key.
void expand_key(LaunchContext& context) {
  const uint32_t n = context.sizes.n;
  const LimbMatrix a{context.limbs, limb_columns(n), limb_rows(n)};
  const uint8_t* const pk = pk_of(context).base;
  if (context.set.gen_a == GenA::kShake) {
    context.to.launch(gen_a_shake_kernel, polykem::cuda::blocks_for(n, 32), 32, a, pk, n);
  } else {
    context.to.launch_with_shared_memory(aes_layout(n).end, gen_a_aes_kernel, n / kAesRows, kAesThreads, a, pk, n);
  }
  context.to.launch(add_b_kernel, n + kBar, 128, a, pk + kSeedABytes, context.sizes);
}

void mul_s_a_shared(LaunchContext& context) {
  if (!context.has_expanded_key()) expand_key(context);
  const LimbMatrix a{context.limbs, limb_columns(context.sizes.n), limb_rows(context.sizes.n)};
  context.to.launch_with_shared_memory(
      kSharedProductBytes, mul_s_a_shared_kernel,
      polykem::cuda::blocks_for(context.count(), kGemmItems) * (a.columns / kGemmColumns), polykem::cuda::kGemmThreads,
      target_of(context), context.v, a, context.noise, context.sizes, context.count());
}

}  // namespace polykem::frodo::cuda
