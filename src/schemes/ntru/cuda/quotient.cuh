// SPDX-License-Identifier: Apache-2.0
// The quotients of key generation, h = G / f and 1/h = f / G, from an inverse mod 2^8.
//
// With a numerator p, a denominator d and v = 1/(p d) mod 2^8, four products of bytes give c = p / d mod q:
//
//   a = v p mod 2^8, which is 1/d;  c0 = a p mod 2^8;  2^8 e = d c0 - p, which is exact;  c = c0 - 2^8 a e.
//
// All of it is modulo Phi_n. As p is small, e is d c0 / 2^8 rounded to the nearest integer, and needs no p.
#pragma once

#include "schemes/ntru/cuda/dpke.cuh"
#include "schemes/ntru/cuda/kernels.cuh"

namespace polykem::ntru::cuda {

/// Returns 1/n mod 2^16 for an odd n, by Newton's method.
constexpr uint32_t inverse_mod_2_16(uint32_t n) {
  uint32_t inverse = n;  // correct in three bits
  for (int bits = 3; bits < 16; bits *= 2)
    inverse *= 2 - n * inverse;
  return inverse & 0xffff;
}

/// A warp's quotient. All 32 lanes make every call together.
template <class Set>
class Quotient {
 public:
  using S = Shape<Set>;
  using P = Product<Set, MulKind::kBytes>;

  struct Shared {
    alignas(128) uint8_t operands[P::Shape::kShared];
    alignas(16) uint8_t rows[3][S::kRow];  ///< p, then c0; v, then a; d, then e
  };

  /// Computes numerator / denominator mod (q, Phi_n). inverse: of their product, mod (2^8, Phi_n). All three are rows
  /// of bytes; those of the numerator and the denominator are signed, and at most 4 in absolute value.
  __device__ __forceinline__ Quotient(Shared& shared, const uint8_t* numerator, const uint8_t* inverse,
                                      const uint8_t* denominator)
      : shared_(shared), product_(shared.operands) {
    for (int at = 16 * static_cast<int>(product_.lane); at < S::kRow; at += 16 * 32) {
      polykem::cuda::begin_copy<16>(shared_.rows[0] + at, numerator + at);
      polykem::cuda::begin_copy<16>(shared_.rows[1] + at, inverse + at);
      polykem::cuda::begin_copy<16>(shared_.rows[2] + at, denominator + at);
    }
    polykem::cuda::end_copies();
#pragma unroll 1  // four products in a row are too much code
    for (int step = 0;; ++step) {
      __syncwarp();
      if (step != 1) store_plain(step == 0 ? 0 : 2);
      store_reversed(step == 2 ? 0 : 1);
      multiply(product_);
      if (step == 3) break;
      keep(step == 0 ? 1 : step == 1 ? 0 : 2, step == 2);
    }
  }

  /// Calls f(w, pair) for the words that this lane holds: `pair` has the quotient's coefficients 2w and 2w + 1, of
  /// which those from n on are undefined.
  template <class F>
  __device__ __forceinline__ void for_each_pair(F&& f) const {
    product_.for_each_pair(0x00ff00ff, [&](unsigned w, uint32_t high) { f(w, pair(w, high)); });
  }

  /// Returns coefficient n - 1 in every lane.
  __device__ __forceinline__ uint32_t last_coefficient() const {
    return pair((S::kN - 1) / 2, static_cast<uint32_t>(product_.last_coefficient()) & 0xff) & 0xffff;
  }

  /// Returns the sum of all coefficients mod 2^16.
  __device__ __forceinline__ uint32_t at_one() const {
    uint32_t sums = 0;
    for_each_pair([&sums](unsigned w, uint32_t pair) {
      if (2 * w < S::kN) sums = __vadd2(sums, 2 * w + 1 < S::kN ? pair : pair & 0xffff);
    });
    return warp_sum((sums & 0xffff) + (sums >> 16));
  }

