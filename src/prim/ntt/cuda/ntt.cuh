// SPDX-License-Identifier: Apache-2.0
// The transform of Z_3329[x]/(x^256 + 1) on the device: 16 neighbouring lanes of a warp hold a polynomial, 16
// coefficients in the registers of each. In columns, lane l holds the coefficients l + 16 r, r < 16; in rows, 16 l + r.
// Layers 128 to 16 stay within a lane in columns, layers 8 to 2 in rows. [FIPS203, 4.3]
//
// A factor w is kept as ceil(w 2^32 / q). The low half of a times that number is the fraction of a w / q, and q times
// the fraction is exactly a w mod q, while a < 2^32 / q. So a butterfly is two multiplications, an addition and a
// subtraction, and sums need no reduction: a layer of the transform adds at most q, one of its inverse doubles at most.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/range.hpp"
#include "prim/ntt/ntt.hpp"

namespace polykem::cuda {

inline constexpr uint32_t kNttQ = ntt::kQ;
inline constexpr int kPolyLanes = 16;  ///< lanes that hold a polynomial
inline constexpr int kLaneCoefficients = 16;

/// 16 coefficients of one lane, each an unsigned number; bounds are stated where they matter.
using Coefficients = uint32_t[kLaneCoefficients];

/// Returns the upper half of the product.
__host__ __device__ constexpr uint32_t multiply_high(uint32_t a, uint32_t b) {
  return static_cast<uint32_t>((uint64_t{a} * b) >> 32);
}

/// Returns the form of a factor w < q for multiply_by().
__host__ __device__ constexpr uint32_t factor_of(uint32_t w) {
  return static_cast<uint32_t>(((uint64_t{w} << 32) + kNttQ - 1) / kNttQ);
}

/// The bound of multiply_by()'s first operand.
inline constexpr uint32_t kMaxMultiplied = 0xffffffff / kNttQ;
/// Returns a w mod q in [0, q), for a < kMaxMultiplied and the form `factor` of w.
__host__ __device__ constexpr uint32_t multiply_by(uint32_t a, uint32_t factor) {
  POLYKEM_ASSERT_RANGE(a, 0, kMaxMultiplied);
  return multiply_high(a * factor, kNttQ);
}

/// Returns a number below 2q that is x mod q, for any x. (check-magic: 1290167 == floor(2^32 / 3329))
__host__ __device__ constexpr uint32_t reduce_to_2q(uint32_t x) {
  return x - multiply_high(x, 1290167) * kNttQ;
}

/// Returns x mod q in [0, q), for x < kMaxMultiplied. (check-magic: 1290168 == ceil(2^32 / 3329))
__host__ __device__ constexpr uint32_t reduce_small(uint32_t x) {
  return multiply_by(x, 1290168);
}

/// Returns kZetas[i] as a factor, i < 16, divided by 2^7 if kDivided.
template <bool kDivided = false>
__host__ __device__ constexpr uint32_t column_factor(int i) {
  struct Table {
    uint32_t of[16];
    constexpr Table() : of{} {
      for (size_t k = 0; k < 16; ++k)
        of[k] = factor_of(kDivided ? ntt::kZetas[k] * ntt::kInverse128 % kNttQ : ntt::kZetas[k]);
    }
  };
  constexpr Table kTable;
  return kTable.of[i];
}

/// The factors of one lane in rows: one of layer 8, two of layer 4, four of layer 2.
struct alignas(16) RowFactors {
  uint32_t eight, four[2], two[4], unused;
};

struct RowFactorTable {
  RowFactors forward[kPolyLanes], inverse[kPolyLanes];
};

constexpr RowFactorTable row_factor_table() {
  RowFactorTable table{};
  for (size_t l = 0; l < kPolyLanes; ++l) {
    RowFactors &f = table.forward[l], &v = table.inverse[l];
    f.eight = factor_of(ntt::kZetas[16 + l]);
    v.eight = factor_of(ntt::kZetas[31 - l]);
    for (size_t j = 0; j < 2; ++j) {
      f.four[j] = factor_of(ntt::kZetas[32 + 2 * l + j]);
      v.four[j] = factor_of(ntt::kZetas[63 - 2 * l - j]);
    }
    for (size_t j = 0; j < 4; ++j) {
      f.two[j] = factor_of(ntt::kZetas[64 + 4 * l + j]);
      v.two[j] = factor_of(ntt::kZetas[127 - 4 * l - j]);
    }
  }
  return table;
}

__device__ constexpr RowFactorTable kRowFactors = row_factor_table();

/// Computes one layer on a lane's coefficients, which combines pairs kLength apart. factor(block) returns the factor of
/// the pairs of a block of 2 kLength.
template <int kLength, class Factor>
__host__ __device__ __forceinline__ void forward_layer(Coefficients& a, Factor factor) {
#pragma unroll
  for (int pair = 0; pair < kLaneCoefficients / 2; ++pair) {
    const int block = pair / kLength, j = block * 2 * kLength + pair % kLength;
    const uint32_t t = multiply_by(a[j + kLength], factor(block));
    a[j + kLength] = a[j] - t + kNttQ;
    a[j] += t;
  }
}

/// Computes one layer of the inverse; coefficients are below kBound before, and below 2 kBound afterwards.
template <int kLength, uint32_t kBound, class Factor>
__host__ __device__ __forceinline__ void inverse_layer(Coefficients& a, Factor factor) {
  static_assert(kBound % kNttQ == 0 && 2 * kBound < kMaxMultiplied);
#pragma unroll
  for (int pair = 0; pair < kLaneCoefficients / 2; ++pair) {
    const int block = pair / kLength, j = block * 2 * kLength + pair % kLength;
    const uint32_t difference = a[j + kLength] - a[j] + kBound;
    a[j] += a[j + kLength];
    a[j + kLength] = multiply_by(difference, factor(block));
  }
}

/// Computes layers 128, 64, 32, 16 of the transform, in columns. Adds at most 4q to the bound.
__host__ __device__ __forceinline__ void forward_columns(Coefficients& a) {
  forward_layer<8>(a, [](int) { return column_factor(1); });
  forward_layer<4>(a, [](int block) { return column_factor(2 + block); });
  forward_layer<2>(a, [](int block) { return column_factor(4 + block); });
  forward_layer<1>(a, [](int block) { return column_factor(8 + block); });
}

/// Computes layers 8, 4, 2 of the transform, in rows. Adds at most 3q to the bound.
__host__ __device__ __forceinline__ void forward_rows(Coefficients& a, const RowFactors& factors) {
  forward_layer<8>(a, [&](int) { return factors.eight; });
  forward_layer<4>(a, [&](int block) { return factors.four[block]; });
  forward_layer<2>(a, [&](int block) { return factors.two[block]; });
}

/// Computes layers 2, 4, 8 of the inverse, in rows. Coefficients are below 2q before, and below 16q afterwards.
__host__ __device__ __forceinline__ void inverse_rows(Coefficients& a, const RowFactors& factors) {
  inverse_layer<2, 2 * kNttQ>(a, [&](int block) { return factors.two[block]; });
  inverse_layer<4, 4 * kNttQ>(a, [&](int block) { return factors.four[block]; });
  inverse_layer<8, 8 * kNttQ>(a, [&](int) { return factors.eight; });
}

/// Computes layers 16, 32, 64, 128 of the inverse and the division by 2^7, in columns. Coefficients are below 16q
/// before, and in [0, q) afterwards.
__host__ __device__ __forceinline__ void inverse_columns(Coefficients& a) {
  inverse_layer<1, 16 * kNttQ>(a, [](int block) { return column_factor(15 - block); });
  inverse_layer<2, 32 * kNttQ>(a, [](int block) { return column_factor(7 - block); });
  inverse_layer<4, 64 * kNttQ>(a, [](int block) { return column_factor(3 - block); });
  inverse_layer<8, 128 * kNttQ>(a, [](int) { return column_factor<true>(1); });
#pragma unroll
  for (int j = 0; j < kLaneCoefficients / 2; ++j)
    a[j] = multiply_by(a[j], factor_of(ntt::kInverse128));
}

/// Sets `odd` to the odd coefficients of a transform in rows times the gammas of their pairs, in [0, q].
/// [FIPS203, Alg 11, L2]
__host__ __device__ __forceinline__ void times_gamma(uint32_t (&odd)[8], const Coefficients& y,
                                                     const RowFactors& forward) {
#pragma unroll
  for (int pair = 0; pair < 8; pair += 2) {
    odd[pair] = multiply_by(y[2 * pair + 1], forward.two[pair / 2]);
    odd[pair + 1] = kNttQ - multiply_by(y[2 * pair + 3], forward.two[pair / 2]);
  }
}

/// Adds a y to the sum, for one pair of coefficients a0, a1 below 2^12. The sum of four such products of transforms
/// below 8q stays below 2^30. [FIPS203, Alg 12]
__host__ __device__ __forceinline__ void add_product(uint32_t& sum0, uint32_t& sum1, uint32_t a0, uint32_t a1,
                                                     uint32_t y0, uint32_t y1, uint32_t y1_gamma) {
  sum0 += a0 * y0;
  sum1 += a0 * y1;
  sum0 += a1 * y1_gamma;
  sum1 += a1 * y0;
}

/// Returns round(x 2^kBits / q) mod 2^kBits for x < 3q, by a division by a reciprocal that is exact up to 2^36 / q.
/// (check-magic: 20642679 == ceil(2^36 / 3329)) [FIPS203, 4.2.1, Compress]
template <int kBits>
__host__ __device__ constexpr uint32_t compress(uint32_t x) {
  static_assert((3 * kNttQ << kBits) + kNttQ / 2 < 20642679);
  POLYKEM_ASSERT_RANGE(x, 0, 3 * kNttQ);
  return (multiply_high((x << kBits) + kNttQ / 2, 20642679) >> 4) & ((1u << kBits) - 1);
}

/// Returns round(q y / 2^kBits), in [0, q), for y < 2^kBits. [FIPS203, 4.2.1, Decompress]
template <int kBits>
__host__ __device__ constexpr uint32_t decompress(uint32_t y) {
  POLYKEM_ASSERT_RANGE(y, 0, 1 << kBits);
  return (y * kNttQ + (1u << (kBits - 1))) >> kBits;
}

#ifdef __CUDACC__

/// The shared memory in which 16 lanes exchange a polynomial. Four words of padding follow each 16, so that neither
/// columns nor rows of four words meet in a bank. The two halves of a warp lie kExchangeStride apart, in different
/// banks.
inline constexpr int kExchangeRow = 20, kExchangeWords = 16 * kExchangeRow, kExchangeStride = kExchangeWords + 16;

/// Moves coefficients from columns to rows; `l` is the lane's index among the 16. All lanes of the warp call it
/// together, like all functions below.
__device__ __forceinline__ void to_rows(Coefficients& a, uint32_t* exchange, unsigned l) {
  __syncwarp();
#pragma unroll
  for (int r = 0; r < kLaneCoefficients; ++r)
    exchange[kExchangeRow * r + static_cast<int>(l)] = a[r];
  __syncwarp();
#pragma unroll
  for (int c = 0; c < 4; ++c) {
    const uint4 four = reinterpret_cast<const uint4*>(exchange + kExchangeRow * l)[c];
    a[4 * c] = four.x, a[4 * c + 1] = four.y, a[4 * c + 2] = four.z, a[4 * c + 3] = four.w;
  }
}

/// Moves coefficients from rows to columns.
__device__ __forceinline__ void to_columns(Coefficients& a, uint32_t* exchange, unsigned l) {
  __syncwarp();
#pragma unroll
  for (int c = 0; c < 4; ++c)
    reinterpret_cast<uint4*>(exchange + kExchangeRow * l)[c] =
        make_uint4(a[4 * c], a[4 * c + 1], a[4 * c + 2], a[4 * c + 3]);
  __syncwarp();
#pragma unroll
  for (int r = 0; r < kLaneCoefficients; ++r)
    a[r] = exchange[kExchangeRow * r + static_cast<int>(l)];
}

/// Computes the transform, from columns to rows; coefficients are below 2q before, and below 9q afterwards.
__device__ __forceinline__ void forward_transform(Coefficients& a, const RowFactors& factors, uint32_t* exchange,
                                                  unsigned l) {
  forward_columns(a);
  to_rows(a, exchange, l);
  forward_rows(a, factors);
}

/// Computes the inverse, from rows to columns; coefficients are any sums before, and in [0, q) afterwards.
__device__ __forceinline__ void inverse_transform(Coefficients& a, const RowFactors& factors, uint32_t* exchange,
                                                  unsigned l) {
#pragma unroll
  for (uint32_t& x : a)
    x = reduce_to_2q(x);
  inverse_rows(a, factors);
  to_columns(a, exchange, l);
  inverse_columns(a);
}

#endif

}  // namespace polykem::cuda
