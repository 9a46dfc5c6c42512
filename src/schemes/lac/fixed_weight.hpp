// SPDX-License-Identifier: Apache-2.0
// Polynomials of fixed weight, in constant time. [LAC19, 3.3]
//
// The format: 2 w words of the PRG are places, modulo n, for w times +1 and then w times -1. A place that is taken is
// replaced by the next word of a chain of hashes, until one is free. Which word meets which place depends on secrets,
// but the outcome does not depend on the order: every word that is tried leaves its place taken, so the places of +1
// are the first w different ones among the first w words and then the chain, and those of +1 and -1 together the first
// 2 w different ones among all 2 w words and then the same chain. Both are found by going through the words in order.
#pragma once

#include <cstring>

#ifdef __AVX512BW__
#include <immintrin.h>
#endif

#include "core/isa.hpp"
#include "prim/sha256/sha256.hpp"
#include "schemes/lac/params.hpp"

#define POLYKEM_LAC_INLINE inline __attribute__((always_inline))

namespace polykem::lac {
inline namespace POLYKEM_ISA {

inline constexpr size_t kChainWords = kSha256Bytes / 2;  ///< of one hash

using Bits = uint64_t __attribute__((vector_size(64)));
inline constexpr size_t kBitsPerVector = 512;

/// A set of places below n, as bits.
struct Places {
  Bits at[kMostCoefficients / kBitsPerVector];
};

/// Adds the place `index`, a secret.
POLYKEM_LAC_INLINE void mark(Places& places, size_t vectors, uint32_t index) {
  const uint64_t word = index / 64, bit = uint64_t{1} << (index % 64);
  Bits lane = {0, 1, 2, 3, 4, 5, 6, 7};
  for (size_t v = 0; v < vectors; ++v, lane += 8)
    places.at[v] |= reinterpret_cast<Bits>(lane == word) & bit;
}

POLYKEM_LAC_INLINE uint32_t count(const Places& places, size_t vectors) {
  Bits sum{};
  for (size_t v = 0; v < vectors; ++v) {
    Bits x = places.at[v];
    x -= x >> 1 & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
    sum += (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;  // at most 16 in each byte
  }
  uint64_t total = 0;
  for (size_t i = 0; i < 8; ++i)
    total += (sum[i] * 0x0101010101010101u) >> 56;  // at most 128 in each lane
  return static_cast<uint32_t>(total);
}

POLYKEM_LAC_INLINE uint32_t load_word(const uint8_t* words, size_t i) {
  return words[2 * i] | uint32_t{words[2 * i + 1]} << 8;
}

/// The first `limit` different places among words that are given in order.
struct Selection {
  Places places;
  uint8_t crossing[kSha256Bytes];  ///< the hash during which the limit is reached
  uint64_t full;                   ///< all ones once that hash was seen
  uint32_t limit;

  POLYKEM_LAC_INLINE void start(uint32_t most) {
    *this = {};
    limit = most;
  }

  /// Words of which there are not more than places left.
  POLYKEM_LAC_INLINE void take(const uint8_t* words, size_t words_count, size_t n) {
    for (size_t i = 0; i < words_count; ++i)
      mark(places, n / kBitsPerVector, load_word(words, i) & static_cast<uint32_t>(n - 1));
  }

  /// The next hash of the chain: all its words, or none and a note if they are too many.
  POLYKEM_LAC_INLINE void take_chain(const uint8_t* hash, size_t n) {
    const size_t vectors = n / kBitsPerVector;
    Selection grown;
    grown.places = places;
    grown.take(hash, kChainWords, n);
    const uint64_t over = uint64_t{0} - ((uint64_t{limit} - count(grown.places, vectors)) >> 63);
    const uint64_t first = over & ~full;
    full |= over;
    for (size_t i = 0; i < kSha256Bytes; ++i)
      crossing[i] = static_cast<uint8_t>((hash[i] & first) | (crossing[i] & ~first));
    for (size_t v = 0; v < vectors; ++v)
      places.at[v] |= grown.places.at[v] & ~full;
  }

  /// Takes of the noted hash as many words as there are places left.
  POLYKEM_LAC_INLINE void finish(size_t n) {
    const size_t vectors = n / kBitsPerVector;
    uint64_t taken = count(places, vectors);
    for (size_t i = 0; i < kChainWords; ++i) {
      Places one{};
      mark(one, vectors, load_word(crossing, i) & static_cast<uint32_t>(n - 1));
      Bits fresh{};
      const uint64_t wanted = full & (uint64_t{0} - ((taken - limit) >> 63));
      for (size_t v = 0; v < vectors; ++v) {
        one.at[v] &= ~places.at[v] & wanted;
        fresh |= one.at[v];
        places.at[v] |= one.at[v];
      }
      uint64_t any = 0;
      for (size_t l = 0; l < 8; ++l)
        any |= fresh[l];
      taken += (any | (uint64_t{0} - any)) >> 63;
    }
  }

  /// 1 if the words sufficed.
  POLYKEM_LAC_INLINE uint32_t complete(size_t n) const {
    const uint32_t missing = limit - count(places, n / kBitsPerVector);
    return static_cast<uint32_t>(full & 1) | (1u ^ ((missing | (0u - missing)) >> 31));
  }
};

/// Hashes of the chain that suffice but for a probability below 2^-69, by the exact distribution of the number of
/// words that are tried; if they do not, one more is computed until they do, which is the only thing that timing tells.
constexpr size_t chain_hashes(const Set& set) {
  return set.n == 512 ? 16 : set.weight == 128 ? 8 : 25;
}

/// One polynomial on its way.
struct FixedWeight {
  Selection plus, all;

  POLYKEM_LAC_INLINE void start(const Set& set, const uint8_t* words) {
    plus.start(static_cast<uint32_t>(set.weight));
    all.start(static_cast<uint32_t>(2 * set.weight));
    plus.take(words, set.weight, set.n);
    all.places = plus.places;
    all.take(words + 2 * set.weight, set.weight, set.n);
  }
  POLYKEM_LAC_INLINE void take_chain(const uint8_t* hash, size_t n) {
    plus.take_chain(hash, n);
    all.take_chain(hash, n);
  }

  /// Writes the n coefficients -1, 0, 1.
  POLYKEM_LAC_INLINE void store(int8_t* out, size_t n) {
    plus.finish(n);
    all.finish(n);
    uint64_t ones[kMostCoefficients / 64], places[kMostCoefficients / 64];
    std::memcpy(ones, &plus.places, sizeof ones);
    std::memcpy(places, &all.places, sizeof places);
    for (size_t i = 0; i < n / 64; ++i)
      store_word(out + 64 * i, ones[i], places[i] & ~ones[i]);
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
  /// Bit i of the lowest byte to byte i, as 0 or 1.
  static POLYKEM_LAC_INLINE uint64_t spread(uint64_t x) {
    const uint64_t bits = ((x & 0xff) * 0x0101010101010101u) & 0x8040201008040201u;
    return (bits + 0x7f7f7f7f7f7f7f7fu) >> 7 & 0x0101010101010101u;
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::lac
