// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arm_neon.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "prim/simd/isa.hpp"

namespace polykem::simd {
inline namespace POLYKEM_ISA {

/// V64 of vec64.hpp in two 128-bit registers: lanes 0 and 1, lanes 2 and 3.
struct V64 {
  struct Reg {
    uint64x2_t low, high;
  };
  static constexpr size_t kLanes = 4;
  Reg r;

  static POLYKEM_INLINE V64 load(const void* p) {
    const auto* bytes = static_cast<const uint8_t*>(p);
    return {{vreinterpretq_u64_u8(vld1q_u8(bytes)), vreinterpretq_u64_u8(vld1q_u8(bytes + 16))}};
  }
  static POLYKEM_INLINE V64 load_unaligned(const void* p) { return load(p); }
  /// Loads the first `bytes` bytes at p, 0 <= bytes <= 32, and zeros; nothing else is read.
  static POLYKEM_INLINE V64 load_first(const void* p, size_t bytes) {
    alignas(32) uint8_t first[32] = {};
    std::memcpy(first, p, bytes);
    const V64 words = load(first);
    zero().store(first);
    asm volatile("" : : "r"(first) : "memory");
    return words;
  }
  /// Loads words: word i is at from[i] + offset.
  static POLYKEM_INLINE V64 load_each(const uint8_t* const (&from)[kLanes], size_t offset) {
    const auto pair = [&](size_t i) __attribute__((always_inline)) {
      return vcombine_u64(vreinterpret_u64_u8(vld1_u8(from[i] + offset)),
                          vreinterpret_u64_u8(vld1_u8(from[i + 1] + offset)));
    };
    return {{pair(0), pair(2)}};
  }
  static POLYKEM_INLINE V64 set1(uint64_t x) {
    const uint64x2_t all = vdupq_n_u64(x);
    return {{all, all}};
  }
  static POLYKEM_INLINE V64 zero() { return set1(0); }
  POLYKEM_INLINE void store(void* p) const {
    auto* bytes = static_cast<uint8_t*>(p);
    vst1q_u8(bytes, vreinterpretq_u8_u64(r.low));
    vst1q_u8(bytes + 16, vreinterpretq_u8_u64(r.high));
  }
  POLYKEM_INLINE void store_unaligned(void* p) const { store(p); }
  /// Stores the first `bytes` bytes, 0 <= bytes <= 32.
  POLYKEM_INLINE void store_first(void* p, size_t bytes) const {
    alignas(32) uint8_t words[32];
    store(words);
    std::memcpy(p, words, bytes);
    zero().store(words);
    asm volatile("" : : "r"(words) : "memory");
  }
  friend POLYKEM_INLINE V64 operator&(V64 a, V64 b) { return {{a.r.low & b.r.low, a.r.high & b.r.high}}; }
  friend POLYKEM_INLINE V64 operator|(V64 a, V64 b) { return {{a.r.low | b.r.low, a.r.high | b.r.high}}; }
  friend POLYKEM_INLINE V64 operator^(V64 a, V64 b) { return {{a.r.low ^ b.r.low, a.r.high ^ b.r.high}}; }
};

/// Transposes kLanes x kLanes 64-bit words: afterwards lane i of v[j] is what lane j of v[i] was.
POLYKEM_INLINE void transpose_words(V64 (&v)[V64::kLanes]) {
  const V64 a = v[0], b = v[1], c = v[2], d = v[3];
  v[0].r = {vzip1q_u64(a.r.low, b.r.low), vzip1q_u64(c.r.low, d.r.low)};
  v[1].r = {vzip2q_u64(a.r.low, b.r.low), vzip2q_u64(c.r.low, d.r.low)};
  v[2].r = {vzip1q_u64(a.r.high, b.r.high), vzip1q_u64(c.r.high, d.r.high)};
  v[3].r = {vzip2q_u64(a.r.high, b.r.high), vzip2q_u64(c.r.high, d.r.high)};
}

/// Transposes words as transpose_words() does, where lane i of v[j] is in memory, 8 i bytes after at(j).
template <class At>
POLYKEM_INLINE void load_transposed(V64 (&v)[V64::kLanes], At&& at) {
  for (size_t j = 0; j < V64::kLanes; ++j)
    v[j] = V64::load_unaligned(at(j));
  transpose_words(v);
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::simd
