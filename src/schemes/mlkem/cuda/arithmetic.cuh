// SPDX-License-Identifier: Apache-2.0
// K-PKE in three kernels: 16 lanes compute an item, so a warp has two, and every polynomial but A and the noise is in
// registers or in the shared memory of the warp. [FIPS203, Alg 13, Alg 14, Alg 15]
#pragma once

#include "core/status.hpp"
#include "schemes/mlkem/cuda/work.cuh"

namespace polykem::mlkem::cuda {

inline constexpr int kThreads = 128;                       ///< threads of a block, in every kernel of this file
inline constexpr int kBlockItems = kThreads / kPolyLanes;  ///< items of a block
inline constexpr int kRowWords = static_cast<int>(kRowBytes) / 4;
inline constexpr int kNoiseWords = static_cast<int>(kNoiseBytes) / 4;

/// The shared memory of a block: for each item, memory in which its lanes exchange polynomials, and kRows rows of A.
template <int kRows>
struct alignas(16) BlockMemory {
  uint32_t exchange[kBlockItems][kExchangeStride];
  uint32_t rows[kBlockItems][kRows > 0 ? kRows* kRowWords : 4];
};

/// The item of a thread, and the thread's index among the item's 16 lanes. Beyond the end of the batch, the item is the
/// last one and `inside` is false; such lanes compute along, since the lanes of a warp wait for each other.
struct ItemLane {
  size_t item;
  bool inside;
  unsigned index;
  uint32_t *exchange, *rows;
};

template <int kRows>
__device__ __forceinline__ ItemLane item_lane(size_t count, BlockMemory<kRows>& memory) {
  const unsigned index = threadIdx.x / kPolyLanes;
  const size_t item = blockIdx.x * size_t{kBlockItems} + index;
  return {min(item, count - 1), item < count, threadIdx.x % kPolyLanes, memory.exchange[index], memory.rows[index]};
}

/// Returns the bitwise or of x over an item's lanes.
__device__ __forceinline__ uint32_t any_of_item(uint32_t x) {
#pragma unroll
  for (int distance = kPolyLanes / 2; distance > 0; distance /= 2)
    x |= __shfl_xor_sync(0xffffffff, x, distance);
  return x;
}

/// Copies kWords <= 16 words of an item to a record, through the shared memory of its lanes.
template <int kWords>
__device__ __forceinline__ void store_item_words(uint8_t* to, const ItemWords& words, const ItemLane& lane) {
  __syncwarp();
  if (lane.index < kWords) lane.exchange[lane.index] = words.at(static_cast<int>(lane.index), lane.item);
  __syncwarp();
  if (lane.inside) store_from_shared<4 * kWords>(to, lane.exchange, lane.index);
}

/// The number of blocks for which a multiprocessor has registers without spills.
template <class Set, bool kExpanded>
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ <= 800
inline constexpr int kEncryptBlocks = 3;
#else
inline constexpr int kEncryptBlocks = Shape<Set>::kK == 4 || (Shape<Set>::kK == 3 && kExpanded) ? 3 : 4;
#endif

/// Computes s^ and t^ = A^ s^ + e^ from s and e, and writes everything of pk and sk but H(pk).
template <class Set>
__global__ void __launch_bounds__(kThreads, kEncryptBlocks<Set, false>) keygen_kernel(Work work) {
  using S = Shape<Set>;
  __shared__ BlockMemory<S::kK> memory;
  const ItemLane lane = item_lane(work.count, memory);
  const RowFactors factors = polykem::cuda::kRowFactors.forward[lane.index];
  const uint32_t* const noise = work.noise + lane.item * (2 * S::kK * kNoiseBytes / 4);
  const auto* const a = reinterpret_cast<const std::byte*>(work.a) + lane.item * (S::kEntries * kRowBytes);
  uint8_t* const pk = work.pk_out + lane.item * S::kPublicKeyBytes;
  uint8_t* const sk = work.sk_out + lane.item * S::kSecretKeyBytes;
  Coefficients t[S::kK] = {};
  const auto begin_column = [&](int j) {
#pragma unroll
    for (int i = 0; i < S::kK; ++i)
      begin_row(lane.rows + i * kRowWords, a + (i * S::kK + j) * static_cast<int>(kRowBytes), lane.index);
  };
  uint2 next = load_noise(noise, lane.index);
  begin_column(0);
#pragma unroll 1
  for (int j = 0; j < S::kK; ++j) {
    Coefficients s;
    uint32_t odd[8];
    unpack_noise<S::kEta1>(s, next);
    next = load_noise(noise + (j + 1) * kNoiseWords, lane.index);  // the first row of e at the end
    polykem::cuda::forward_transform(s, factors, lane.exchange, lane.index);
    polykem::cuda::times_gamma(odd, s, factors);
    polykem::cuda::end_copies();
#pragma unroll
    for (int i = 0; i < S::kK; ++i)
      add_row_product(t[i], load_row(lane.rows + i * kRowWords, lane.index), s, odd);
    if (j + 1 < S::kK) begin_column(j + 1);
#pragma unroll
    for (uint32_t& x : s)
      x = polykem::cuda::reduce_small(x);
    pack_to_shared<12>(lane.exchange, s, lane.index);
    if (lane.inside) store_from_shared<kPolyBytes>(sk + j * static_cast<int>(kPolyBytes), lane.exchange, lane.index);
  }
#pragma unroll
  for (int i = 0; i < S::kK; ++i) {
    Coefficients e;
    unpack_noise<S::kEta1>(e, next);
    if (i + 1 < S::kK) next = load_noise(noise + (S::kK + i + 1) * kNoiseWords, lane.index);
    polykem::cuda::forward_transform(e, factors, lane.exchange, lane.index);
#pragma unroll
    for (int r = 0; r < kLaneCoefficients; ++r)
      e[r] = polykem::cuda::reduce_small(e[r] + polykem::cuda::reduce_to_2q(t[i][r]));
    pack_to_shared<12>(lane.exchange, e, lane.index);
    if (lane.inside) {
      store_from_shared<kPolyBytes>(pk + i * static_cast<int>(kPolyBytes), lane.exchange, lane.index);
      store_from_shared<kPolyBytes>(sk + S::kPkOffset + i * static_cast<int>(kPolyBytes), lane.exchange, lane.index);
    }
  }
  store_item_words<8>(pk + S::kVectorBytes, work.rho, lane);
  store_item_words<8>(sk + S::kPkOffset + S::kVectorBytes, work.rho, lane);
  store_item_words<8>(sk + S::kZOffset, work.z, lane);
}

/// Takes u and v of an encryption and writes them to the ciphertext, or writes zeros if `mask` is zero.
struct StoreFields {
  uint8_t* ct;
  bool inside;
  uint32_t mask;
  template <int kBits>
  __device__ __forceinline__ void take(const ItemLane& lane, Coefficients& fields, int offset) {
    pack_to_shared<kBits>(lane.exchange, fields, lane.index, mask);
    if (inside) store_from_shared<32 * kBits>(ct + offset, lane.exchange, lane.index);
  }
};

/// Takes u and v of an encryption and compares them with a ciphertext.
struct CompareFields {
  const uint8_t* ct;
  uint32_t differences;
  template <int kBits>
  __device__ __forceinline__ void take(const ItemLane& lane, Coefficients& fields, int offset) {
    Coefficients given;
    unpack<kBits>(given, load_packed<kBits>(ct + offset, lane.index));
#pragma unroll
    for (int r = 0; r < kLaneCoefficients; ++r)
      differences |= given[r] ^ fields[r];
  }
};

/// Adds `plus` to a polynomial in columns, compresses it and passes its fields on in rows. The sums are below 3q.
template <int kBits, class Sink>
__device__ __forceinline__ void finish_poly(Sink& sink, Coefficients& a, const Coefficients& plus, int offset,
                                            const ItemLane& lane) {
#pragma unroll
  for (int r = 0; r < kLaneCoefficients; ++r)
    a[r] = compress<kBits>(a[r] + plus[r]);
  polykem::cuda::to_rows(a, lane.exchange, lane.index);
  sink.template take<kBits>(lane, a, offset);
}

/// Adds Decompress_1 of bit i of the message to coefficient i, in columns. [FIPS203, Alg 14, L20]
__device__ __forceinline__ void add_message(Coefficients& a, const ItemWords& m, const ItemLane& lane) {
#pragma unroll
  for (int w = 0; w < 8; ++w) {
    const uint32_t bits = m.at(w, lane.item) >> lane.index;
    a[2 * w] += (bits & 1) * decompress<1>(1);
    a[2 * w + 1] += (bits >> 16 & 1) * decompress<1>(1);
  }
}

/// Computes the first half of K-PKE.Encrypt: A^T y^ and t^T y^. kExpanded says that keys are expanded. If they are
/// records, returns all ones if the coefficients of t are below q, otherwise 0.
template <class Set, bool kExpanded>
__device__ __forceinline__ uint32_t multiply_y(Coefficients (&u)[Shape<Set>::kK], Coefficients& v,
                                               const uint32_t* noise, const Work& work, const ItemLane& lane) {
  using S = Shape<Set>;
  const std::byte* const a = kExpanded
                                 ? work.keys[lane.item]
                                 : reinterpret_cast<const std::byte*>(work.a) + lane.item * (S::kEntries * kRowBytes);
  const uint8_t* const pk = kExpanded ? nullptr : work.pk[lane.item];
  const RowFactors factors = polykem::cuda::kRowFactors.forward[lane.index];
  const auto begin_column = [&](int j) {
#pragma unroll
    for (int i = 0; i < S::kK; ++i)
      begin_row(lane.rows + i * kRowWords, a + (i * S::kK + j) * static_cast<int>(kRowBytes), lane.index);
    if (kExpanded)
      begin_row(lane.rows + S::kK * kRowWords, a + S::ExpandedKey::kT + j * static_cast<int>(kRowBytes), lane.index);
  };
  uint32_t below_q = 0xffffffff;
  uint2 next = load_noise(noise, lane.index);
  begin_column(0);
#pragma unroll 1
  for (int j = 0; j < S::kK; ++j) {
    PackedFields<12> t_packed;
    if constexpr (!kExpanded) t_packed = load_packed<12>(pk + j * static_cast<int>(kPolyBytes), lane.index);
    Coefficients y;
    uint32_t odd[8];
    unpack_noise<S::kEta1>(y, next);
    next = load_noise(noise + (j + 1) * kNoiseWords, lane.index);
    polykem::cuda::forward_transform(y, factors, lane.exchange, lane.index);
    polykem::cuda::times_gamma(odd, y, factors);
    polykem::cuda::end_copies();
#pragma unroll
    for (int i = 0; i < S::kK; ++i)
      add_row_product(u[i], load_row(lane.rows + i * kRowWords, lane.index), y, odd);
    if constexpr (kExpanded) {
      add_row_product(v, load_row(lane.rows + S::kK * kRowWords, lane.index), y, odd);
    } else {
      Coefficients t;
      unpack<12>(t, t_packed);
#pragma unroll
      for (const uint32_t x : t)
        below_q &= x - kNttQ;
      add_product(v, t, y, odd);
    }
    if (j + 1 < S::kK) begin_column(j + 1);
  }
  return any_of_item(~below_q) >> 31 == 0 ? 0xffffffff : 0;
}

/// Computes the second half of K-PKE.Encrypt: u and v, which it compresses and passes to the sink.
template <class Set, class Sink>
__device__ __forceinline__ void finish_encryption(Sink& sink, Coefficients (&u)[Shape<Set>::kK], Coefficients& v,
                                                  const uint32_t* noise, const Work& work, const ItemLane& lane) {
  using S = Shape<Set>;
  const RowFactors factors = polykem::cuda::kRowFactors.inverse[lane.index];
  Coefficients e;
  uint2 next = load_noise(noise + S::kK * kNoiseWords, lane.index);
#pragma unroll
  for (int i = 0; i < S::kK; ++i) {
    polykem::cuda::inverse_transform(u[i], factors, lane.exchange, lane.index);
    unpack_noise<S::kEta2>(e, next);
    next = load_noise(noise + (S::kK + i + 1) * kNoiseWords, lane.index);
    finish_poly<S::kDu>(sink, u[i], e, 32 * S::kDu * i, lane);
  }
  polykem::cuda::inverse_transform(v, factors, lane.exchange, lane.index);
  unpack_noise<S::kEta2>(e, next);
  add_message(e, work.m, lane);
  finish_poly<S::kDv>(sink, v, e, 32 * S::kDu * S::kK, lane);
}

template <class Set>
__device__ __forceinline__ const uint32_t* encryption_noise(const Work& work, const ItemLane& lane) {
  return work.noise + lane.item * ((2 * Shape<Set>::kK + 1) * kNoiseBytes / 4);
}

/// Writes the shared secret: K, or the rejection secret if `fail` is all ones, or zeros if `valid` is zero.
__device__ __forceinline__ void store_secret(const Work& work, const ItemLane& lane, uint32_t fail, uint32_t valid) {
  __syncwarp();
  if (lane.index < 8) {
    const auto w = static_cast<int>(lane.index);
    uint32_t secret = work.secret.at(w, lane.item);
    if (work.rejection_or_ct_hash.base != nullptr)
      secret ^= fail & (secret ^ work.rejection_or_ct_hash.at(w, lane.item));
    lane.exchange[lane.index] = secret & valid;
  }
  __syncwarp();
  if (lane.inside) store_from_shared<kSymBytes>(work.ss_out + lane.item * kSymBytes, lane.exchange, lane.index);
}

/// Sets an item's status: `malformed` if `valid` is zero, success if it is all ones.
__device__ __forceinline__ void report(const Work& work, const ItemLane& lane, uint32_t valid, Status malformed) {
  if (lane.index == 0 && lane.inside && work.status != nullptr)
    work.status[lane.item] = static_cast<int>(~valid & static_cast<uint32_t>(malformed));
}

/// Returns all ones if the word at `offset` of an item's expanded key is 1, and zero if it is 0.
__device__ __forceinline__ uint32_t noted_valid(const Work& work, const ItemLane& lane, size_t offset) {
  return 0u - *reinterpret_cast<const uint32_t*>(work.keys[lane.item] + offset);
}

/// Computes the encryption of an encapsulation and, for ML-KEM, stores the shared secret. If an item's key is
/// malformed, its ciphertext and its secret are zero, and its status says so.
template <class Set, bool kExpanded>
__global__ void __launch_bounds__(kThreads, kEncryptBlocks<Set, kExpanded>) encrypt_kernel(Work work) {
  using S = Shape<Set>;
  __shared__ BlockMemory<S::kK + (kExpanded ? 1 : 0)> memory;
  const ItemLane lane = item_lane(work.count, memory);
  const uint32_t* const noise = encryption_noise<Set>(work, lane);
  Coefficients u[S::kK] = {}, v = {};
  uint32_t valid = multiply_y<Set, kExpanded>(u, v, noise, work, lane);
  if constexpr (kExpanded) valid = noted_valid(work, lane, S::ExpandedKey::kPublicValid);
  if constexpr (S::kKyber) valid = 0xffffffff;
  StoreFields sink{work.ct_out + lane.item * S::kCiphertextBytes, lane.inside, valid};
  finish_encryption<Set>(sink, u, v, noise, work, lane);
  if constexpr (!S::kKyber) {
    store_secret(work, lane, 0, valid);
    report(work, lane, valid, Status::kPublicKey);
  }
}

/// Computes the second encryption of a decapsulation, compares it with the ciphertext and, for ML-KEM, selects the
/// secret. If an item's key is malformed, its secret is zero, and its status says so.
template <class Set, bool kExpanded>
__global__ void __launch_bounds__(kThreads, kEncryptBlocks<Set, kExpanded>) compare_kernel(Work work) {
  using S = Shape<Set>;
  __shared__ BlockMemory<S::kK + (kExpanded ? 1 : 0)> memory;
  const ItemLane lane = item_lane(work.count, memory);
  const uint32_t* const noise = encryption_noise<Set>(work, lane);
  Coefficients u[S::kK] = {}, v = {};
  multiply_y<Set, kExpanded>(u, v, noise, work, lane);
  CompareFields sink{work.ct[lane.item], 0};
  finish_encryption<Set>(sink, u, v, noise, work, lane);
  const uint32_t differences = any_of_item(sink.differences);
  const uint32_t fail = 0u - ((differences | (0u - differences)) >> 31);
  if constexpr (S::kKyber) {
    if (lane.index == 0 && lane.inside) work.fail.at(0, lane.item) = fail;
  } else {
    const uint32_t valid =
        kExpanded ? noted_valid(work, lane, S::ExpandedKey::kSecretValid) : 0u - work.valid.at(0, lane.item);
    store_secret(work, lane, fail, valid);
    report(work, lane, valid, Status::kSecretKey);
  }
}

/// Computes m by K-PKE.Decrypt.
template <class Set, bool kExpanded>
__global__ void __launch_bounds__(kThreads, 4) decrypt_kernel(Work work) {
  using S = Shape<Set>;
  __shared__ BlockMemory<0> memory;
  const ItemLane lane = item_lane(work.count, memory);
  const uint8_t* const ct = work.ct[lane.item];
  const std::byte* const expanded_key = kExpanded ? work.keys[lane.item] : nullptr;
  const uint8_t* const sk = kExpanded ? nullptr : work.sk[lane.item];
  Coefficients w = {};
  {
    PackedFields<S::kDu> next = load_packed<S::kDu>(ct, lane.index);
    const RowFactors factors = polykem::cuda::kRowFactors.forward[lane.index];
#pragma unroll 1
    for (int j = 0; j < S::kK; ++j) {
      RowPairs s_row;
      PackedFields<12> s_packed;
      if constexpr (kExpanded) {
        s_row = load_row(expanded_key + S::ExpandedKey::kS + j * static_cast<int>(kRowBytes), lane.index);
      } else {
        s_packed = load_packed<12>(sk + j * static_cast<int>(kPolyBytes), lane.index);
      }
      Coefficients u;
      uint32_t odd[8];
      unpack<S::kDu>(u, next);
      if (j + 1 < S::kK) next = load_packed<S::kDu>(ct + 32 * S::kDu * (j + 1), lane.index);
#pragma unroll
      for (uint32_t& x : u)
        x = decompress<S::kDu>(x);
      polykem::cuda::to_columns(u, lane.exchange, lane.index);
      polykem::cuda::forward_transform(u, factors, lane.exchange, lane.index);
      polykem::cuda::times_gamma(odd, u, factors);
      if constexpr (kExpanded) {
        add_row_product(w, s_row, u, odd);
      } else {
        Coefficients s;
        unpack<12>(s, s_packed);
        add_product(w, s, u, odd);
      }
    }
  }
  const auto v_packed = load_packed<S::kDv>(ct + 32 * S::kDu * S::kK, lane.index);
  polykem::cuda::inverse_transform(w, polykem::cuda::kRowFactors.inverse[lane.index], lane.exchange, lane.index);
  polykem::cuda::to_rows(w, lane.exchange, lane.index);
  Coefficients v;
  unpack<S::kDv>(v, v_packed);
  uint32_t bits = 0;
#pragma unroll
  for (int r = 0; r < kLaneCoefficients; ++r)
    bits |= compress<1>(decompress<S::kDv>(v[r]) + kNttQ - w[r]) << r;
  bits |= __shfl_down_sync(0xffffffff, bits, 1) << 16;
  if (lane.index % 2 == 0 && lane.inside) work.m.at(static_cast<int>(lane.index / 2), lane.item) = bits;
}

/// Unpacks a vector of every key to rows of the key's expanded form. Unless `valid` is nullptr, notes there whether all
/// coefficients are below q.
template <class Set>
__global__ void __launch_bounds__(kThreads)
    expand_vector_kernel(std::byte* rows, size_t key_bytes, uint32_t* valid, Records from, size_t count) {
  using S = Shape<Set>;
  __shared__ BlockMemory<0> memory;
  const ItemLane lane = item_lane(count, memory);
  uint32_t below_q = 0xffffffff;
#pragma unroll 1
  for (int j = 0; j < S::kK; ++j) {
    Coefficients a;
    unpack<12>(a, load_packed<12>(from[lane.item] + j * static_cast<int>(kPolyBytes), lane.index));
#pragma unroll
    for (const uint32_t x : a)
      below_q &= x - kNttQ;
    if (lane.inside) store_row(rows + lane.item * key_bytes + j * static_cast<int>(kRowBytes), a, lane.index);
  }
  const uint32_t bad = any_of_item(1 - (below_q >> 31));
  if (valid != nullptr && lane.index == 0 && lane.inside)
    valid[lane.item * (key_bytes / sizeof(uint32_t))] = S::kKyber ? 1 : 1 - bad;
}

}  // namespace polykem::mlkem::cuda
