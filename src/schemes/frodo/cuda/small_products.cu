// SPDX-License-Identifier: Apache-2.0
// The 8 x 8 products and what surrounds them. One warp computes one item.
#include "prim/cuda/warp.cuh"
#include "schemes/frodo/cuda/records.cuh"

namespace polykem::frodo::cuda {

namespace {

using polykem::cuda::warp_lane;

constexpr int kWarps = 4;  ///< warps per block
constexpr int kThreads = 32 * kWarps;

__device__ __forceinline__ size_t warp_item() {
  return blockIdx.x * size_t{kWarps} + threadIdx.x / 32;
}

/// Adds up 2 kHalf values over the warp; the sums that a lane ends with are in v[0] and v[1].
template <int kHalf>
__device__ __forceinline__ void warp_sums(uint32_t (&v)[kSquare], unsigned lane) {
  const bool upper = (lane & (kHalf / 2)) != 0;
#pragma unroll
  for (int k = 0; k < kHalf; ++k) {
    const uint32_t kept = upper ? v[k + kHalf] : v[k], given = upper ? v[k] : v[k + kHalf];
    v[k] = kept + __shfl_xor_sync(0xffffffff, given, kHalf / 2);
  }
  if constexpr (kHalf > 2) warp_sums<kHalf / 2>(v, lane);
}

/// Adds up 64 values over the warp; lane k ends with the sums of the values 2 k and 2 k + 1, in v[0] and v[1].
__device__ __forceinline__ void warp_sums(uint32_t (&v)[kSquare], unsigned lane) {
  warp_sums<kSquare / 2>(v, lane);
}

/// Encodes the bits of mu that coefficient `index` takes, in its highest bits. [FRODO21, Alg 1]
__device__ __forceinline__ uint32_t encoded(const uint8_t* mu, uint32_t index, const Sizes& sizes) {
  const uint32_t bit = index * sizes.bits;
  const uint32_t two = mu[bit / 8] | (static_cast<uint32_t>(mu[bit / 8 + 1]) << 8);
  return (two >> (bit % 8) & ((1u << sizes.bits) - 1)) << (sizes.logq - sizes.bits);
}

/// Adds this lane's part of S' B to v.
__device__ __forceinline__ void add_s_b(uint32_t (&v)[kSquare], const uint8_t* s, const uint8_t* packed,
                                        const Sizes& sizes, unsigned lane) {
#pragma unroll 1
  for (uint32_t i = lane; i < sizes.n; i += 32) {
    uint32_t words[4], b[kBar];
    load_packed(words, packed + i * sizes.logq, sizes.logq);
    unpack8(b, words, sizes.logq);
#pragma unroll
    for (int r = 0; r < static_cast<int>(kBar); ++r) {
      const auto factor = static_cast<uint32_t>(static_cast<int8_t>(s[r * sizes.n + i]));
#pragma unroll
      for (int j = 0; j < static_cast<int>(kBar); ++j)
        v[kBar * r + j] += factor * b[j];
    }
  }
}

/// Computes unpack.b, matmul.sb, encode, and pack.c2 or compare: C = S' B + E'' + Encode(mu) is stored with the salt
/// behind c1, or compared with the ciphertext; fail has the result of comparing c1. products: S' B if it has been
/// computed, else nullptr.
__global__ void __launch_bounds__(kThreads)
    encrypt_mu_kernel(Ciphertexts target, Records pk, const uint16_t* products, const uint8_t* noise, Rows coins,
                      Sizes sizes, size_t count) {
  __shared__ alignas(16) uint8_t packed_rows[kWarps][16 + 8 * 16 + 16];
  __shared__ uint32_t coefficients[kWarps][kSquare];
  const unsigned lane = warp_lane();
  const size_t item = warp_item();
  if (item >= count) return;
  uint8_t* const packed = packed_rows[threadIdx.x / 32] + 16;
  uint32_t* const c = coefficients[threadIdx.x / 32];
  const uint8_t* const s = noise + item * sizes.noise_stride;
  uint32_t v[kSquare] = {};
  if (products == nullptr) {
    add_s_b(v, s, pk[item] + kSeedABytes, sizes, lane);
    warp_sums(v, lane);
  } else {
    const uint32_t both = reinterpret_cast<const uint32_t*>(products)[item * (kSquare / 2) + lane];
    v[0] = both, v[1] = both >> 16;
  }
  const uint8_t* const mu = coins[item];
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    const uint32_t index = 2 * lane + k;
    const auto error = static_cast<int8_t>(s[2 * kBar * sizes.n + index]);
    c[index] = v[k] + static_cast<uint32_t>(error) + encoded(mu, index, sizes);
  }
  __syncwarp();
  if (lane < kBar) {
    uint32_t eight[kBar], words[4];
#pragma unroll
    for (int k = 0; k < static_cast<int>(kBar); ++k)
      eight[k] = c[kBar * lane + k];
    pack8(words, eight, sizes.logq);
    store_packed(packed, lane, words, sizes.logq);
  }
  __syncwarp();
  const uint32_t bytes = kBar * sizes.logq;
  uint8_t* const ct = target.ct + item * sizes.ct_bytes;
  if (target.stored()) {
    polykem::cuda::store_record(ct + sizes.c2_offset, static_cast<int>(bytes), lane,
                                [&](int at) { return shared_word(packed, at); });
    for (uint32_t k = lane; k < 8 * sizes.salt_words; k += 32)
      ct[sizes.salt_offset + k] = mu[sizes.secret_bytes() + k];
    return;
  }
  uint32_t difference = 0;
  for (uint32_t k = lane; k < bytes; k += 32)
    difference |= static_cast<uint32_t>(packed[k] ^ ct[sizes.c2_offset + k]);
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2)
    difference |= __shfl_xor_sync(0xffffffff, difference, distance);
  if (lane == 0) target.fail[item] |= difference;
}

