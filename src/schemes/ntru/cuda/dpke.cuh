// SPDX-License-Identifier: Apache-2.0
// DPKE_Encrypt is one kernel, DPKE_Decrypt two. They read and write packed records; every polynomial lies in the
// registers or the shared memory of the warp that multiplies it. See docs/adr/0007. [NTRU20, DPKE_Encrypt,
// DPKE_Decrypt]
#pragma once

#include "prim/polymul/cuda/imma.cuh"
#include "schemes/ntru/cuda/groups.cuh"

namespace polykem::ntru::cuda {

using polykem::cuda::MulKind;

/// A warp's product; its operands are groups of eight coefficients (groups.cuh).
template <class Set, MulKind kKind>
using Product = polykem::cuda::ImmaProduct<Shape<Set>::kN, kKind>;

/// The kind of a product of two elements of Rq.
template <class Set>
inline constexpr MulKind kWide = Shape<Set>::kLogQ <= 12 ? MulKind::kShort : MulKind::kGeneral;

/// Multiplies the operands in shared memory, which is free afterwards.
template <class P>
__device__ __forceinline__ void multiply(P& product) {
  __syncwarp();
  product.multiply();
  product.lane = lane_again();
  __syncwarp();
}

/// Computes DPKE_Encrypt: ct = packed(h r + Lift(m)). r: bytes 0, 1, 255. m: bytes 0, 1, 2. Both are in rows of kRow
/// bytes. Each block computes one item.
template <class Set>
__global__ void __launch_bounds__(32, polykem::cuda::kImmaBlocks<Shape<Set>::kN>)
    encrypt_kernel(uint8_t* ct, Records pk, const uint8_t* r, const uint8_t* m) {
  using S = Shape<Set>;
  using P = Product<Set, MulKind::kTernary>;
  __shared__ alignas(128) uint8_t shared[P::Shape::kShared];
  __shared__ alignas(16) uint8_t trits[S::kRow];
  P product(shared);
  {
    const unsigned lane = lane_again();
    const size_t item = blockIdx.x;
    for (int at = 16 * static_cast<int>(lane); at < S::kRow; at += 16 * 32)
      polykem::cuda::begin_copy<16>(trits + at, m + item * S::kRow + at);
    Groups<Set> h;
    ByteGroups<Set> bytes;
    load_bytes<Set>(bytes, r + item * S::kRow, lane);
    load_packed<Set>(h, pk[item], lane);
    close_sum<Set>(h, lane);
    product.store_a(h);
    product.store_plain_bytes(bytes);
  }
  polykem::cuda::end_copies();
  multiply(product);
  const unsigned lane = product.lane;
  auto* c = reinterpret_cast<uint16_t*>(shared) + kGuard;
  static_assert(2 * (kGuard + S::kRow) <= P::Shape::kShared);
  lift_quotient<Set>(trits, lane);
  for_each_group<Set>(lane, [&](int, int j) { reinterpret_cast<uint4*>(c)[j] = lift_group<Set>(trits, j); });
  __syncwarp();
  product.for_each_pair(0xffffffff, [c](unsigned w, uint32_t pair) {
    uint32_t& sum = reinterpret_cast<uint32_t*>(c)[w];
    sum = __vadd2(sum, pair) & (S::kMask * 0x10001u);
  });
  store_rq<Set>(ct + block_again() * S::kCiphertextBytes, c, lane);
}

/// Centres two coefficients mod q, given in [0, q). Returns two signed bytes that are the same mod 3.
template <class Set>
__device__ __forceinline__ uint16_t centred_mod3(uint32_t pair) {
  constexpr int kBits = static_cast<int>(Shape<Set>::kLogQ);
  constexpr uint32_t kOnes = 0x00010001;
  uint32_t sum = (pair & (63 * kOnes)) + ((pair >> 6) & (63 * kOnes));                 // 64 = 1 mod 3
  if constexpr (kBits > 12) sum += ((pair >> 12) & (3 * kOnes)) + (256 - 66) * kOnes;  // 66 less fit a signed byte
  const uint32_t minus_q = (pair >> (kBits - 1)) & kOnes;  // the upper half stands for v - q
  sum = Shape<Set>::kMask % 3 == 0 ? sum - minus_q : sum + minus_q;
  return static_cast<uint16_t>(__byte_perm(sum, 0, 0x4420));
}

/// Writes c f, centred mod q, to `shared`, as signed bytes that are the same mod 3. f_packed: in shared memory once
/// all copies have ended.
template <class Set>
__device__ __forceinline__ void multiply_cf(uint8_t* shared, const uint8_t* ct, const uint8_t* f_packed) {
  using S = Shape<Set>;
  Product<Set, MulKind::kTernary> product(shared);
  {
    const unsigned lane = lane_again();
    PackedWords<Set> words;
    fetch_packed<Set>(words, ct, lane);
    polykem::cuda::end_copies();
    __syncwarp();
    {
      ByteGroups<Set> f;
      unpack_trits<Set>(shared, f_packed, lane);
      load_bytes<Set>(f, shared, lane);
      __syncwarp();
#pragma unroll
      for (uint2& bytes : f)
        bytes = make_uint2(centred_bytes(bytes.x), centred_bytes(bytes.y));
      product.store_plain_bytes(f);
    }
    Groups<Set> c;
    unpack_groups<Set>(c, words, ct, lane);
    close_sum<Set>(c, lane);
    product.store_a(c);
  }
  multiply(product);
  product.for_each_pair(S::kMask * 0x10001u, [&](unsigned w, uint32_t pair) {
    reinterpret_cast<uint16_t*>(shared)[w] = centred_mod3<Set>(pair);
  });
}

/// Multiplies the bytes in `shared` by 1/f mod (3, Phi_n) and writes the trits of the product, which is m, to `shared`.
/// Returns nonzero if m has the wrong number of coefficients of either sign (HPS). inverse_f: packed, in shared memory.
template <class Set>
__device__ __forceinline__ uint32_t multiply_m(uint8_t* shared, const uint8_t* inverse_f) {
  using S = Shape<Set>;
  Product<Set, MulKind::kS3> product(shared);
  {
    const unsigned lane = lane_again();
    ByteGroups<Set> cf, factor;
    unpack_trits<Set>(shared + S::kRow, inverse_f, lane);
    load_bytes<Set>(cf, shared, lane);
    load_bytes<Set>(factor, shared + S::kRow, lane);
    __syncwarp();
    product.store_plain_bytes(cf);
    product.store_reversed_bytes(factor);
  }
  product.lane = lane_again();
  multiply(product);
  uint32_t sum = 0, squares = 0;
  product.for_each_pair(0, [&](unsigned w, uint32_t pair) {
    const uint32_t trits = __byte_perm(pair, 0, 0x4420);
    reinterpret_cast<uint16_t*>(shared)[w] = static_cast<uint16_t>(trits);
    sum = __dp4a(trits, 0x0101u, sum);
    squares = __dp4a(trits, trits, squares);
  });
  __syncwarp();
  if constexpr (!S::kHps) return 0;
  constexpr uint32_t kHalfWeight = S::kParams.weight() / 2;
  return warp_sum(sum | squares << 16) ^ (kHalfWeight * (3 | 5 << 16));
}

/// Writes the trits of r = (c - Lift(m)) / h mod (q, Phi_n) to `shared`. Returns nonzero if r is not ternary, as it
/// must be. m: packed.
template <class Set>
__device__ __forceinline__ uint32_t multiply_r(uint8_t* shared, const uint8_t* ct, const uint8_t* m,
                                               const uint8_t* inverse_h) {
  using S = Shape<Set>;
  Product<Set, kWide<Set>> product(shared);
  {
    const unsigned lane = lane_again();
    const int skip = begin_record<S::kTritsBytes>(shared + S::kRow, m, lane);
    PackedWords<Set> c_words, factor_words;
    fetch_packed<Set>(c_words, ct, lane);
    fetch_packed<Set>(factor_words, inverse_h, lane);
    Groups<Set> c, factor;
    unpack_groups<Set>(c, c_words, ct, lane);
    unpack_groups<Set>(factor, factor_words, inverse_h, lane);
    close_sum<Set>(c, lane);
    set_last<Set>(factor, 0, lane);
    polykem::cuda::end_copies();
    __syncwarp();
    unpack_trits<Set>(shared, shared + S::kRow + skip, lane);
    lift_quotient<Set>(shared, lane);
    for_each_group<Set>(lane, [&](int i, int j) {
      const uint4 lift = lift_group<Set>(shared, j);
      c[i] = make_uint4(__vsub2(c[i].x, lift.x), __vsub2(c[i].y, lift.y), __vsub2(c[i].z, lift.z),
                        __vsub2(c[i].w, lift.w));
    });
    __syncwarp();
    product.store_a(c);
    product.store_b(factor);
  }
  multiply(product);
  constexpr uint32_t kOnes = 0x00010001;
  const uint32_t last = (static_cast<uint32_t>(product.last_coefficient()) & 0xffff) * kOnes;
  uint32_t bad = 0;
  product.for_each_pair(0xffffffff, [&](unsigned w, uint32_t pair) {
    const uint32_t x = 2 * w < S::kN - 1 ? __vsub2(pair, last) : 0, half = x >> 1;
    // Of -1, 0 and 1, all bits but the lowest are the same, and that one is set if they are.
    bad |= ((x ^ half) & ((S::kMask >> 1) - 1) * kOnes) | (half & ~x & kOnes);
    const uint32_t trits = ((x & ~half & kOnes) | (x & (2 * kOnes)));
    reinterpret_cast<uint16_t*>(shared)[w] = static_cast<uint16_t>(__byte_perm(trits, 0, 0x4420));
  });
  __syncwarp();
  return __ballot_sync(0xffffffff, bad != 0);
}

/// The first half of DPKE_Decrypt: computes m, packs it into its part of rm, and sets fail to nonzero if m or ct must
/// be rejected. Each block computes one item.
template <class Set>
__global__ void __launch_bounds__(32, polykem::cuda::kImmaBlocks<Shape<Set>::kN>)
    decrypt_m_kernel(uint8_t* rm, uint32_t* fail, Records ct, Records sk) {
  using S = Shape<Set>;
  constexpr unsigned kUsedBits = static_cast<unsigned>(S::kN - 1) * S::kLogQ % 8;
  __shared__ alignas(128) uint8_t shared[Product<Set, MulKind::kTernary>::Shape::kShared];
  __shared__ alignas(16) uint8_t packed[2 * S::kTritsBytes + 6];  // f and 1/f
  const size_t item = blockIdx.x;
  const int skip = begin_record<2 * S::kTritsBytes>(packed, sk[item], lane_again());
  multiply_cf<Set>(shared, ct[item], packed + skip);
  uint32_t bad =
      multiply_m<Set>(shared, packed + (reinterpret_cast<uintptr_t>(sk[block_again()]) & 3) + S::kInverseFOffset);
  const unsigned lane = lane_again();
  store_trits<Set>(rm + block_again() * S::kRmStride + S::kTritsBytes, shared, lane);
  if (kUsedBits != 0) bad |= ct[block_again()][S::kRqBytes - 1] >> kUsedBits;
  if (lane == 0) fail[block_again()] = bad;
}

/// The second half of DPKE_Decrypt: computes r from m, packs it into its part of rm, and updates fail. Each block
/// computes one item.
template <class Set>
__global__ void __launch_bounds__(32, polykem::cuda::kImmaBlocks<Shape<Set>::kN>)
    decrypt_r_kernel(uint8_t* rm, uint32_t* fail, Records ct, Records sk) {
  using S = Shape<Set>;
  __shared__ alignas(128) uint8_t shared[Product<Set, kWide<Set>>::Shape::kShared];
  const size_t item = blockIdx.x;
  const uint32_t bad =
      multiply_r<Set>(shared, ct[item], rm + item * S::kRmStride + S::kTritsBytes, sk[item] + S::kInverseHOffset);
  const unsigned lane = lane_again();
  store_trits<Set>(rm + block_again() * S::kRmStride, shared, lane);
  if (lane == 0) atomicOr(fail + block_again(), bad);  // no other block writes it, but a load would have to wait
}

}  // namespace polykem::ntru::cuda
