// SPDX-License-Identifier: Apache-2.0
// The transform of Z_q[x]/(x^256 + 1), q = 2^23 - 2^13 + 1, on the device: 16 neighbouring lanes of a warp hold a
// polynomial, 16 coefficients in the registers of each, in columns or rows as in prim/ntt/cuda/ntt.cuh. Layers 128 to
// 16 stay within a lane in columns, layers 8 to 1 in rows. [FIPS204, 7.5]
//
// A factor w is kept with floor(w 2^32 / q), so that a butterfly takes three multiplications and no reduction: products
// are below 2q for any word, a layer of the transform adds at most 2q, a layer of the inverse doubles at most, and
// 512q < 2^32.
#pragma once

#include <array>

#include "prim/ntt/cuda/ntt.cuh"
#include "schemes/mldsa/modulus.hpp"

namespace polykem::mldsa::cuda {

using polykem::cuda::Coefficients;
using polykem::cuda::kExchangeWords;
using polykem::cuda::kLaneCoefficients;
using polykem::cuda::kPolyLanes;

inline constexpr uint32_t kModulus = kQ;
static_assert(uint64_t{512} * kModulus < uint64_t{1} << 32);

struct Factor {
  uint32_t value, quotient;  ///< w in [0, q), floor(w 2^32 / q)
};

__host__ __device__ constexpr Factor factor_of(uint64_t w) {
  return {static_cast<uint32_t>(w % kModulus), static_cast<uint32_t>((w % kModulus << 32) / kModulus)};
}

/// Returns a w mod q in [0, 2q), for any a.
__host__ __device__ constexpr uint32_t multiply_by(uint32_t a, Factor w) {
  return a * w.value - polykem::cuda::multiply_high(a, w.quotient) * kModulus;
}

/// Returns x mod q in [0, q), for x < 2q.
__host__ __device__ constexpr uint32_t reduced_once(uint32_t x) {
  const uint32_t less = x - kModulus;
  return less < x ? less : x;
}

/// Returns x / 2^32 mod q, below x / 2^32 + q.
__host__ __device__ constexpr uint32_t divided_by_2_32(uint64_t x) {
  const uint32_t m = static_cast<uint32_t>(x) * (0U - static_cast<uint32_t>(kInverseQ));
  return static_cast<uint32_t>((x + uint64_t{m} * kModulus) >> 32);
}

/// Entry i is zeta^BitRev8(i). [FIPS204, Appendix B]
inline constexpr std::array<uint32_t, 256> kPlainZetas = [] {
  std::array<uint32_t, 256> zetas{};
  uint64_t power = 1;
  for (size_t exponent = 0; exponent < 256; ++exponent) {
    size_t reversed = 0;
    for (int bit = 0; bit < 8; ++bit)
      reversed |= (exponent >> bit & 1) << (7 - bit);
    zetas[reversed] = static_cast<uint32_t>(power);
    power = power * kRoot % kModulus;
  }
  return zetas;
}();

/// 2^32 / 256, the last factor of the inverse transform of what divided_by_2_32() returned.
inline constexpr uint64_t kLastFactor = uint64_t{1} << 24;

__host__ __device__ constexpr Factor column_factor(int i) {
  constexpr auto kTable = [] {
    std::array<Factor, 16> table{};
    for (size_t k = 0; k < 16; ++k)
      table[k] = factor_of(kPlainZetas[k]);
    return table;
  }();
  return kTable[static_cast<size_t>(i)];
}

/// The factors of each lane for the layers in rows: one for layer 8, then two for layer 4, four for layer 2 and eight
/// for layer 1. They are in pairs, as a lane loads them, each beside those of the other lanes.
struct RowFactorTable {
  struct alignas(16) Pair {
    Factor of[2];
  };
  Pair forward[8][kPolyLanes], inverse[8][kPolyLanes];
};

constexpr RowFactorTable row_factor_table() {
  RowFactorTable table{};
  for (size_t l = 0; l < kPolyLanes; ++l) {
    for (size_t count = 1, first = 0; count <= 8; first += count, count *= 2) {
      for (size_t j = 0; j < count; ++j) {
        const size_t blocks = 16 * count, block = l * count + j, at = first + j;
        table.forward[at / 2][l].of[at % 2] = factor_of(kPlainZetas[blocks + block]);
        table.inverse[at / 2][l].of[at % 2] = factor_of(kPlainZetas[2 * blocks - 1 - block]);
      }
    }
  }
  return table;
}

__device__ constexpr RowFactorTable kRowFactors = row_factor_table();

/// A lane's factors in its registers.
struct RowFactors {
  Factor of[16];
  __device__ __forceinline__ RowFactors(const RowFactorTable::Pair (&table)[8][kPolyLanes], unsigned l) {
#pragma unroll
    for (int pair = 0; pair < 8; ++pair) {
      const uint4 four = *reinterpret_cast<const uint4*>(&table[pair][l]);
      of[2 * pair] = {four.x, four.y};
      of[2 * pair + 1] = {four.z, four.w};
    }
  }
};

/// Computes one layer on a lane's coefficients, in pairs that are kLength apart. factor(block) is the factor of the
/// pairs of a block of 2 kLength.
template <int kLength, class FactorOf>
__host__ __device__ __forceinline__ void forward_layer(Coefficients& a, FactorOf factor) {
#pragma unroll
  for (int pair = 0; pair < kLaneCoefficients / 2; ++pair) {
    const int block = pair / kLength, j = block * 2 * kLength + pair % kLength;
    const uint32_t t = multiply_by(a[j + kLength], factor(block));
    a[j + kLength] = a[j] - t + 2 * kModulus;
    a[j] += t;
  }
}

/// Computes one layer of the inverse. Coefficients are below kBound q before, below 2 kBound q afterwards.
template <int kLength, uint32_t kBound, class FactorOf>
__host__ __device__ __forceinline__ void inverse_layer(Coefficients& a, FactorOf factor) {
  static_assert(kBound <= 256);
#pragma unroll
  for (int pair = 0; pair < kLaneCoefficients / 2; ++pair) {
    const int block = pair / kLength, j = block * 2 * kLength + pair % kLength;
    const uint32_t difference = a[j + kLength] - a[j] + kBound * kModulus;
    a[j] += a[j + kLength];
    a[j + kLength] = multiply_by(difference, factor(block));
  }
}

/// Transforms a polynomial from columns to rows; adds 16q to the bound of its coefficients.
__device__ __forceinline__ void forward_transform(Coefficients& a, uint32_t* exchange, unsigned l) {
  forward_layer<8>(a, [](int) { return column_factor(1); });
  forward_layer<4>(a, [](int block) { return column_factor(2 + block); });
  forward_layer<2>(a, [](int block) { return column_factor(4 + block); });
  forward_layer<1>(a, [](int block) { return column_factor(8 + block); });
  polykem::cuda::to_rows(a, exchange, l);
  const RowFactors f(kRowFactors.forward, l);
  forward_layer<8>(a, [&](int) { return f.of[0]; });
  forward_layer<4>(a, [&](int block) { return f.of[1 + block]; });
  forward_layer<2>(a, [&](int block) { return f.of[3 + block]; });
  forward_layer<1>(a, [&](int block) { return f.of[7 + block]; });
}

/// Transforms what divided_by_2_32() returned back, from rows to columns. Coefficients are below 2q before and
/// in [0, q) afterwards.
__device__ __forceinline__ void inverse_transform(Coefficients& a, uint32_t* exchange, unsigned l) {
  const RowFactors f(kRowFactors.inverse, l);
  inverse_layer<1, 2>(a, [&](int block) { return f.of[7 + block]; });
  inverse_layer<2, 4>(a, [&](int block) { return f.of[3 + block]; });
  inverse_layer<4, 8>(a, [&](int block) { return f.of[1 + block]; });
  inverse_layer<8, 16>(a, [&](int) { return f.of[0]; });
  polykem::cuda::to_columns(a, exchange, l);
  inverse_layer<1, 32>(a, [](int block) { return column_factor(15 - block); });
  inverse_layer<2, 64>(a, [](int block) { return column_factor(7 - block); });
  inverse_layer<4, 128>(a, [](int block) { return column_factor(3 - block); });
  constexpr Factor kLast = factor_of(kLastFactor), kLastZeta = factor_of(kLastFactor % kModulus * kPlainZetas[1]);
  inverse_layer<8, 256>(a, [&](int) { return kLastZeta; });
#pragma unroll
  for (int j = 0; j < kLaneCoefficients / 2; ++j)
    a[j] = multiply_by(a[j], kLast);
#pragma unroll
  for (uint32_t& x : a)
    x = reduced_once(x);
}

/// 64-bit sums of products of a lane's coefficients. They are below 422 q^2, so divided_by_2_32() returns less than 2q.
struct Sums {
  uint64_t of[kLaneCoefficients] = {};

  __device__ __forceinline__ void add(int i, uint32_t a, uint32_t b) { of[i] += uint64_t{a} * b; }
  __device__ __forceinline__ void add(const Coefficients& a, const Coefficients& b) {
#pragma unroll
    for (int i = 0; i < kLaneCoefficients; ++i)
      add(i, a[i], b[i]);
  }
  __device__ __forceinline__ void reduce(Coefficients& out) const {
#pragma unroll
    for (int i = 0; i < kLaneCoefficients; ++i)
      out[i] = divided_by_2_32(of[i]);
  }
};

}  // namespace polykem::mldsa::cuda
