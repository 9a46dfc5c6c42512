// SPDX-License-Identifier: Apache-2.0
// NTRU-HPS4096821 in the structure of the 2021 paper [SEONG21], for comparison: a block for each client, a thread for
// each coefficient where coefficients are independent, one thread where the paper found no parallelism (sort, hash).
#pragma once

#include <cstdint>

#include "prim/keccak/cuda/keccak.cuh"
#include "schemes/ntru/params.hpp"

namespace polykem::seong2021 {

inline constexpr ntru::NtruParams kSet = ntru::kHps4096821;
inline constexpr int kN = static_cast<int>(kSet.n);
inline constexpr uint32_t kMask = kSet.q() - 1;
inline constexpr int kTrits = static_cast<int>(kSet.trits_bytes());
inline constexpr int kPacked = static_cast<int>(kSet.rq_bytes());
inline constexpr int kCoins = static_cast<int>(kSet.encaps_coin_bytes());
inline constexpr int kHalfWeight = static_cast<int>(kSet.weight()) / 2;

/// Calls f(i) for 0 <= i < n; the threads of the block take turns. There is no barrier.
template <class F>
__device__ __forceinline__ void each(int n, F f) {
  for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x))
    f(i);
}

__device__ __forceinline__ uint32_t trit(uint32_t x) {
  return x % 3;
}

/// Expands a seed, with a Keccak state in each thread.
__device__ inline void randombytes(uint8_t* out, uint64_t seed) {
  each((kCoins + 135) / 136, [&](int block) {
    uint64_t state[25] = {};
    state[0] = seed;
    state[1] = static_cast<uint64_t>(block);
    state[2] = 0x1f;
    state[16] = 0x8000000000000000;
    cuda::keccak_f1600(state);
#pragma unroll
    for (int w = 0; w < 17; ++w) {
#pragma unroll
      for (int b = 0; b < 8; ++b) {
        if (136 * block + 8 * w + b < kCoins) out[136 * block + 8 * w + b] = static_cast<uint8_t>(state[w] >> (8 * b));
      }
    }
  });
}

__device__ inline void sample_iid(uint16_t* a, const uint8_t* coins) {
  each(kN, [&](int i) { a[i] = i < kN - 1 ? static_cast<uint16_t>(trit(coins[i])) : 0; });
}

__device__ inline void fixed_type_keys(int32_t* keys, const uint8_t* coins) {
  each(kN - 1, [&](int i) {
    const int bit = 30 * i;
    uint64_t word = 0;
    for (int b = 0; b < 5 && bit / 8 + b < static_cast<int>(kSet.fixed_type_coin_bytes()); ++b) {
      word |= static_cast<uint64_t>(coins[bit / 8 + b]) << (8 * b);
    }
    const uint32_t type = i < kHalfWeight ? 1 : i < 2 * kHalfWeight ? 2 : 0;
    keys[i] = static_cast<int32_t>((static_cast<uint32_t>(word >> (bit % 8)) << 2) | type);
  });
}

/// Sorts by a merge-exchange network, in the first thread alone.
__device__ inline void sort_alone(int32_t* keys, int count) {
  if (threadIdx.x != 0) return;
  int top = 1;
  while (2 * top < count)
    top *= 2;
  for (int p = top; p > 0; p /= 2) {
    int q = top, r = 0, distance = p;
    while (true) {
      for (int i = 0; i + distance < count; ++i) {
        if ((i & p) != r) continue;
        const int32_t low = min(keys[i], keys[i + distance]), high = max(keys[i], keys[i + distance]);
        keys[i] = low;
        keys[i + distance] = high;
      }
      if (q == p) break;
      distance = q - p;
      q /= 2;
      r = p;
    }
  }
}

__device__ inline void sample_fixed_type(uint16_t* a, int32_t* keys, const uint8_t* coins) {
  fixed_type_keys(keys, coins);
  __syncthreads();
  sort_alone(keys, kN - 1);
  __syncthreads();
  each(kN, [&](int i) { a[i] = i < kN - 1 ? static_cast<uint16_t>(keys[i] & 3) : 0; });
}

__device__ inline void z3_to_zq(uint16_t* out, const uint16_t* a) {
  each(kN, [&](int i) { out[i] = static_cast<uint16_t>(a[i] - 3u * (a[i] >> 1)); });
}

