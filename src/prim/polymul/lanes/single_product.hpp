// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>

#include "core/round.hpp"
#include "core/unroll.hpp"
#include "prim/polymul/lanes/toom_points.hpp"
#include "prim/polymul/lanes/transpose.hpp"

/// Products for a single item. Its coefficients are split, a transposition puts one sub-product into each lane, and the
/// kernels for many items multiply them.
namespace polykem::polymul {
inline namespace POLYKEM_ISA {

/// Computes c = a b modulo x^kN - 1 for one item: Outer, then two Karatsuba levels, then sub-products of kS
/// coefficients in lanes. Rows of words have a stride kSp or kRp that is a multiple of the lanes; the words past kS are
/// never used.
template <size_t kN, class Outer, class Inner>
struct SingleProduct {
  static constexpr size_t kS = Inner::kSize;
  static constexpr size_t kBlock = 4 * kS;
  static constexpr size_t kPoints = Outer::kPoints;
  static_assert(Outer::kBlocks * kBlock >= kN);
  static constexpr size_t kSubs = 9 * kPoints;
  static constexpr size_t kGroups = rounded_up(kSubs, kLanes) / kLanes;
  static constexpr size_t kSp = rounded_up(kS, kLanes);
  static constexpr size_t kRp = rounded_up(2 * kS, kLanes);
  static constexpr size_t kPadded = rounded_up(Outer::kBlocks * kBlock, kLanes) + kLanes;
  static constexpr size_t kLinearBlocks = 4 * (kPoints + 1);
  static constexpr size_t kLinear = kLinearBlocks * kS + kSp;

  /// The sizes of the workspace's regions, in words. Later stages reuse regions that earlier ones no longer need.
  static constexpr size_t kSplitWords = kGroups * kLanes * kSp;    // sub-operands, a row each
  static constexpr size_t kLaneWords = kGroups * kSp * kLanes;     // sub-operands, transposed
  static constexpr size_t kProductWords = kGroups * kRp * kLanes;  // products, either way round
  static constexpr size_t kBlockProductWords = kPoints * 8 * kSp;
  static constexpr size_t kWords = rounded_up(kPadded, 32) + kSplitWords + 2 * kLaneWords + 2 * kProductWords +
                                   kBlockProductWords + rounded_up(kLinear + kN, 32) + Inner::kTmpRows * kLanes;
  static constexpr size_t kWorkspaceBytes = kWords * sizeof(uint16_t);

  static POLYKEM_NOINLINE void mul(uint16_t* c, const uint16_t* a, const uint16_t* b, uint16_t* workspace) {
    uint16_t* padded = workspace;
    uint16_t* split = padded + rounded_up(kPadded, 32);
    uint16_t* lanes_a = split + kSplitWords;
    uint16_t* lanes_b = lanes_a + kLaneWords;
    uint16_t* products = lanes_b + kLaneWords;
    uint16_t* rows = products + kProductWords;
    uint16_t* block_products = rows + kProductWords;
    uint16_t* linear = block_products + kBlockProductWords;
    uint16_t* tmp = linear + rounded_up(kLinear + kN, 32);
    split_into_lanes(lanes_a, a, padded, split);
    split_into_lanes(lanes_b, b, padded, split);
    for (size_t g = 0; g < kGroups; ++g) {
      uint16_t* product = products + g * kRp * kLanes;
      Inner::mul(product, lanes_a + g * kSp * kLanes, lanes_b + g * kSp * kLanes, tmp);
      store_row(product, 2 * kS - 1, V16::zero());
      for (size_t t = 0; t < kRp; t += kLanes) {
        transpose_tile<kRp, kLanes>(rows + g * kLanes * kRp + t, product + t * kLanes);
      }
    }
    combine_karatsuba(block_products, rows);
    combine_outer(linear, block_products);
    fold(c, linear);
  }

 private:
  /// Splits a into sub-operands: row r of `lanes` is coefficient r of the sub-operands, kLanes of them in a group.
  static POLYKEM_NOINLINE void split_into_lanes(uint16_t* lanes, const uint16_t* a, uint16_t* padded, uint16_t* split) {
    std::memcpy(padded, a, kN * sizeof(uint16_t));
    std::memset(padded + kN, 0, (kPadded - kN) * sizeof(uint16_t));
    for (size_t i = 0; i < kS; i += kLanes) {
      V16 e[4][kPoints];
      unroll<4>([&](auto j) __attribute__((always_inline)) {
        V16 r[Outer::kBlocks];
        unroll<Outer::kBlocks>([&](auto k) __attribute__((always_inline)) {
          r[k] = V16::load_unaligned(padded + k * kBlock + j * kS + i);
        });
        Outer::evaluate(e[j], r);
      });
      unroll<kPoints>([&](auto p) __attribute__((always_inline)) {
        const V16 even = e[0][p] + e[2][p];
        const V16 odd = e[1][p] + e[3][p];
        const V16 subs[9] = {e[0][p],           e[1][p], e[2][p], e[3][p],   e[0][p] + e[1][p],
                             e[2][p] + e[3][p], even,    odd,     even + odd};
        unroll<9>([&](auto s) __attribute__((always_inline)) { subs[s].store(split + (9 * p + s) * kSp + i); });
      });
    }
    for (size_t g = 0; g < kGroups; ++g) {
      for (size_t t = 0; t < kSp; t += kLanes) {
        transpose_tile<kLanes, kSp>(lanes + (g * kSp + t) * kLanes, split + g * kLanes * kSp + t);
      }
    }
  }

  /// Computes the blocks of kS words of the product of two pairs, from the products of low, high and sum.
  static POLYKEM_INLINE void karatsuba_pair(V16 (&out)[4], const uint16_t* low, const uint16_t* high,
                                            const uint16_t* sum) {
    const V16 low0 = V16::load_unaligned(low);
    const V16 low1 = V16::load_unaligned(low + kS);
    const V16 high0 = V16::load_unaligned(high);
    const V16 high1 = V16::load_unaligned(high + kS);
    const V16 diff = low1 - high0;
    out[0] = low0;
    out[1] = V16::load_unaligned(sum) + (diff - low0);
    out[2] = (V16::load_unaligned(sum + kS) - diff) - high1;
    out[3] = high1;
  }

  /// For each point, combines the nine products into eight blocks of kS words (stride kSp): the product of 4 kS by 4 kS
  /// coefficients.
  static POLYKEM_NOINLINE void combine_karatsuba(uint16_t* out, const uint16_t* rows) {
    for (size_t p = 0; p < kPoints; ++p) {
      const uint16_t* z = rows + 9 * p * kRp;
      uint16_t* to = out + 8 * p * kSp;
      for (size_t i = 0; i < kS; i += kLanes) {
        V16 low[4];
        V16 high[4];
        V16 sum[4];
        karatsuba_pair(low, z + i, z + kRp + i, z + 4 * kRp + i);
        karatsuba_pair(high, z + 2 * kRp + i, z + 3 * kRp + i, z + 5 * kRp + i);
        karatsuba_pair(sum, z + 6 * kRp + i, z + 7 * kRp + i, z + 8 * kRp + i);
        unroll<2>([&](auto j) __attribute__((always_inline)) {
          const V16 diff = low[2 + j] - high[j];
          low[j].store(to + j * kSp + i);
          (sum[j] + (diff - low[j])).store(to + (2 + j) * kSp + i);
          ((sum[2 + j] - diff) - high[2 + j]).store(to + (4 + j) * kSp + i);
          high[2 + j].store(to + (6 + j) * kSp + i);
        });
      }
    }
  }

  /// Computes the linear product in words 0 .. kLinearBlocks kS - 1. Blocks are stored in ascending order because each
  /// store overruns the start of the next block.
  static POLYKEM_NOINLINE void combine_outer(uint16_t* linear, uint16_t* values) {
    for (size_t j = 0; j < 4; ++j) {
      for (size_t i = 0; i < kS; i += kLanes)
        interpolate_block(values + j * kSp + i);
    }
    for (size_t k = 0; k <= kPoints; ++k) {
      for (size_t j = 0; j < 4; ++j) {
        const uint16_t* low = values + (8 * k + j) * kSp;
        const uint16_t* up = values + (8 * k - 4 + j) * kSp;
        uint16_t* to = linear + (4 * k + j) * kS;
        for (size_t i = 0; i < kS; i += kLanes) {
          V16 v = V16::zero();
          if (k < kPoints) v = v + V16::load(low + i);
          if (k > 0) v = v + V16::load(up + i);
          v.store_unaligned(to + i);
        }
      }
    }
  }

  /// Turns values at the points into coefficients, in place, for one vector of the lower and one of the upper half of
  /// the products.
  static POLYKEM_INLINE void interpolate_block(uint16_t* values) {
    unroll<2>([&](auto half) __attribute__((always_inline)) {
      V16 v[kPoints];
      V16 w[kPoints];
      unroll<kPoints>([&](auto p)
                          __attribute__((always_inline)) { v[p] = V16::load(values + (8 * p + 4 * half) * kSp); });
      Outer::interpolate(w, v);
      unroll<kPoints>([&](auto p) __attribute__((always_inline)) { w[p].store(values + (8 * p + 4 * half) * kSp); });
    });
  }

  static POLYKEM_NOINLINE void fold(uint16_t* c, const uint16_t* linear) {
    constexpr size_t kWhole = kN / kLanes * kLanes;
    for (size_t i = 0; i < kWhole; i += kLanes) {
      (V16::load_unaligned(linear + i) + V16::load_unaligned(linear + kN + i)).store_unaligned(c + i);
    }
    for (size_t i = kWhole; i < kN; ++i)
      c[i] = static_cast<uint16_t>(linear[i] + linear[kN + i]);
  }
};

/// Computes c = a b modulo (3, Phi_kN) for one item, over the integers: the coefficients of the product are below
/// 2^kExactBits.
template <size_t kN, class Outer, class Inner>
struct SingleTernaryProduct {
  using Product = SingleProduct<kN, Outer, Inner>;
  static constexpr size_t kPaddedWords = rounded_up(kN, 32);
  static constexpr size_t kWorkspaceBytes = Product::kWorkspaceBytes + 2 * kPaddedWords * sizeof(uint16_t);
  static constexpr unsigned kExactBits = 16 - Outer::kLostBits;
  static_assert(4 * kN + 3 < (size_t{1} << kExactBits));

  static POLYKEM_NOINLINE void mul(uint16_t* c, const uint16_t* a, const uint16_t* b, uint16_t* workspace) {
    uint16_t* na = workspace;
    uint16_t* nb = na + kPaddedWords;
    for (size_t i = 0; i < kN; ++i) {
      na[i] = canonical(a[i]);
      nb[i] = canonical(b[i]);
    }
    Product::mul(na, na, nb, nb + kPaddedWords);
    constexpr uint16_t kMask = (1u << kExactBits) - 1;
    const uint16_t minus_last = static_cast<uint16_t>(3 - (na[kN - 1] & kMask) % 3);
    for (size_t i = 0; i < kN; ++i)
      c[i] = static_cast<uint16_t>(((na[i] & kMask) + minus_last) % 3);
  }

 private:
  /// Returns 0, 1, 2 as they are, and 2 for 0xffff.
  static POLYKEM_INLINE uint16_t canonical(uint16_t x) { return static_cast<uint16_t>((x & 3) - (x & x >> 1 & 1)); }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::polymul
