// SPDX-License-Identifier: Apache-2.0
// Saber.PKE in three kernels: a warp, which is a block, computes an item. Secrets lie in registers as fragments for the
// tensor cores, and entries of A are unpacked one after the other. [SABER20, 2.4]
#pragma once

#include <algorithm>

#include "schemes/saber/cuda/fields.cuh"

namespace polykem::saber::cuda {

using Fragments = polykem::cuda::NegacyclicFragments<static_cast<int>(kN)>;
using Sums = polykem::cuda::NegacyclicSums<static_cast<int>(kN), 2>;
inline constexpr int kPlainBytes = 2 * ProductShape::kPlainBytes;  ///< bytes of both limbs

template <class Set>
inline constexpr int kRecordBytes = std::max({Shape<Set>::kSecretBytes, Shape<Set>::kPublicKeyBytes,
                                              Shape<Set>::kCiphertextBytes});

/// The shared memory of a block. `plain` has two operands, since one is unpacked while the other is multiplied.
template <class Set>
struct alignas(128) ProductMemory {
  uint8_t plain[2][kPlainBytes];
  uint8_t reversed[ProductShape::kReversedBytes];
  uint8_t a[Shape<Set>::kMatrixBytes];     ///< A, packed
  uint32_t pairs[kN / 2];                  ///< a polynomial of 16-bit coefficients
  uint32_t record[kRecordBytes<Set> / 4];  ///< what is written to a record, or compared with one
};

/// The warp that computes an item.
template <class Set>
struct ItemWarp {
  using S = Shape<Set>;
  ProductMemory<Set>& memory;
  const size_t item = blockIdx.x;
  const unsigned lane = warp_lane();

  __device__ __forceinline__ uint8_t* record_bytes() const { return reinterpret_cast<uint8_t*>(memory.record); }

  /// Samples s of the item, and calls each(j, group) for polynomial j.
  template <class Each>
  __device__ __forceinline__ void load_secret(Fragments (&s)[S::kL], const uint8_t* noise, Each each) const {
    const PackedPolys<S::kMu> polys(noise, lane);
    typename PackedPolys<S::kMu>::Group bits[S::kL];
#pragma unroll
    for (int j = 0; j < S::kL; ++j)
      polys.load(bits[j], j);
#pragma unroll
    for (int j = 0; j < S::kL; ++j) {
      Pairs fields;
      polys.unpack(fields, bits[j]);
      const SecretGroup<S::kMu> group(fields);
      ByteGroup bytes, negated;
      group.to_bytes(bytes, negated);
      if (j > 0) __syncwarp();
      polykem::cuda::store_reversed<kN>(memory.reversed, bytes, negated, lane);
      __syncwarp();
      s[j].load(memory.reversed, lane);
      each(j, group);
    }
  }

  /// Begins to copy A of the item.
  __device__ __forceinline__ void begin_a(const uint8_t* a) const {
#pragma unroll
    for (int at = 16 * static_cast<int>(lane); at < S::kMatrixBytes; at += 16 * 32)
      polykem::cuda::begin_copy<16>(memory.a + at, a + at);
  }

  /// Adds to `sums` the product of a polynomial and s.
  __device__ __forceinline__ void add_product(Sums& sums, const Pairs& pairs, const Fragments& s,
                                              uint8_t* plain) const {
    const Limbs limbs(pairs);
#pragma unroll
    for (int limb = 0; limb < 2; ++limb)
      polykem::cuda::store_plain<kN>(plain + limb * ProductShape::kPlainBytes, limbs.bytes[limb], limbs.negated[limb],
                                     lane);
    __syncwarp();
    sums.template add<2>(plain, s, lane);
  }

  /// Computes A s or, if kTransposed, A^T s, and calls each(i, sums) for row i.
  template <bool kTransposed, class Each>
  __device__ __forceinline__ void multiply_a(const Fragments (&s)[S::kL], Each each) const {
    polykem::cuda::end_copies();
    __syncwarp();
    const PackedPolys<kQBits> polys(memory.a, lane);
    PackedPolys<kQBits>::Group next;
    polys.load(next, 0);
#pragma unroll 1
    for (int i = 0; i < S::kL; ++i) {
      Sums sums;
      sums.clear();
#pragma unroll
      for (int j = 0; j < S::kL; ++j) {
        Pairs pairs;
        polys.unpack(pairs, next);
        const int row = j + 1 < S::kL ? i : min(i + 1, S::kL - 1), column = (j + 1) % S::kL;
        polys.load(next, kTransposed ? column * S::kL + row : row * S::kL + column);
        add_product(sums, pairs, s[j], memory.plain[(i * S::kL + j) % 2]);
      }
      each(i, sums);
    }
  }

