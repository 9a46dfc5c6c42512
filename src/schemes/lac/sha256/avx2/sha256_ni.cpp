// SPDX-License-Identifier: Apache-2.0
// SHA-256 by the instructions SHA256RNDS2, SHA256MSG1 and SHA256MSG2. [Intel SDM vol. 2]
#include <immintrin.h>

#include "core/secure.hpp"
#include "prim/simd/isa.hpp"
#include "schemes/lac/sha256/constants.hpp"
#include "schemes/lac/sha256/padding.hpp"

#define POLYKEM_TARGET_SHA __attribute__((target("sha,avx2")))

namespace polykem {

namespace {

/// The state as the instruction wants it, from high to low: A B E F and C D G H.
struct State {
  __m128i abef, cdgh;
};

/// Returns the words of the next four rounds, which take the place of a, from those of the last sixteen rounds, a to d.
/// [FIPS180, 6.2.2, 1]
POLYKEM_TARGET_SHA inline __m128i next_words(__m128i a, __m128i b, __m128i c, __m128i d) {
  const __m128i middle = _mm_alignr_epi8(d, c, 4);  // W(t-7)
  return _mm_sha256msg2_epu32(_mm_add_epi32(_mm_sha256msg1_epu32(a, b), middle), d);
}

POLYKEM_TARGET_SHA inline void four_rounds(State& s, __m128i words, size_t t) {
  const __m128i constants = _mm_load_si128(reinterpret_cast<const __m128i*>(sha256::kRound.data() + t));
  const __m128i sum = _mm_add_epi32(words, constants);
  s.cdgh = _mm_sha256rnds2_epu32(s.cdgh, s.abef, sum);
  s.abef = _mm_sha256rnds2_epu32(s.abef, s.cdgh, _mm_shuffle_epi32(sum, 0x0e));
}

POLYKEM_TARGET_SHA inline void compress(State& h, const uint8_t* block) {
  const __m128i order = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
  State s = h;
  __m128i w[4];
  for (size_t i = 0; i < 4; ++i) {
    w[i] = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(block) + i), order);
    four_rounds(s, w[i], 4 * i);
  }
  for (size_t t = 16; t < sha256::kRounds; t += 16) {
    for (size_t i = 0; i < 4; ++i) {
      w[i] = next_words(w[i], w[(i + 1) % 4], w[(i + 2) % 4], w[(i + 3) % 4]);
      four_rounds(s, w[i], t + 4 * i);
    }
  }
  h.abef = _mm_add_epi32(h.abef, s.abef);
  h.cdgh = _mm_add_epi32(h.cdgh, s.cdgh);
}

POLYKEM_TARGET_SHA void hash_single(uint8_t* out, const uint8_t* message, const sha256::Blocks& blocks) {
  constexpr const auto& h = sha256::kInitial;
  const auto words = [](uint32_t high, uint32_t b, uint32_t c, uint32_t low) __attribute__((target("sha,avx2"))) {
    return _mm_set_epi32(static_cast<int>(high), static_cast<int>(b), static_cast<int>(c), static_cast<int>(low));
  };
  State s{words(h[0], h[1], h[4], h[5]), words(h[2], h[3], h[6], h[7])};
  for (size_t b = 0; b < blocks.whole; ++b)
    compress(s, message + b * kSha256BlockBytes);
  uint8_t last[2 * kSha256BlockBytes];
  blocks.pad(last, message);
  for (size_t b = 0; b < blocks.padded; ++b)
    compress(s, last + b * kSha256BlockBytes);
  zeroize(last, sizeof last);
  const __m128i reversed = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const __m128i abcd = _mm_unpackhi_epi64(s.cdgh, s.abef), efgh = _mm_unpacklo_epi64(s.cdgh, s.abef);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm_shuffle_epi8(abcd, reversed));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out) + 1, _mm_shuffle_epi8(efgh, reversed));
}

}  // namespace

void sha256_ni(ByteRows out, ConstByteRows in, size_t length, size_t count) {
  const sha256::Blocks blocks(length);
  for (size_t i = 0; i < count; ++i)
    hash_single(out.data + i * out.stride, in.data + i * in.stride, blocks);
}

}  // namespace polykem
