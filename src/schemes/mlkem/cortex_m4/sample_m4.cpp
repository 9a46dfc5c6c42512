// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include "prim/keccak/keccak.hpp"
#include "prim/ntt/cortex_m4/words.hpp"
#include "schemes/mlkem/cortex_m4/poly_m4.hpp"

namespace polykem::mlkem::cortex_m4 {

using namespace polykem::cortex_m4;

namespace {

constexpr size_t kCandidateGroupBytes = 12;  ///< bytes that hold eight candidates

/// Returns the next place if `value` is below q, otherwise the same place. GCC's code takes one instruction more.
inline uint16_t* advance(uint16_t* place, uint32_t value) {
  asm("cmp %1, %2\n it lo\n addlo %0, #2" : "+r"(place) : "r"(value), "r"(kQ) : "cc");
  return place;
}

/// Writes those of eight 12-bit integers that are below q, and returns the place after them.
inline uint16_t* accept(uint16_t* next, const uint8_t* in) {
  const uint32_t low = load_word(in), middle = load_word(in + 4), high = load_word(in + 8);
  const auto take = [&](uint32_t value) {
    *next = static_cast<uint16_t>(value);
    next = advance(next, value);
  };
  take(low & 0xfff);
  take(low >> 12 & 0xfff);
  take(low >> 24 | (middle & 0xf) << 8);
  take(middle >> 4 & 0xfff);
  take(middle >> 16 & 0xfff);
  take(middle >> 28 | (high & 0xff) << 4);
  take(high >> 8 & 0xfff);
  take(high >> 20);
  return next;
}

/// Eight signed coefficients in pairs, made from four-bit values that are larger by four.
struct Octet {
  int32_t pairs[4];

  explicit Octet(uint32_t values) {
    const uint32_t even = __ssub8(static_cast<int8x4_t>(values & 0x0f0f0f0f), 0x04040404);
    const uint32_t odd = __ssub8(static_cast<int8x4_t>(values >> 4 & 0x0f0f0f0f), 0x04040404);
    const int32_t even04 = __sxtb16(even), odd04 = __sxtb16(odd);  // coefficients 0 and 4, 1 and 5
    const int32_t even26 = __sxtb16(std::rotr(even, 8)), odd26 = __sxtb16(std::rotr(odd, 8));
    pairs[0] = lower_halves(even04, odd04);
    pairs[1] = lower_halves(even26, odd26);
    pairs[2] = upper_halves(even04, odd04);
    pairs[3] = upper_halves(even26, odd26);
  }
};

/// Samples eight coefficients from four bytes: differences of sums of two bits each.
inline Octet cbd2(const uint8_t* in) {
  const uint32_t bits = load_word(in);
  const uint32_t sums = (bits & 0x55555555) + (bits >> 1 & 0x55555555);
  return Octet((sums & 0x33333333) + 0x44444444 - (sums >> 2 & 0x33333333));
}

}  // namespace

/// A block has 112 candidates, so that two blocks cannot have too many.
void sample_ntt(Poly& a, const uint8_t* rho, size_t first, size_t second) {
  const uint8_t position[2] = {static_cast<uint8_t>(first), static_cast<uint8_t>(second)};
  Shake xof(Shake::Strength::kShake128);
  xof.absorb({rho, kSymBytes});
  xof.absorb(position);
  uint8_t block[static_cast<size_t>(Shake::Strength::kShake128)];
  static_assert(sizeof block % kCandidateGroupBytes == 0 && 2 * (2 * sizeof block / 3) < kN);
  uint16_t* next = a.c;
  uint16_t* const end = a.c + kN;
  for (int i = 0; i < 2; ++i) {
    xof.squeeze(block);
    for (size_t at = 0; at < sizeof block; at += kCandidateGroupBytes)
      next = accept(next, block + at);
  }
  while (next < end) {
    xof.squeeze(block);
    for (size_t at = 0; at < sizeof block && next < end; at += kCandidateGroupBytes)
      next = accept(next, block + at);
  }
}

template <>
void sample_poly_cbd<2>(Poly& a, const uint8_t* in) {
  for (size_t i = 0; i < kN; i += 8, in += 4) {
    const Octet octet = cbd2(in);
#pragma GCC unroll 4
    for (size_t j = 0; j < 4; ++j)
      store_pair(a.c + i + 2 * j, octet.pairs[j]);
  }
}

void add_cbd2(Poly& a, const uint8_t* in) {
  for (size_t i = 0; i < kN; i += 8, in += 4) {
    const Octet octet = cbd2(in);
#pragma GCC unroll 4
    for (size_t j = 0; j < 4; ++j)
      store_pair(a.c + i + 2 * j, __sadd16(load_pair(a.c + i + 2 * j), octet.pairs[j]));
  }
}

/// Three bytes hold four coefficients of six bits each.
template <>
void sample_poly_cbd<3>(Poly& a, const uint8_t* in) {
  for (size_t i = 0; i < kN; i += 4, in += 3) {
    const uint32_t bits = in[0] | uint32_t{in[1]} << 8 | uint32_t{in[2]} << 16;
    const uint32_t sums = (bits & 0x249249) + (bits >> 1 & 0x249249) + (bits >> 2 & 0x249249);
    const uint32_t values = (sums & 0x1c71c7) + 0x104104 - (sums >> 3 & 0x1c71c7);
    const auto low = static_cast<int32_t>((values & 0x3f) | (values & 0xfc0) << 10);
    const auto high = static_cast<int32_t>((values >> 12 & 0x3f) | (values & 0xfc0000) >> 2);
    store_pair(a.c + i, __ssub16(low, 0x00040004));
    store_pair(a.c + i + 2, __ssub16(high, 0x00040004));
  }
}

}  // namespace polykem::mlkem::cortex_m4
