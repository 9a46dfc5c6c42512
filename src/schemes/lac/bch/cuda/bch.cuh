// SPDX-License-Identifier: Apache-2.0
// LAC's BCH codes on the device. Encoding and syndromes take an item per thread. From the syndromes on, words are
// planes, one bit of each of a warp's 32 items: a lane has a coefficient of the locator polynomial, later a position of
// the message. All words are as memory has them; ../bch.hpp says what results from more than t errors. [WR19]
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "prim/cuda/transpose.cuh"
#include "schemes/lac/bch/code.hpp"

namespace polykem::cuda {

/// Rows of `bch::Code` as 32-bit words.
template <size_t kErrors>
struct BchTables {
  using Code = bch::Code<kErrors>;
  static constexpr int kCodeWords = (Code::kBits + 31) / 32;
  static constexpr int kParityWords = (Code::kParityBits + 31) / 32;
  static constexpr int kSyndromeWords = kErrors / 2;  ///< the number of words of S_1, S_3, .., two to a word

  static constexpr auto parity_rows() {
    std::array<std::array<uint32_t, kParityWords>, bch::kMessageBits> rows{};
    for (size_t i = 0; i < rows.size(); ++i) {
      for (size_t w = 0; w < kParityWords; ++w)
        rows[i][w] = static_cast<uint32_t>(Code::kParityRows[i][w / 2] >> (32 * (w % 2)));
    }
    return rows;
  }
  static constexpr auto syndrome_rows() {
    std::array<std::array<uint32_t, kSyndromeWords>, 32 * kCodeWords> rows{};
    for (size_t i = 0; i < Code::kBits; ++i) {
      for (size_t w = 0; w < kSyndromeWords; ++w)
        rows[i][w] = Code::kSyndromeRows[i][2 * w] | uint32_t{Code::kSyndromeRows[i][2 * w + 1]} << 16;
    }
    return rows;
  }
  /// Returns row j: alpha^(j e) for the exponents e of the message's first 32 bits, j = 0 .. t.
  static constexpr auto positions() {
    std::array<std::array<uint16_t, 32>, kErrors + 1> powers{};
    for (size_t j = 0; j < powers.size(); ++j) {
      for (size_t i = 0; i < powers[j].size(); ++i)
        powers[j][i] = bch::kPowers[j * Code::exponent(i) % bch::kOrder];
    }
    return powers;
  }
};

/// A table in constant memory, aligned because one that is not is read a quarter slower.
template <class Rows>
struct alignas(16) ConstantTable {
  Rows rows;
};

template <size_t kErrors>
__constant__ constexpr ConstantTable kBchParity{BchTables<kErrors>::parity_rows()};
template <size_t kErrors>
__constant__ constexpr ConstantTable kBchSyndromes{BchTables<kErrors>::syndrome_rows()};
template <size_t kErrors>
__device__ constexpr auto kBchPositions = BchTables<kErrors>::positions();

/// Adds to sum, by exclusive or, those of 32 rows i whose bit i of `bits` is one.
template <size_t kWords>
__device__ __forceinline__ void add_rows(uint32_t (&sum)[kWords], uint32_t bits,
                                         const std::array<uint32_t, kWords>* rows) {
#pragma unroll 8
  for (int k = 0; k < 32; ++k) {
    const uint32_t mask = 0u - (bits >> k & 1);
#pragma unroll
    for (size_t w = 0; w < kWords; ++w)
      sum[w] ^= mask & rows[k][w];
  }
}

/// Computes the parity of a message. word(w): returns its bytes 4 w .. 4 w + 3.
template <size_t kErrors, class Word>
__device__ __forceinline__ void bch_encode(uint32_t (&parity)[BchTables<kErrors>::kParityWords], Word word) {
#pragma unroll
  for (uint32_t& p : parity)
    p = 0;
#pragma unroll 1
  for (int w = 0; w < static_cast<int>(bch::kMessageBits / 32); ++w)
    add_rows(parity, word(w), kBchParity<kErrors>.rows.data() + 32 * w);
}

/// An element of GF(2^9) for each of 32 items.
struct FieldPlanes {
  uint32_t bit[bch::kFieldBits];

