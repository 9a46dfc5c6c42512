// SPDX-License-Identifier: Apache-2.0
// Keccak states side by side in memory, each in a phase of its own: some absorb a long message while others squeeze.
#pragma once

#include "prim/keccak/lanes/keccak_lanes.hpp"

namespace polykem::keccak {
inline namespace POLYKEM_ISA {

/// The words of V64::kLanes states; state l is lane l.
struct alignas(64) States {
  static constexpr size_t kCount = V64::kLanes;
  uint64_t words[kStateWords][kCount];

  POLYKEM_INLINE V64 get(size_t w) const { return V64::load(words[w]); }
  POLYKEM_INLINE void set(size_t w, V64 value) { value.store(words[w]); }
};

#ifdef POLYKEM_ISA_AVX512

/// Four 64-bit lanes. On Intel's CPUs an instruction on half a register takes one of three ports, one on a whole
/// register one of two.
struct Quad {
  __m256i r;
  static POLYKEM_INLINE Quad load(const uint64_t* p) {
    return {_mm256_load_si256(reinterpret_cast<const __m256i*>(p))};
  }
  POLYKEM_INLINE void store(uint64_t* p) const { _mm256_store_si256(reinterpret_cast<__m256i*>(p), r); }
  friend POLYKEM_INLINE Quad xor3(Quad a, Quad b, Quad c) { return {_mm256_ternarylogic_epi64(a.r, b.r, c.r, 0x96)}; }
  friend POLYKEM_INLINE Quad xor_andnot(Quad a, Quad b, Quad c) {
    return {_mm256_ternarylogic_epi64(a.r, b.r, c.r, 0xd2)};
  }
  template <int kBits>
  POLYKEM_INLINE Quad rol() const {
    if constexpr (kBits == 0) return *this;
    return {_mm256_rol_epi64(r, kBits)};
  }
};

template <size_t kRow, size_t... kX>
POLYKEM_INLINE void quad_row(Quad* out, const Quad* in, const Quad* left, const Quad* right,
                             std::index_sequence<kX...>) {
  const Quad b[5] = {xor3(in[(kX + 3 * kRow) % 5 + 5 * kX], left[(kX + 3 * kRow) % 5], right[(kX + 3 * kRow) % 5])
                         .template rol<kRho.at[(kX + 3 * kRow) % 5 + 5 * kX]>()...};
  ((out[kX + 5 * kRow] = xor_andnot(b[kX], b[(kX + 1) % 5], b[(kX + 2) % 5])), ...);
}

template <size_t... kY>
POLYKEM_INLINE void quad_round(Quad* out, const Quad* in, uint64_t iota, std::index_sequence<kY...> five) {
  const Quad column[5] = {xor3(xor3(in[kY], in[kY + 5], in[kY + 10]), in[kY + 15], in[kY + 20])...};
  const Quad left[5] = {column[(kY + 4) % 5]...}, right[5] = {column[(kY + 1) % 5].template rol<1>()...};
  (quad_row<kY>(out, in, left, right, five), ...);
  out[0].r = _mm256_xor_si256(out[0].r, _mm256_set1_epi64x(static_cast<long long>(iota)));
}

#endif

/// The blocks of messages that states 0, 1, .. absorb.
template <size_t kMessages>
struct Blocks {
  static_assert(kMessages <= 2);
  static constexpr size_t kWords = 17;  ///< the rate of SHAKE256 and SHA3-256
  const uint8_t* at[kMessages == 0 ? 1 : kMessages];

  /// Returns word w of each message in the lowest lanes, and 0 in the others.
#ifdef POLYKEM_ISA_NEON
  POLYKEM_INLINE uint64x2_t word(size_t w) const {
    const auto of = [&](size_t message) __attribute__((always_inline)) {
      return vreinterpret_u64_u8(vld1_u8(at[message] + 8 * w));
    };
    return vcombine_u64(of(0), kMessages < 2 ? vdup_n_u64(0) : of(kMessages - 1));
  }
#else
  POLYKEM_INLINE __m128i word(size_t w) const {
    const __m128i first = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(at[0] + 8 * w));
    if constexpr (kMessages < 2) return first;
    return _mm_unpacklo_epi64(first, _mm_loadl_epi64(reinterpret_cast<const __m128i*>(at[kMessages - 1] + 8 * w)));
  }
#endif
};

/// Permutes all states after the first of them have absorbed the blocks.
template <size_t kMessages>
POLYKEM_NOINLINE void permute_all(States& s, const Blocks<kMessages>& blocks) {
#ifdef POLYKEM_ISA_AVX512
  if constexpr (kMessages > 0) {
    for (size_t w = 0; w < blocks.kWords; ++w)
      s.set(w, s.get(w) ^ V64{_mm512_zextsi128_si512(blocks.word(w))});
  }
  keccak_permute(s.words[0]);
#elif defined(POLYKEM_ISA_NEON)
  if constexpr (kMessages > 0) {
    for (size_t w = 0; w < blocks.kWords; ++w)
      vst1q_u64(s.words[w], vld1q_u64(s.words[w]) ^ blocks.word(w));
  }
  keccak_permute(s.words[0]);
#else
  keccak_permute_words(
      [&](size_t w) __attribute__((always_inline)) {
        const V64 word = s.get(w);
        return kMessages == 0 || w >= blocks.kWords ? word : word ^ V64 { _mm256_zextsi128_si256(blocks.word(w)) };
      },
      [&](size_t w, V64 word) __attribute__((always_inline)) { s.set(w, word); },
      std::make_index_sequence<kStateWords>());
#endif
}

#ifdef POLYKEM_ISA_AVX512

/// Permutes states 0 to 3 after the first of them have absorbed the blocks.
template <size_t kMessages>
POLYKEM_NOINLINE void permute_four(States& s, const Blocks<kMessages>& blocks) {
  constexpr auto kFive = std::make_index_sequence<5>();
  const auto load = [&](size_t w) __attribute__((always_inline)) {
    const Quad word = Quad::load(s.words[w]);
    if (kMessages == 0 || w >= blocks.kWords) return word;
    return Quad{_mm256_xor_si256(word.r, _mm256_zextsi128_si256(blocks.word(w)))};
  };
  [&]<size_t... kWord>(std::index_sequence<kWord...>) __attribute__((always_inline)) {
    Quad even[kStateWords] = {load(kWord)...}, odd[kStateWords];
#pragma GCC unroll 1
    for (size_t i = 0; i < 24; i += 2) {
      quad_round(odd, even, kIota.at[i], kFive);
      quad_round(even, odd, kIota.at[i + 1], kFive);
    }
    (even[kWord].store(s.words[kWord]), ...);
  }
  (std::make_index_sequence<kStateWords>());
}

/// Does the work of squeeze_rows() for states 0 to 3.
template <size_t kWords>
POLYKEM_INLINE void squeeze_four(uint8_t* out, size_t stride, const States& s, size_t first, size_t end) {
  for (size_t word = 0; word < kWords; word += 4) {
    const auto row = [&](size_t j) __attribute__((always_inline)) {
      return Quad::load(s.words[word + j < kStateWords ? word + j : 0]).r;
    };
    const __m256i low0 = _mm256_unpacklo_epi64(row(0), row(1)), high0 = _mm256_unpackhi_epi64(row(0), row(1));
    const __m256i low2 = _mm256_unpacklo_epi64(row(2), row(3)), high2 = _mm256_unpackhi_epi64(row(2), row(3));
    const __m256i v[4] = {_mm256_permute2x128_si256(low0, low2, 0x20), _mm256_permute2x128_si256(high0, high2, 0x20),
                          _mm256_permute2x128_si256(low0, low2, 0x31), _mm256_permute2x128_si256(high0, high2, 0x31)};
    for (size_t l = 0; l < 4; ++l) {
      if (l >= first && l < end) _mm256_storeu_si256(reinterpret_cast<__m256i_u*>(out + l * stride + word * 8), v[l]);
    }
  }
}

#endif

#ifdef POLYKEM_ISA_AVX512
/// Returns true if states 0 to used - 1 are computed without the others, in half registers. A Zen 5 computes whole
/// registers at the same rate, and its assembly for eight states takes less time than what the compiler makes for four.
POLYKEM_INLINE bool in_half_registers(size_t used) {
  return used <= 4 && !kCpuIsZen5;
}
#endif

/// Permutes states 0 to used - 1, perhaps others too, after the first of them have absorbed the blocks.
template <size_t kMessages>
POLYKEM_INLINE void permute(States& s, [[maybe_unused]] size_t used, const Blocks<kMessages>& blocks) {
#ifdef POLYKEM_ISA_AVX512
  if (in_half_registers(used)) return permute_four(s, blocks);
#endif
  permute_all(s, blocks);
}
POLYKEM_INLINE void permute(States& s, size_t used) {
  permute(s, used, Blocks<0>{});
}

/// Replaces word w by that of `fresh` in the states whose lanes in `kept` are 0. With few states in use it touches no
/// more of the others than permute() does, because a load of more than was stored at once waits for the cache.
POLYKEM_INLINE void replace(States& s, [[maybe_unused]] size_t used, size_t w, V64 kept, V64 fresh) {
#ifdef POLYKEM_ISA_AVX512
  if (in_half_registers(used)) {
    const __m256i mask = _mm512_castsi512_si256(kept.r), word = _mm512_castsi512_si256(fresh.r);
    return Quad{_mm256_ternarylogic_epi64(mask, Quad::load(s.words[w]).r, word, 0xca)}.store(s.words[w]);
  }
#endif
  // With a select(), kept words would depend on `fresh` in the eyes of the constant-time check. Compilers make one of
  // this code unless they are kept from it.
  V64 put = fresh & (kept ^ V64::set1(~uint64_t{0}));
#ifdef POLYKEM_ISA_NEON
  asm("" : "+w"(put.r.low), "+w"(put.r.high));
#else
  asm("" : "+x"(put.r));
#endif
  s.set(w, (s.get(w) & kept) | put);
}

/// Writes the first kWords words of states [first, end) to out + state * stride, rounded up to a multiple of four words
/// in half registers, otherwise of V64::kLanes.
template <size_t kWords>
POLYKEM_INLINE void squeeze_rows(uint8_t* out, size_t stride, const States& s, size_t first, size_t end) {
#ifdef POLYKEM_ISA_AVX512
  if (in_half_registers(end)) return squeeze_four<kWords>(out, stride, s, first, end);
#endif
  for (size_t word = 0; word < kWords; word += States::kCount) {
    V64 v[States::kCount];
    for (size_t j = 0; j < States::kCount; ++j)
      v[j] = s.get(word + j < kStateWords ? word + j : 0);
    transpose_words(v);
    for (size_t l = 0; l < States::kCount; ++l) {
      if (l >= first && l < end) v[l].store_unaligned(out + l * stride + word * 8);
    }
  }
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::keccak