  /// Packs a polynomial into the record at `offset`: kBits bits of value(coefficient, half, odd) for each coefficient
  /// of `sums`.
  template <int kBits, class Value>
  __device__ __forceinline__ void pack_poly(int offset, const Sums& sums, Value value) const {
    constexpr uint32_t kMask = (1u << kBits) - 1;
#pragma unroll
    for (int half = 0; half < ProductShape::kHalves; ++half) {
      const uint32_t low = value(static_cast<uint32_t>(sums.coefficient(half, 0)), half, 0) & kMask;
      const uint32_t high = value(static_cast<uint32_t>(sums.coefficient(half, 1)), half, 1) & kMask;
      memory.pairs[32 * half + lane] = low | high << 16;
    }
    __syncwarp();
    const uint4 four = reinterpret_cast<const uint4*>(memory.pairs)[lane];
    const Pairs pairs = {four.x, four.y, four.z, four.w};
    pack_to_shared<kBits>(record_bytes() + offset, pairs, lane);
    __syncwarp();
  }

  /// Rounds row i of a vector and packs it into the record. [SABER20, 2.3]
  __device__ __forceinline__ void pack_rounded(int i, const Sums& sums) const {
    const auto rounded = [](uint32_t x, int, int) { return (x + kH1) >> (kQBits - kPBits); };
    pack_poly<kPBits>(i * static_cast<int>(kPolyPBytes), sums, rounded);
  }

