// SPDX-License-Identifier: Apache-2.0
// Schoolbook on the 52-bit multipliers (IFMA): a lane holds coefficients k and k + h of the product, 26 bits each, and
// one instruction adds a term to both. A signed factor is its residue modulo 2^52, of which the low half of the
// product is taken; 64 bits of a lane have room for 2^12 of those.
#pragma once

#include <immintrin.h>

#include "prim/simd/isa.hpp"
#include "tables.hpp"

namespace polykem::lab {
inline namespace POLYKEM_ISA {

struct PackedIfma {
  static constexpr size_t kLanes = 8, kBlock = 8;  ///< lanes of a register; registers whose sums are computed together
  static constexpr size_t kHalfBits = 26;
  static constexpr uint64_t kMask52 = (uint64_t{1} << 52) - 1;

  /// h, rounded up to whole blocks.
  static constexpr size_t half(size_t n) {
    return ((n + 1) / 2 + kLanes * kBlock - 1) / (kLanes * kBlock) * kLanes * kBlock;
  }
  static constexpr size_t terms(size_t n) { return (n + kLanes - 1) / kLanes * kLanes; }
  static size_t workspace_bytes(size_t n) {
    return sizeof(uint64_t) * (2 * (terms(n) + half(n) + kLanes) + terms(n) + half(n));
  }

  /// Returns word terms + y of `packed`: the terms for coefficients y and y + h with b's coefficient 0.
  static void pack(uint64_t* packed, const int32_t* twice, size_t n) {
    const size_t before = terms(n), h = half(n);
    const auto at = [&](int64_t d) -> int64_t {
      const auto place = d + static_cast<int64_t>(n);
      return place >= 0 && place < static_cast<int64_t>(2 * n) ? twice[place] : 0;
    };
    for (size_t i = 0; i < before + h; ++i) {
      const int64_t y = static_cast<int64_t>(i) - static_cast<int64_t>(before);
      packed[i] = static_cast<uint64_t>(at(y) + at(y + static_cast<int64_t>(h)) * (int64_t{1} << kHalfBits)) & kMask52;
    }
  }

  /// Adds the terms i = shift modulo 8 to a block of sums. line(j): the aligned words for i = shift + j.
  static POLYKEM_INLINE void add_block(uint64_t* sums, const uint64_t* shifted, const uint64_t* factors, size_t count) {
    __m512i sum[kBlock];
    for (size_t r = 0; r < kBlock; ++r)
      sum[r] = _mm512_load_si512(sums + r * kLanes);
    for (size_t j = 0; j < count; j += kLanes) {
      const __m512i factor = _mm512_set1_epi64(static_cast<long long>(factors[j]));
      for (size_t r = 0; r < kBlock; ++r)
        sum[r] = _mm512_madd52lo_epu64(sum[r], _mm512_load_si512(shifted + r * kLanes - j), factor);
    }
    for (size_t r = 0; r < kBlock; ++r)
      _mm512_store_si512(sums + r * kLanes, sum[r]);
  }

  static void mul(int32_t* out, const int32_t* twice, const int16_t* b, size_t n, void* workspace) {
    const size_t before = terms(n), h = half(n), words = before + h;
    auto* packed = static_cast<uint64_t*>(workspace) + kLanes;  // eight words before it are read
    uint64_t* shifted = packed + words;
    uint64_t* factors = shifted + words + kLanes;
    uint64_t* sums = factors + before;
    pack(packed, twice, n);
    for (size_t i = 0; i < kLanes; ++i)
      packed[static_cast<ptrdiff_t>(i) - static_cast<ptrdiff_t>(kLanes)] = 0;
    for (size_t i = 0; i < before; ++i)
      factors[i] = i < n ? static_cast<uint64_t>(int64_t{b[i]}) & kMask52 : 0;
    for (size_t i = 0; i < h; ++i)
      sums[i] = 0;
    for (size_t shift = 0; shift < kLanes; ++shift) {
      for (size_t i = 0; i < words; i += kLanes)
        _mm512_store_si512(shifted + i, _mm512_loadu_si512(packed + i - shift));
      for (size_t k = 0; k < h; k += kLanes * kBlock)
        add_block(sums + k, shifted + before + k, factors + shift, before);
    }
    for (size_t k = 0; k < h; ++k) {
      const auto low = static_cast<int32_t>(static_cast<int64_t>(sums[k] << (64 - kHalfBits)) >> (64 - kHalfBits));
      const uint64_t rest = (sums[k] - static_cast<uint64_t>(int64_t{low})) >> kHalfBits;
      if (k < n) out[k] = low;
      if (k + h < n)
        out[k + h] = static_cast<int32_t>(static_cast<int64_t>(rest << (64 - kHalfBits)) >> (64 - kHalfBits));
    }
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::lab