  /// Packs factor times the quotient plus `add` in each coefficient, and zeros where `keep` is 0. Overwrites the
  /// operands.
  __device__ __forceinline__ void store(uint8_t* record, uint32_t factor, uint32_t add, uint32_t keep) {
    static_assert(2 * (kGuard + S::kRow) <= P::Shape::kShared);
    auto* const c = reinterpret_cast<uint16_t*>(shared_.operands) + kGuard;
    for_each_pair([=](unsigned w, uint32_t pair) {
      const uint32_t both = __byte_perm((pair & 0xffff) * factor + add, (pair >> 16) * factor + add, 0x5410);
      reinterpret_cast<uint32_t*>(c)[w] = 2 * w + 1 < S::kN ? both & (S::kMask & keep) * 0x10001u : 0;
    });
    store_rq<Set>(record, c, product_.lane);
  }

 private:
  __device__ __forceinline__ void store_plain(int row) {
    ByteGroups<Set> bytes;
    load_bytes<Set>(bytes, shared_.rows[row], product_.lane);
    product_.store_plain_bytes(bytes);
  }
  __device__ __forceinline__ void store_reversed(int row) {
    ByteGroups<Set> bytes;
    load_bytes<Set>(bytes, shared_.rows[row], product_.lane);
    product_.store_reversed_bytes(bytes);
  }

  /// Writes the product mod 2^8 to a row or, for e, the product mod Phi_n divided by 2^8 and rounded.
  __device__ __forceinline__ void keep(int row, bool e) {
    auto* const to = reinterpret_cast<uint16_t*>(shared_.rows[row]);
    const uint32_t minus = e ? (static_cast<uint32_t>(product_.last_coefficient() - 128) & 0xffff) * 0x10001u : 0;
    const uint32_t bytes = e ? 0x4431 : 0x4420;
    product_.for_each_pair(0xffffffff, [=](unsigned w, uint32_t pair) {
      to[w] = static_cast<uint16_t>(__byte_perm(__vsub2(pair, minus), 0, bytes));
    });
  }

  /// Returns two coefficients c0 - 2^8 `high`.
  __device__ __forceinline__ uint32_t pair(unsigned w, uint32_t high) const {
    return __vsub2(signed_pair<0x9180>(reinterpret_cast<const uint16_t*>(shared_.rows[0])[w]), high << 8);
  }

  Shared& shared_;
  P product_;
};

/// Computes poly_Sq_tobytes of 1/h = f / (3 g), where g = G / 3. Items in which f or g was 0 become 0. f, g: rows of
/// bytes; v: 1/(f g) mod (2^8, Phi_n), like them. Each block computes one item.
/// (check-magic: 43691 == (2 * 2^16 + 1) / 3)
template <class Set>
__global__ void __launch_bounds__(32, polykem::cuda::kImmaBlocks<Shape<Set>::kN>)
    pack_invh_kernel(uint8_t* sk, const uint8_t* f, const uint8_t* v, const uint8_t* g, const ZeroMasks* zero) {
  using S = Shape<Set>;
  __shared__ typename Quotient<Set>::Shared shared;
  const size_t row = blockIdx.x * size_t{S::kRow};
  Quotient<Set> quotient(shared, f + row, v + row, g + row);
  quotient.store(sk + block_again() * S::kSecretKeyBytes + S::kInverseHOffset, 43691,
                 0u - 43691 * quotient.last_coefficient(), ~zero[block_again()].either);
}

/// Computes poly_Rq_sum_zero_tobytes of h = 3 g / f, from what pack_invh_kernel() takes. The multiple of Phi_n that is
/// added makes h(1) = 0. Items in which f or g was 0 become 0.
template <class Set>
__global__ void __launch_bounds__(32, polykem::cuda::kImmaBlocks<Shape<Set>::kN>)
    pack_h_kernel(uint8_t* pk, const uint8_t* f, const uint8_t* v, const uint8_t* g, const ZeroMasks* zero) {
  using S = Shape<Set>;
  __shared__ typename Quotient<Set>::Shared shared;
  const size_t row = blockIdx.x * size_t{S::kRow};
  Quotient<Set> quotient(shared, g + row, v + row, f + row);
  quotient.store(pk + block_again() * S::kPublicKeyBytes, 3, 0u - 3 * inverse_mod_2_16(S::kN) * quotient.at_one(),
                 ~zero[block_again()].either);
}

}  // namespace polykem::ntru::cuda