  __device__ __forceinline__ FieldPlanes operator*(const FieldPlanes& b) const {
    constexpr int kBits = bch::kFieldBits;
    uint32_t product[2 * kBits - 1] = {};
#pragma unroll
    for (int i = 0; i < kBits; ++i) {
#pragma unroll
      for (int j = 0; j < kBits; ++j)
        product[i + j] ^= bit[i] & b.bit[j];
    }
#pragma unroll
    for (int i = 2 * kBits - 2; i >= kBits; --i) {
      product[i - kBits] ^= product[i];
      product[i - kBits + 4] ^= product[i];
    }
    FieldPlanes result;
#pragma unroll
    for (int i = 0; i < kBits; ++i)
      result.bit[i] = product[i];
    return result;
  }
  __device__ __forceinline__ FieldPlanes operator^(const FieldPlanes& b) const {
    FieldPlanes result;
#pragma unroll
    for (size_t i = 0; i < bch::kFieldBits; ++i)
      result.bit[i] = bit[i] ^ b.bit[i];
    return result;
  }
  /// Returns a where the mask has ones, else b.
  static __device__ __forceinline__ FieldPlanes select(uint32_t mask, const FieldPlanes& a, const FieldPlanes& b) {
    FieldPlanes result;
#pragma unroll
    for (size_t i = 0; i < bch::kFieldBits; ++i)
      result.bit[i] = (a.bit[i] & mask) | (b.bit[i] & ~mask);
    return result;
  }
  static __device__ __forceinline__ FieldPlanes constant(uint32_t x) {
    FieldPlanes result;
#pragma unroll
    for (size_t i = 0; i < bch::kFieldBits; ++i)
      result.bit[i] = 0u - (x >> i & 1);
    return result;
  }
  __device__ __forceinline__ uint32_t nonzero() const {
    uint32_t any = 0;
#pragma unroll
    for (const uint32_t plane : bit)
      any |= plane;
    return any;
  }
  /// Returns the sum over the warp, in every lane.
  __device__ __forceinline__ FieldPlanes warp_sum() const {
    FieldPlanes result = *this;
#pragma unroll
    for (uint32_t& plane : result.bit) {
#pragma unroll
      for (int distance = 16; distance > 0; distance /= 2)
        plane ^= __shfl_xor_sync(0xffffffff, plane, distance);
    }
    return result;
  }
};

/// Shared memory of a warp that decodes.
template <size_t kErrors>
struct BchScratch {
  FieldPlanes syndrome[2 * kErrors];  ///< S_i at i
  FieldPlanes locator[kErrors + 1];
};

/// Computes S_1 .. S_(2t-1) of the lane's item. word(w): returns bytes 4 w .. 4 w + 3 of its code word, zeros behind
/// its end.
template <size_t kErrors, class Word>
__device__ __forceinline__ void compute_syndromes(BchScratch<kErrors>& scratch, unsigned lane, Word word) {
  using Tables = BchTables<kErrors>;
  uint32_t sum[Tables::kSyndromeWords] = {};
#pragma unroll 1
  for (int w = 0; w < Tables::kCodeWords; ++w)
    add_rows(sum, word(w), kBchSyndromes<kErrors>.rows.data() + 32 * w);
#pragma unroll
  for (int w = 0; w < Tables::kSyndromeWords; ++w) {
    const uint32_t planes = transpose_warp(sum[w], lane);
    if (lane % 16 < bch::kFieldBits) scratch.syndrome[4 * w + lane / 16 * 2 + 1].bit[lane % 16] = planes;
  }
  __syncwarp();
  if (lane < kErrors) {
    FieldPlanes power = scratch.syndrome[2 * lane + 1];  // S_((2 lane + 1) 2^k)
    for (size_t i = 4 * lane + 2; i < 2 * kErrors; i *= 2) {
      power = power * power;
      scratch.syndrome[i] = power;
    }
  }
  __syncwarp();
}

/// Finds the locator polynomial, the coefficient of x^i in lane i, i <= t, and in `scratch`. It does so without
/// inversions, so the polynomial is times a constant. It computes two Berlekamp-Massey rounds at a time,
/// because every second discrepancy of a binary code is zero.
template <size_t kErrors>
__device__ __forceinline__ void find_locator(BchScratch<kErrors>& scratch, unsigned lane) {
  const uint32_t kept = lane <= kErrors ? 0xffffffff : 0;
  const FieldPlanes zero = FieldPlanes::constant(0);
  FieldPlanes lambda = FieldPlanes::constant(lane == 0 ? 1 : 0), xb = FieldPlanes::constant(lane == 1 ? 1 : 0);
  FieldPlanes gamma = FieldPlanes::constant(1);
  int k = 0;  // of the item that has the bits with this lane's number
#pragma unroll 1
  for (int r = 0; r < static_cast<int>(2 * kErrors); r += 2) {
    const int index = r + 1 - static_cast<int>(lane);
    const FieldPlanes syndrome = index > 0 ? scratch.syndrome[index] : zero;
    const FieldPlanes delta = (syndrome * lambda).warp_sum();
    const bool own = (delta.nonzero() >> lane & 1) != 0 && k >= 0;
    const uint32_t change = __ballot_sync(0xffffffff, own);
    const int32_t own_mask = -static_cast<int32_t>(change >> lane & 1);
    k = (-k & own_mask) | ((k + 2) & ~own_mask);
    const FieldPlanes next = FieldPlanes::select(change, lambda, xb);
    lambda = FieldPlanes::select(kept, gamma * lambda ^ delta * xb, zero);
    gamma = FieldPlanes::select(change, delta, gamma);
    // b is lambda or x b; x b of the next round has another x for the round left out.
#pragma unroll
    for (size_t i = 0; i < bch::kFieldBits; ++i) {
      const uint32_t below = __shfl_up_sync(0xffffffff, next.bit[i] & kept, 2);
      xb.bit[i] = lane >= 2 ? below : 0;
    }
  }
  if (lane <= kErrors) scratch.locator[lane] = lambda;
  __syncwarp();
}

/// Returns alpha^kExponent times an element.
template <size_t kExponent>
__device__ __forceinline__ FieldPlanes times_power(const FieldPlanes& a) {
  FieldPlanes result = FieldPlanes::constant(0);
  const auto add = [&]<size_t kFrom>() {
    constexpr uint32_t kImage = bch::kPowers[(kExponent + kFrom) % bch::kOrder];
#pragma unroll
    for (size_t i = 0; i < bch::kFieldBits; ++i) {
      if ((kImage >> i & 1) != 0) result.bit[i] ^= a.bit[kFrom];
    }
  };
  [&]<size_t... kFrom>(std::index_sequence<kFrom...>) {
    (add.template operator()<kFrom>(), ...);
  }
  (std::make_index_sequence<bch::kFieldBits>());
  return result;
}

/// Calls error(w, mask) for w = 0 .. 7. The mask has the bits of word w of the lane's message that are roots of the
/// locator. A lane has the terms of the locator's value at one position, whose exponent is 32 less in the next word.
template <size_t kErrors, class Error>
__device__ __forceinline__ void find_errors(const BchScratch<kErrors>& scratch, unsigned lane, Error error) {
  FieldPlanes term[kErrors + 1];
#pragma unroll
  for (size_t j = 0; j <= kErrors; ++j)
    term[j] = scratch.locator[kErrors - j] * FieldPlanes::constant(kBchPositions<kErrors>[j][lane]);
#pragma unroll 1
  for (int w = 0; w < static_cast<int>(bch::kMessageBits / 32); ++w) {
    FieldPlanes value = term[0];
#pragma unroll
    for (size_t j = 1; j <= kErrors; ++j)
      value = value ^ term[j];
    error(w, transpose_warp(~value.nonzero(), lane));
    [&]<size_t... kTerm>(std::index_sequence<kTerm...>) {
      ((term[kTerm] = times_power<(bch::kOrder - 32) * kTerm % bch::kOrder>(term[kTerm])), ...);
    }
    (std::make_index_sequence<kErrors + 1>());
  }
}

}  // namespace polykem::cuda