/// Algorithm 2 of the paper: the block's threads take the output coefficients in turn.
__device__ inline void rq_mul(uint16_t* c, const uint16_t* a, const uint16_t* b) {
  each(kN, [&](int k) {
    uint32_t sum = 0;
    for (int i = 0; i <= k; ++i)
      sum += static_cast<uint32_t>(a[k - i]) * b[i];
    for (int i = k + 1; i < kN; ++i)
      sum += static_cast<uint32_t>(a[kN + k - i]) * b[i];
    c[k] = static_cast<uint16_t>(sum);
  });
}

/// Works in place. a: values below 2^15.
__device__ inline void mod_3_phi(uint16_t* a) {
  const uint32_t last = 2 * trit(a[kN - 1]);
  __syncthreads();
  each(kN, [&](int i) { a[i] = static_cast<uint16_t>(trit(a[i] + last)); });
}

__device__ inline void rq_to_s3(uint16_t* out, const uint16_t* a) {
  constexpr uint32_t kMinusQ = (3 - kSet.q() % 3) % 3;
  each(kN, [&](int i) {
    const uint32_t x = a[i] & kMask;
    out[i] = static_cast<uint16_t>(trit(x + kMinusQ * (x >> (kSet.logq - 1))));
  });
}

__device__ inline void add(uint16_t* a, const uint16_t* b) {
  each(kN, [&](int i) { a[i] = static_cast<uint16_t>(a[i] + b[i]); });
}
__device__ inline void subtract(uint16_t* a, const uint16_t* b) {
  each(kN, [&](int i) { a[i] = static_cast<uint16_t>(a[i] - b[i]); });
}

__device__ inline void pack_trits(uint8_t* out, const uint16_t* a) {
  each(kTrits, [&](int k) {
    uint32_t byte = 0;
    for (int j = 4; j >= 0; --j)
      byte = 3 * byte + (5 * k + j < kN - 1 ? a[5 * k + j] : 0u);
    out[k] = static_cast<uint8_t>(byte);
  });
}
__device__ inline void unpack_trits(uint16_t* a, const uint8_t* in) {
  each(kTrits, [&](int k) {
    uint32_t rest = in[k];
    for (int j = 0; j < 5; ++j, rest /= 3) {
      if (5 * k + j < kN - 1) a[5 * k + j] = static_cast<uint16_t>(trit(rest));
    }
  });
  if (threadIdx.x == 0) a[kN - 1] = 0;
}

/// Two coefficients of twelve bits are three bytes.
__device__ inline void pack_rq(uint8_t* out, const uint16_t* a) {
  each((kN - 1) / 2, [&](int k) {
    const uint32_t both = (a[2 * k] & kMask) | ((a[2 * k + 1] & kMask) << 12);
    for (int b = 0; b < 3; ++b)
      out[3 * k + b] = static_cast<uint8_t>(both >> (8 * b));
  });
}
__device__ inline void unpack_rq(uint16_t* a, const uint8_t* in) {
  each((kN - 1) / 2, [&](int k) {
    const uint32_t both = in[3 * k] | (in[3 * k + 1] << 8) | (static_cast<uint32_t>(in[3 * k + 2]) << 16);
    a[2 * k] = static_cast<uint16_t>(both & kMask);
    a[2 * k + 1] = static_cast<uint16_t>(both >> 12);
  });
}
/// sums: 1024 words of working memory.
__device__ inline void last_from_sum(uint16_t* a, uint32_t* sums) {
  uint32_t sum = 0;
  each(kN - 1, [&](int i) { sum += a[i]; });
  sums[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (unsigned t = 1; t < blockDim.x; ++t)
      sum += sums[t];
    a[kN - 1] = static_cast<uint16_t>((0u - sum) & kMask);
  }
  __syncthreads();
}

/// Computes SHA3-256 of two concatenated strings in one thread.
__device__ inline void sha3_alone(uint8_t* out, const uint8_t* first, int first_bytes, const uint8_t* second,
                                  int second_bytes) {
  uint64_t state[25] = {};
  const int bytes = first_bytes + second_bytes;
  for (int block = 0; block <= bytes / 136; ++block) {
#pragma unroll
    for (int w = 0; w < 17; ++w) {
      uint64_t word = 0;
      for (int b = 0; b < 8; ++b) {
        const int at = 136 * block + 8 * w + b;
        const uint32_t byte = at < first_bytes ? first[at]
                              : at < bytes     ? second[at - first_bytes]
                              : at == bytes    ? 6
                                               : 0;
        word |= static_cast<uint64_t>(byte) << (8 * b);
      }
      state[w] ^= word;
    }
    if (block == bytes / 136) state[16] ^= 0x8000000000000000;
    cuda::keccak_f1600(state);
  }
#pragma unroll
  for (int w = 0; w < 4; ++w) {
#pragma unroll
    for (int b = 0; b < 8; ++b)
      out[8 * w + b] = static_cast<uint8_t>(state[w] >> (8 * b));
  }
}