  /// Copies kWords words of the item to byte `offset` of the record.
  template <int kWords>
  __device__ __forceinline__ void copy_words(int offset, const ItemWords& words) const {
    if (lane < kWords) memory.record[offset / 4 + lane] = words.at(static_cast<int>(lane), item);
    __syncwarp();
  }
};

/// The number of blocks for which a multiprocessor has registers without spills. Four polynomials of s take too many
/// registers for 16 blocks.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 900
template <class Set>
inline constexpr int kProductBlocks = Shape<Set>::kL == 4 ? 12 : 16;
inline constexpr int kDecryptBlocks = 20;
#else
template <class Set>
inline constexpr int kProductBlocks = 1;
inline constexpr int kDecryptBlocks = 1;
#endif

/// Computes A^T s, rounds it, and writes everything of pk and sk but H(pk).
template <class Set>
__global__ void __launch_bounds__(32, kProductBlocks<Set>) keygen_kernel(Work work) {
  using S = Shape<Set>;
  __shared__ ProductMemory<Set> memory;
  const ItemWarp<Set> warp{memory};
  uint8_t* const pk = work.pk_out + warp.item * S::kPublicKeyBytes;
  uint8_t* const sk = work.sk_out + warp.item * S::kSecretKeyBytes;
  warp.begin_a(work.a + warp.item * S::kMatrixBytes);
  Fragments s[S::kL];
  warp.load_secret(s, work.noise + warp.item * S::kNoiseBytes, [&](int j, const SecretGroup<S::kMu>& group) {
    Pairs pairs;
    group.to_pairs(pairs);
    pack_to_shared<kQBits>(warp.record_bytes() + j * static_cast<int>(kPolyQBytes), pairs, warp.lane);
  });
  __syncwarp();
  polykem::cuda::store_from_shared<S::kSecretBytes>(sk, memory.record, warp.lane);
  __syncwarp();
  warp.template copy_words<8>(0, work.z);
  polykem::cuda::store_from_shared<kSymBytes>(sk + S::kZOffset, memory.record, warp.lane);
  __syncwarp();
  warp.template multiply_a<true>(s, [&](int i, const Sums& sums) { warp.pack_rounded(i, sums); });
  warp.template copy_words<8>(S::kVectorBytes, work.seed_a);
  polykem::cuda::store_from_shared<S::kPublicKeyBytes>(pk, memory.record, warp.lane);
  polykem::cuda::store_from_shared<S::kPublicKeyBytes>(sk + S::kPkOffset, memory.record, warp.lane);
}

/// Computes Saber.PKE.Enc and leaves the ciphertext in memory.record.
template <class Set>
__device__ __forceinline__ void encrypt(const ItemWarp<Set>& warp, const Work& work) {
  using S = Shape<Set>;
  warp.begin_a(work.a_of<S>(warp.item));
  Fragments s[S::kL];
  warp.load_secret(s, work.noise + warp.item * S::kNoiseBytes, [](int, const SecretGroup<S::kMu>&) {});
  warp.template multiply_a<false>(s, [&](int i, const Sums& sums) { warp.pack_rounded(i, sums); });
  const PackedPolys<kPBits> b(work.b_of<S>(warp.item), warp.lane);
  PackedPolys<kPBits>::Group next;
  b.load(next, 0);
  uint32_t m[ProductShape::kHalves];
#pragma unroll
  for (int half = 0; half < ProductShape::kHalves; ++half)
    m[half] = work.m.at(2 * half + static_cast<int>(warp.lane / 16), warp.item);
  Sums sums;
  sums.clear();
#pragma unroll
  for (int j = 0; j < S::kL; ++j) {
    Pairs pairs;
    b.unpack(pairs, next);
    b.load(next, min(j + 1, S::kL - 1));
    warp.add_product(sums, pairs, s[j], warp.memory.plain[(S::kL + j) % 2]);
  }
  const auto compressed = [&](uint32_t x, int half, int odd) {
    const uint32_t bit = m[half] >> (2 * (warp.lane % 16) + odd) & 1;
    return ((x + kH1 - (bit << (kPBits - 1))) & kPMask) >> (kPBits - S::kT);
  };
  warp.template pack_poly<S::kT>(S::kVectorBytes, sums, compressed);
}

template <class Set>
__global__ void __launch_bounds__(32, kProductBlocks<Set>) encrypt_kernel(Work work) {
  using S = Shape<Set>;
  __shared__ ProductMemory<Set> memory;
  const ItemWarp<Set> warp{memory};
  encrypt(warp, work);
  polykem::cuda::store_from_shared<S::kCiphertextBytes>(work.ct_out + warp.item * S::kCiphertextBytes, memory.record,
                                                        warp.lane);
}

/// Computes the second encryption of a decapsulation and compares it with the ciphertext.
template <class Set>
__global__ void __launch_bounds__(32, kProductBlocks<Set>) compare_kernel(Work work) {
  using S = Shape<Set>;
  constexpr int kWords = S::kCiphertextBytes / 4;
  __shared__ ProductMemory<Set> memory;
  __shared__ uint32_t ct[kWords + 1];
  const ItemWarp<Set> warp{memory};
  const int skip =
      polykem::cuda::begin_record<S::kCiphertextBytes>(reinterpret_cast<uint8_t*>(ct), work.ct[warp.item], warp.lane);
  encrypt(warp, work);
  polykem::cuda::end_copies();
  __syncwarp();
  uint32_t differences = 0;
#pragma unroll
  for (int w = static_cast<int>(warp.lane); w < kWords; w += 32)
    differences |= __funnelshift_r(ct[w], ct[w + 1], 8 * skip) ^ memory.record[w];
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2)
    differences |= __shfl_xor_sync(0xffffffff, differences, distance);
  if (warp.lane == 0) work.fail.at(0, warp.item) = 0u - ((differences | (0u - differences)) >> 31);
}

