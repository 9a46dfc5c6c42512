// SPDX-License-Identifier: Apache-2.0
// Polynomials of fixed weight, in constant time. [LAC19]
//
// The format takes 2 w words of the PRG as positions, modulo n, for w times +1 and then w times -1. A position that is
// taken is replaced by the next word of a chain of hashes, until one is free. Which word meets which position depends
// on secrets, but the outcome does not depend on the order: every word that is tried leaves its position taken, so the
// positions of +1 are the first w different ones among the first w words and then the chain, and those of +1 and -1
// together the first 2 w different ones among all 2 w words and then the same chain. Both are found by going through
// the words in order.
#pragma once

#include "ct/ct.hpp"
#include "schemes/lac/bits.hpp"
#include "schemes/lac/params.hpp"
#include "schemes/lac/sha256/sha256.hpp"

namespace polykem::lac {
inline namespace POLYKEM_ISA {

inline constexpr size_t kChainWords = kSha256Bytes / 2;  ///< the number of words of one hash

/// A set of positions below n, which is 512 or 1024.
template <size_t kVectors>
struct PositionSet {
  Bits at[kVectors];

  static POLYKEM_LAC_INLINE PositionSet none() {
    PositionSet out;
    for (Bits& bits : out.at)
      bits = Bits::zero();
    return out;
  }
  static POLYKEM_LAC_INLINE PositionSet one(const uint8_t* words, size_t i) {
    constexpr uint32_t kLast = kVectors * Bits::kCount - 1;
    const int64_t position = (words[2 * i] | uint32_t{words[2 * i + 1]} << 8) & kLast;
    PositionSet out;
    for (size_t v = 0; v < kVectors; ++v)  // without the barrier GCC counts by the position, and compares it
      out.at[v] = Bits::one(ct::barrier(position) - static_cast<int64_t>(v * Bits::kCount));
    return out;
  }
  /// Returns the positions of `count` words.
  static POLYKEM_LAC_INLINE PositionSet of(const uint8_t* words, size_t count) {
    PositionSet out = none();
    for (size_t i = 0; i < count; ++i)
      out = out | one(words, i);
    return out;
  }
  friend POLYKEM_LAC_INLINE PositionSet operator|(PositionSet a, const PositionSet& b) {
    for (size_t v = 0; v < kVectors; ++v)
      a.at[v] = a.at[v] | b.at[v];
    return a;
  }
  friend POLYKEM_LAC_INLINE PositionSet operator&(PositionSet a, uint64_t mask) {
    for (Bits& bits : a.at)
      bits = bits & mask;
    return a;
  }
  POLYKEM_LAC_INLINE PositionSet without(const PositionSet& b) const {
    PositionSet out;
    for (size_t v = 0; v < kVectors; ++v)
      out.at[v] = at[v].without(b.at[v]);
    return out;
  }
  POLYKEM_LAC_INLINE uint64_t any() const {
    Bits all = at[0];
    for (size_t v = 1; v < kVectors; ++v)
      all = all | at[v];
    return all.any();
  }
  POLYKEM_LAC_INLINE uint32_t count() const {
    uint32_t sum = 0;
    for (const Bits& bits : at)
      sum += bits.ones();
    return sum;
  }
};

/// The first `limit` different positions among words that are given in order.
template <size_t kVectors>
struct Selection {
  PositionSet<kVectors> positions;
  uint8_t crossing[kSha256Bytes];  ///< the hash during which the limit is reached
  uint64_t full;                   ///< all ones once that hash was seen
  uint32_t limit;

  /// Starts with the positions of at most `most` words, which is the limit.
  POLYKEM_LAC_INLINE void start(const PositionSet<kVectors>& first, size_t most) {
    positions = first;
    std::memset(crossing, 0, sizeof crossing);
    full = 0;
    limit = static_cast<uint32_t>(most);
  }

  /// Takes the next hash of the chain, with the positions of its words: takes all, or, if they are too many, none and
  /// notes the hash.
  POLYKEM_LAC_INLINE void take_next_hash(const uint8_t* hash, const PositionSet<kVectors>& more) {
    const uint64_t over = ct::barrier(uint64_t{0} - ((uint64_t{limit} - (positions | more).count()) >> 63));
    const uint64_t first = over & ~full;
    full |= over;
    for (size_t i = 0; i < kSha256Bytes; ++i)
      crossing[i] = static_cast<uint8_t>((hash[i] & first) | (crossing[i] & ~first));
    positions = positions | (more & ~full);
  }

  /// Takes as many words of the noted hash as there are positions left.
  POLYKEM_LAC_INLINE void finish() {
    uint64_t left = limit - positions.count();
    for (size_t i = 0; i < kChainWords; ++i) {
      const uint64_t wanted = full & ct::barrier(uint64_t{0} - ((uint64_t{0} - left) >> 63));
      const PositionSet<kVectors> fresh = PositionSet<kVectors>::one(crossing, i).without(positions) & wanted;
      left -= fresh.any() & 1;
      positions = positions | fresh;
    }
  }

  /// Returns 1 if the words sufficed, else 0.
  POLYKEM_LAC_INLINE uint32_t complete() const {
    const uint32_t missing = limit - positions.count();
    return static_cast<uint32_t>(full & 1) | (1u ^ ((missing | (0u - missing)) >> 31));
  }
};

/// One polynomial that is being sampled; n = 512 kVectors.
template <size_t kVectors>
struct FixedWeight {
  Selection<kVectors> plus, all;

  /// Starts with 2 weight words.
  void start(const uint8_t* words, size_t weight) {
    const auto first = PositionSet<kVectors>::of(words, weight);
    plus.start(first, weight);
    all.start(first | PositionSet<kVectors>::of(words + 2 * weight, weight), 2 * weight);
  }
  void take_next_hash(const uint8_t* hash) {
    const auto more = PositionSet<kVectors>::of(hash, kChainWords);
    plus.take_next_hash(hash, more);
    all.take_next_hash(hash, more);
  }
  /// Returns 1 once `all` has 2 w positions. At most w of those are not tried for `plus`, so `plus` then has its w
  /// positions, too.
  uint32_t complete() const { return all.complete(); }

  /// Writes the n coefficients -1, 0, 1.
  void store(int8_t* out) {
    plus.finish();
    all.finish();
    const auto minus = all.positions.without(plus.positions);
    uint64_t ones[8], negative[8];
    for (size_t v = 0; v < kVectors; ++v) {
      plus.positions.at[v].store(ones);
      minus.at[v].store(negative);
      for (size_t i = 0; i < 8; ++i)
        store_word(out + v * Bits::kCount + 64 * i, ones[i], negative[i]);
    }
  }

 private:
  static POLYKEM_LAC_INLINE void store_word(int8_t* out, uint64_t plus, uint64_t minus) {
#ifdef POLYKEM_ISA_AVX512
    _mm512_storeu_si512(out, _mm512_mask_set1_epi8(_mm512_maskz_set1_epi8(plus, 1), minus, -1));
#else
    for (size_t i = 0; i < 64; i += 8) {
      const uint64_t bytes = spread(plus >> i) | spread(minus >> i) * 0xff;
      std::memcpy(out + i, &bytes, sizeof bytes);
    }
#endif
  }
  /// Spreads bit i of the lowest byte to byte i, as 0 or 1.
  static POLYKEM_LAC_INLINE uint64_t spread(uint64_t x) {
    const uint64_t bits = ((x & 0xff) * 0x0101010101010101u) & 0x8040201008040201u;
    return (bits + 0x7f7f7f7f7f7f7f7fu) >> 7 & 0x0101010101010101u;
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::lac