/// Computes unpack.c, matmul.bs and decode: M = C - B' S and mu. Rows of coins get mu and the salt, rows of pkh the
/// hash of the key; fail becomes 0. S is any 16-bit words, since sk may be any bytes.
__global__ void __launch_bounds__(kThreads) decrypt_mu_kernel(Rows coins, Rows pkh, uint32_t* fail, Records ct_records,
                                                              Records sk_records, Sizes sizes, size_t count) {
  __shared__ uint32_t coefficients[kWarps][kSquare];
  const unsigned lane = warp_lane();
  const size_t item = warp_item();
  if (item >= count) return;
  uint32_t* const c = coefficients[threadIdx.x / 32];
  const uint8_t* const ct = ct_records[item];
  const uint8_t* const sk = sk_records[item];
  const uint32_t groups = sizes.n / 8;
  uint32_t m[kSquare] = {};
#pragma unroll 1
  for (uint32_t q = lane; q < groups; q += 32) {
    uint32_t s[kBar][4];
#pragma unroll
    for (int j = 0; j < static_cast<int>(kBar); ++j) {
#pragma unroll
      for (int w = 0; w < 4; ++w)
        s[j][w] = polykem::cuda::record_word(sk + sizes.s_offset + 2 * (j * sizes.n + 8 * q), w, 16);
    }
#pragma unroll
    for (int r = 0; r < static_cast<int>(kBar); ++r) {
      uint32_t words[4], b[kBar];
      load_packed(words, ct + (r * groups + q) * sizes.logq, sizes.logq);
      unpack8(b, words, sizes.logq);
#pragma unroll
      for (int j = 0; j < static_cast<int>(kBar); ++j) {
#pragma unroll
        for (int k = 0; k < static_cast<int>(kBar); ++k)
          m[kBar * r + j] += b[k] * (k % 2 == 0 ? s[j][k / 2] : s[j][k / 2] >> 16);
      }
    }
  }
  warp_sums(m, lane);
  if (lane < kBar) {
    uint32_t words[4], eight[kBar];
    load_packed(words, ct + sizes.c2_offset + lane * sizes.logq, sizes.logq);
    unpack8(eight, words, sizes.logq);
#pragma unroll
    for (int k = 0; k < static_cast<int>(kBar); ++k)
      c[kBar * lane + k] = eight[k];
  }
  __syncwarp();
  const uint32_t shift = sizes.logq - sizes.bits;
#pragma unroll
  for (int k = 0; k < 2; ++k)  // Decode: rounded to B bits. [FRODO21, Alg 2]
    c[2 * lane + k] = (c[2 * lane + k] - m[k] + (1u << (shift - 1))) >> shift;
  __syncwarp();
  if (lane == 0) fail[item] = 0;
  uint8_t* const row = coins[item];
  const uint32_t secret = sizes.secret_bytes();
  if (lane < secret) {
    // Byte k has the bits 8 k .. 8 k + 7: those of at most five coefficients.
    const uint32_t first = sizes.bits == 3 ? 8 * lane / 3 : 8 * lane / 2 >> (sizes.bits / 4);
    uint64_t bits = 0;
#pragma unroll
    for (uint32_t k = 0; k < 5; ++k)
      bits |= static_cast<uint64_t>(c[min(first + k, 63u)] & ((1u << sizes.bits) - 1)) << (k * sizes.bits);
    const auto byte = static_cast<uint32_t>(bits >> (8 * lane - first * sizes.bits));
    row[lane] = static_cast<uint8_t>(byte);
    pkh[item][lane] = sk[sizes.pkh_offset + lane];
  }
  for (uint32_t k = lane; k < 8 * sizes.salt_words; k += 32)
    row[secret + k] = ct[sizes.salt_offset + k];
}

/// Computes store_sk: stores S transposed as 16-bit words.
__global__ void __launch_bounds__(kThreads)
    store_s_kernel(uint8_t* sk, const uint8_t* noise, Sizes sizes, size_t count) {
  const size_t item = warp_item();
  if (item >= count) return;
  const uint8_t* const s = noise + item * sizes.noise_stride;
  const auto word = [s](int k) {
    return static_cast<uint32_t>(static_cast<uint16_t>(static_cast<int8_t>(s[k < 0 ? 0 : k])));
  };
  polykem::cuda::store_record(sk + item * sizes.sk_bytes + sizes.s_offset, static_cast<int>(2 * kBar * sizes.n),
                              warp_lane(), [&](int at) {
                                const int k = at >> 1;
                                return __funnelshift_r(word(k) | word(k + 1) << 16, word(k + 2), 8 * (at & 1));
                              });
}

}  // namespace

void encrypt_mu(LaunchContext& context) {
  context.to.launch(encrypt_mu_kernel, polykem::cuda::blocks_for(context.count(), kWarps), kThreads, target_of(context),
                    pk_of(context), context.keeps_a() ? context.v : nullptr, context.noise, coins_of(context),
                    context.sizes, context.count());
}

void decrypt_mu(LaunchContext& context) {
  context.to.launch(decrypt_mu_kernel, polykem::cuda::blocks_for(context.count(), kWarps), kThreads, coins_of(context),
                    pkh_of(context), context.fail, ct_of(context), sk_of(context), context.sizes, context.count());
}

void store_s(LaunchContext& context) {
  context.to.launch(store_s_kernel, polykem::cuda::blocks_for(context.count(), kWarps), kThreads, context.io.sk_out,
                    context.noise, context.sizes, context.count());
}

}  // namespace polykem::frodo::cuda