/// The intermediates of a client, in global memory as in the paper.
struct Client {
  uint16_t a[kN + 3], b[kN + 3], x[kN + 3], y[kN + 3], z[kN + 3], u[kN + 3];
  int32_t keys[kN + 3];
  uint32_t sums[1024];
  uint8_t rm[2 * kTrits];
  uint8_t coins[kCoins + 1];
  uint32_t fail;
};

/// Encapsulates. kHash: also hashes, in the same kernel.
template <bool kHash>
__device__ inline void encaps(Client& t, uint8_t* ct, uint8_t* ss, const uint8_t* pk) {
  sample_iid(t.a, t.coins);
  sample_fixed_type(t.b, t.keys, t.coins + kN - 1);
  __syncthreads();
  pack_trits(t.rm, t.a);
  pack_trits(t.rm + kTrits, t.b);
  z3_to_zq(t.y, t.a);
  unpack_rq(t.x, pk);
  __syncthreads();
  last_from_sum(t.x, t.sums);
  rq_mul(t.z, t.x, t.y);
  __syncthreads();
  z3_to_zq(t.y, t.b);
  __syncthreads();
  add(t.z, t.y);
  __syncthreads();
  pack_rq(ct, t.z);
  if (kHash && threadIdx.x == 0) sha3_alone(ss, t.rm, 2 * kTrits, nullptr, 0);
}

/// Decapsulates up to the hashes, which finish() computes.
__device__ inline void decaps(Client& t, const uint8_t* sk, const uint8_t* ct) {
  if (threadIdx.x == 0) t.fail = 0;
  unpack_rq(t.x, ct);
  unpack_trits(t.a, sk);
  __syncthreads();
  last_from_sum(t.x, t.sums);
  z3_to_zq(t.y, t.a);
  __syncthreads();
  rq_mul(t.z, t.x, t.y);
  __syncthreads();
  rq_to_s3(t.a, t.z);
  unpack_trits(t.u, sk + kTrits);
  __syncthreads();
  mod_3_phi(t.a);
  __syncthreads();
  rq_mul(t.b, t.a, t.u);
  __syncthreads();
  mod_3_phi(t.b);
  __syncthreads();
  z3_to_zq(t.y, t.b);
  unpack_rq(t.u, sk + 2 * kTrits);
  if (threadIdx.x == 0) t.u[kN - 1] = 0;
  __syncthreads();
  subtract(t.x, t.y);
  __syncthreads();
  rq_mul(t.z, t.x, t.u);
  __syncthreads();
  const uint32_t last = t.z[kN - 1];
  uint32_t bad = 0, ones = 0, twos = 0;
  each(kN, [&](int i) {
    const uint32_t v = (t.z[i] - last) & kMask;
    bad |= (2u - ((v + 1) & kMask)) >> 31;
    t.a[i] = static_cast<uint16_t>((v & 1) << (v >> (kSet.logq - 1)));
    ones += t.b[i] & 1u;
    twos += t.b[i] >> 1;
  });
  t.sums[threadIdx.x] = (bad << 31) | ones | (twos << 12);
  __syncthreads();
  if (threadIdx.x == 0) {
    uint32_t all = 0, any = 0;
    for (unsigned i = 0; i < blockDim.x; ++i) {
      all += t.sums[i] & 0x7fffffff;
      any |= t.sums[i] >> 31;
    }
    t.fail = any | (all ^ (kHalfWeight * 0x1001u));
  }
  pack_trits(t.rm, t.a);
  pack_trits(t.rm + kTrits, t.b);
  __syncthreads();
}

/// Computes both hashes and selects one, in one thread.
__device__ inline void finish(const Client& t, uint8_t* ss, const uint8_t* sk, const uint8_t* ct) {
  uint8_t accepted[32], rejected[32];
  sha3_alone(accepted, t.rm, 2 * kTrits, nullptr, 0);
  sha3_alone(rejected, sk + kSet.prf_key_offset(), 32, ct, kPacked);
  const auto mask = static_cast<uint8_t>(0u - ((t.fail | (0u - t.fail)) >> 31));
  for (int i = 0; i < 32; ++i)
    ss[i] = static_cast<uint8_t>((rejected[i] & mask) | (accepted[i] & ~mask));
}

}  // namespace polykem::seong2021
