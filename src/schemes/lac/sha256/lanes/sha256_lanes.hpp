// SPDX-License-Identifier: Apache-2.0
// SHA-256 of as many messages at once as a register has 32-bit lanes.
#pragma once

#include <algorithm>
#include <utility>

#include "core/secure.hpp"
#include "schemes/lac/sha256/constants.hpp"
#include "schemes/lac/sha256/lanes/words.hpp"
#include "schemes/lac/sha256/padding.hpp"

namespace polykem::sha256 {
inline namespace POLYKEM_ISA {

inline constexpr size_t kLanes = Words::kLanes;

/// Loads words 0 to 15 of the block at from[l] of each message l.
POLYKEM_INLINE void load_blocks(Words (&w)[16], const uint8_t* const (&from)[kLanes]) {
  for (size_t first = 0; first < 16; first += kLanes) {
    decltype(Words::r) rows[kLanes];
    for (size_t l = 0; l < kLanes; ++l)
      rows[l] = Words::load(from[l] + 4 * first).r;
    simd::transpose32(rows);
    for (size_t i = 0; i < kLanes; ++i)
      w[first + i] = Words{rows[i]}.swapped();
  }
}

/// Computes round t with the state's names turned by t, so that nothing is moved. [FIPS180, 6.2.2]
template <size_t kTurn>
POLYKEM_INLINE void round(Words (&s)[8], Words word_and_constant) {
  constexpr auto at = [](size_t i) { return (i + 8 - kTurn) % 8; };
  const Words e = s[at(4)], a = s[at(0)];
  const Words t1 = s[at(7)] + e.rotations<6, 11, 25>() + Words::choose(e, s[at(5)], s[at(6)]) + word_and_constant;
  s[at(3)] = s[at(3)] + t1;
  s[at(7)] = t1 + a.rotations<2, 13, 22>() + Words::majority(a, s[at(1)], s[at(2)]);
}

template <size_t... kT>
POLYKEM_INLINE void sixteen_rounds(Words (&s)[8], const Words (&w)[16], const uint32_t* constants,
                                   std::index_sequence<kT...>) {
  (round<kT % 8>(s, w[kT] + Words::set1(constants[kT])), ...);
}

POLYKEM_INLINE void next_words(Words (&w)[16]) {
  for (size_t t = 0; t < 16; ++t) {
    w[t] = w[t] + w[(t + 1) % 16].schedule<7, 18, 3>() + w[(t + 9) % 16] + w[(t + 14) % 16].schedule<17, 19, 10>();
  }
}

POLYKEM_NOINLINE inline void compress(Words (&h)[8], const uint8_t* const (&from)[kLanes]) {
  Words w[16], s[8];
  load_blocks(w, from);
  std::copy(h, h + 8, s);
  for (size_t t = 0; t < kRounds; t += 16) {
    if (t > 0) next_words(w);
    sixteen_rounds(s, w, kRound.data() + t, std::make_index_sequence<16>());
  }
  for (size_t i = 0; i < 8; ++i)
    h[i] = h[i] + s[i];
}

/// Writes the hashes of the first `count` lanes.
POLYKEM_INLINE void store_hashes(ByteRows out, const Words (&h)[8], size_t count) {
  decltype(Words::r) rows[kLanes] = {};
  for (size_t i = 0; i < 8; ++i)
    rows[i] = h[i].swapped().r;
  simd::transpose32(rows);
  for (size_t l = 0; l < count; ++l)
    std::memcpy(out.data + l * out.stride, &rows[l], kSha256Bytes);
}

/// Hashes 1 <= count <= kLanes messages.
inline void hash_lanes(ByteRows out, ConstByteRows in, const Blocks& blocks, size_t count) {
  const uint8_t* from[kLanes];
  uint8_t last[kLanes][2 * kSha256BlockBytes];
  Words h[8];
  for (size_t i = 0; i < 8; ++i)
    h[i] = Words::set1(kInitial[i]);
  const auto message = [&](size_t l) { return in.data + std::min(l, count - 1) * in.stride; };
  for (size_t b = 0; b < blocks.whole; ++b) {
    for (size_t l = 0; l < kLanes; ++l)
      from[l] = message(l) + b * kSha256BlockBytes;
    compress(h, from);
  }
  for (size_t l = 0; l < kLanes; ++l)
    blocks.pad(last[l], message(l));
  for (size_t b = 0; b < blocks.padded; ++b) {
    for (size_t l = 0; l < kLanes; ++l)
      from[l] = last[l] + b * kSha256BlockBytes;
    compress(h, from);
  }
  store_hashes(out, h, count);
  zeroize(last, sizeof last);
}

inline void hash(ByteRows out, ConstByteRows in, size_t length, size_t count) {
  const Blocks blocks(length);
  for (size_t first = 0; first < count; first += kLanes) {
    hash_lanes({out.data + first * out.stride, out.stride}, {in.data + first * in.stride, in.stride}, blocks,
               std::min(kLanes, count - first));
  }
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::sha256