/// Computes m by Saber.PKE.Dec. s has two limbs, since any record is a key and its coefficients may have all 13 bits.
template <class Set>
__global__ void __launch_bounds__(32, kDecryptBlocks) decrypt_kernel(Work work) {
  using S = Shape<Set>;
  constexpr int kLimbBytes = ProductShape::kReversedBytes;
  __shared__ struct alignas(128) Memory {
    uint8_t plain[kPlainBytes], reversed[2][kLimbBytes];
    uint32_t cm[kN * S::kT / 32];
  } memory;
  const size_t item = blockIdx.x;
  const unsigned lane = warp_lane();
  const uint8_t* const ct = work.ct[item];
  const PackedPolys<kPBits> b(ct, lane);
  const PackedPolys<kQBits> s(work.s_of<S>(item), lane);
#pragma unroll
  for (unsigned w = lane; w < kN * S::kT / 32; w += 32)
    memory.cm[w] = polykem::cuda::record_word(ct + S::kVectorBytes, static_cast<int>(w), 32 * S::kT);
  Sums sums;
  sums.clear();
  PackedPolys<kPBits>::Group next_b;
  PackedPolys<kQBits>::Group next_s;
  b.load(next_b, 0);
  s.load(next_s, 0);
#pragma unroll 1
  for (int j = 0; j < S::kL; ++j) {
    Pairs pairs;
    b.unpack(pairs, next_b);
    const Limbs b_limbs(pairs);
    s.unpack(pairs, next_s);
    const Limbs s_limbs(pairs);
    const int next = min(j + 1, S::kL - 1);
    b.load(next_b, next);
    s.load(next_s, next);
#pragma unroll
    for (int limb = 0; limb < 2; ++limb) {
      polykem::cuda::store_plain<kN>(memory.plain + limb * ProductShape::kPlainBytes, b_limbs.bytes[limb],
                                     b_limbs.negated[limb], lane);
      polykem::cuda::store_reversed<kN>(memory.reversed[limb], s_limbs.bytes[limb], s_limbs.negated[limb], lane);
    }
    __syncwarp();
    Fragments fragments;
    fragments.load(memory.reversed[0], lane);
    sums.template add<2, 0, false>(memory.plain, fragments, lane);
    fragments.load(memory.reversed[1], lane);
    sums.template add<1, 1, false>(memory.plain, fragments, lane);
    __syncwarp();
  }
#pragma unroll
  for (int half = 0; half < ProductShape::kHalves; ++half) {
    const int bit = S::kT * (64 * half + 2 * static_cast<int>(lane)), word = bit / 32;
    const uint32_t fields =
        __funnelshift_r(memory.cm[word], memory.cm[min(word + 1, static_cast<int>(kN) * S::kT / 32 - 1)], bit % 32);
    uint32_t bits = 0;
#pragma unroll
    for (int odd = 0; odd < 2; ++odd) {
      const uint32_t cm = fields >> (S::kT * odd) & ((1u << S::kT) - 1);
      const uint32_t v = static_cast<uint32_t>(sums.coefficient(half, odd));
      bits |= ((v + S::kParams.h2() - (cm << (kPBits - S::kT))) >> (kPBits - 1) & 1) << odd;
    }
    bits <<= 2 * (lane % 16);
#pragma unroll
    for (int distance = 8; distance > 0; distance /= 2)
      bits |= __shfl_xor_sync(0xffffffff, bits, distance);
    if (lane % 16 == 0) work.m.at(2 * half + static_cast<int>(lane / 16), item) = bits;
  }
}

/// Copies the parts of each key's record that its expanded form has unchanged: b and, for a secret key, s, H(pk) and z.
template <class Set, bool kSecret>
__global__ void __launch_bounds__(32) copy_parts_kernel(uint8_t* expanded, size_t key_bytes, Work work) {
  using S = Shape<Set>;
  using ExpandedKey = typename S::ExpandedKey;
  const size_t item = blockIdx.x;
  const unsigned lane = warp_lane();
  uint8_t* const expanded_key = expanded + item * key_bytes;
  const auto copy = [&](size_t to, const uint8_t* from, int bytes) {
    for (int w = static_cast<int>(lane); w < bytes / 4; w += 32)
      reinterpret_cast<uint32_t*>(expanded_key + to)[w] = polykem::cuda::record_word(from, w, bytes);
  };
  copy(ExpandedKey::kB, work.pk[item], S::kVectorBytes);
  if constexpr (kSecret) {
    copy(ExpandedKey::kHash, work.sk[item] + S::kHashOffset, kSymBytes);
    copy(ExpandedKey::kS, work.sk[item], S::kSecretBytes);
    copy(ExpandedKey::kZ, work.sk[item] + S::kZOffset, kSymBytes);
  }
}

}  // namespace polykem::saber::cuda
