// SPDX-License-Identifier: Apache-2.0
// Moves blocks of eight messages into and out of states while these are permuted, for Intel's CPUs and a Zen 5.
#pragma once

#include <cstring>
#include <utility>

#include "prim/keccak/avx512/permute.hpp"
#include "prim/keccak/constants.hpp"
#include "prim/simd/vec64.hpp"

namespace polykem::keccak {
inline namespace POLYKEM_ISA {

/// Eight states: word w of state l is words[w][l]. The destructor zeroizes them if kSecret.
template <bool kSecret>
struct EightStates {
  EightStates() {}  // the user sets all words, or clears them
  EightStates(const EightStates&) = delete;
  EightStates& operator=(const EightStates&) = delete;
  ~EightStates() {
    if (!kSecret) return;
    clear();
    asm volatile("" : : "r"(words) : "memory");
  }
  void clear() {
#pragma GCC unroll 25
    for (auto& word : words)
      simd::V64::zero().store(word);
  }

  alignas(64) uint64_t words[kStateWords][8];
};

/// Copies eight states in vectors, since the C library may leave secrets where it copies: see copy_secret().
inline void copy_states(uint64_t (*to)[8], const uint64_t (*from)[8]) {
#pragma GCC unroll 25
  for (size_t w = 0; w < kStateWords; ++w)
    simd::V64::load(from[w]).store(to[w]);
}

/// Absorbs the whole blocks of kRateWords words of rows[l] from `at` to `length`, and permutes the states after each.
/// The states must have absorbed a block and still have to be permuted. Returns the end of the last block.
template <size_t kRateWords>
size_t absorb_overlapped(uint64_t (*states)[8], const uint8_t* const* rows, size_t at, size_t length, KeccakForm form) {
  constexpr size_t kOverlapped = kRateWords < kOverlappedWords ? kRateWords : kOverlappedWords;
  EightStates<true> block;
  block.clear();
  for (; length - at >= kRateWords * 8; at += kRateWords * 8) {
    keccak_permute8_from_rows(states[0], states[0], kIota.at, block.words[0], rows, at, kOverlapped, form);
    for (size_t w = kOverlapped; w < kRateWords; ++w) {
      for (size_t l = 0; l < 8; ++l)
        std::memcpy(&block.words[w][l], rows[l] + at + 8 * w, 8);
    }
  }
  for (size_t w = 0; w < kRateWords; ++w)
    (simd::V64::load(states[w]) ^ simd::V64::load(block.words[w])).store(states[w]);
  keccak_permute8(states[0], kIota.at, form);
  return at;
}

/// Writes blocks of kRateWords words to rows[l] from `at` on, and permutes the states after each, until at most one
/// block is left before `length`. Returns where the rest begins.
template <size_t kRateWords>
size_t squeeze_overlapped(uint64_t (*states)[8], uint8_t* const* rows, size_t at, size_t length, KeccakForm form) {
  constexpr size_t kOverlapped = kRateWords < kOverlappedWords ? kRateWords : kOverlappedWords;
  EightStates<true> other;
  uint64_t(*now)[8] = states, (*next)[8] = other.words;
  for (; length - at > kRateWords * 8; at += kRateWords * 8) {
    for (size_t w = kOverlapped; w < kRateWords; ++w) {
      for (size_t l = 0; l < 8; ++l)
        std::memcpy(rows[l] + at + 8 * w, &now[w][l], 8);
    }
    keccak_permute8_to_rows(next[0], now[0], kIota.at, now[0], rows, at, kOverlapped, form);
    std::swap(now, next);
  }
  if (now != states) copy_states(states, now);
  return at;
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::keccak
