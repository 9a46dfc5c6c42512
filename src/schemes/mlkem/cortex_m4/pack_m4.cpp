// SPDX-License-Identifier: Apache-2.0
#include "prim/ntt/cortex_m4/words.hpp"
#include "schemes/mlkem/cortex_m4/poly_m4.hpp"

namespace polykem::mlkem::cortex_m4 {

using namespace polykem::cortex_m4;

namespace {

constexpr int32_t kPairOfQ = kQ | kQ << 16;

/// Returns both coefficients of a pair in [0, q): a product with 1 brings them to at most q / 2 in absolute value, then
/// q is added to those below zero.
inline uint32_t canonical(int32_t pair) {
  constexpr int32_t kOne = polykem::cortex_m4::plantard_constant(1);
  constexpr int32_t kOffset = 8 * kQ, kFactor = kQ;
  const int32_t low = __smlabb(product_lower(kOne, pair), kFactor, kOffset);
  const int32_t high = __smlabb(product_upper(kOne, pair), kFactor, kOffset);
  const int32_t centred = upper_halves(low, high);
  const int32_t raised = __sadd16(centred, kPairOfQ);
  uint32_t result;
  asm("ssub16 %0, %1, %2\n sel %0, %1, %3" : "=&r"(result) : "r"(centred), "r"(0), "r"(raised) : "cc");
  return result;
}

/// Returns round(x 2^kBits / q) mod 2^kBits for any signed x. The product is exact enough: the constant's error moves
/// it by less than 2^-16, and no quotient is nearer than 1 / 2 q to a half.
template <unsigned kBits>
inline uint32_t compress(int32_t x) {
  constexpr unsigned kShift = kBits > 10 ? kBits - 10 : 0;  // the constant has 31 bits
  constexpr auto kConstant = static_cast<int32_t>(((uint64_t{1} << (32 + kBits - kShift)) + kQ / 2) / kQ);
  return static_cast<uint32_t>(high_product(x * (1 << kShift), kConstant)) & ((1u << kBits) - 1);
}

inline int32_t lower(int32_t pair) {
  return static_cast<int16_t>(pair);
}
inline int32_t upper(int32_t pair) {
  return pair >> 16;
}

/// Eight coefficients, compressed to kBits bits each.
template <unsigned kBits>
struct Values {
  uint32_t v[8];

  explicit Values(const uint16_t* a) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const int32_t pair = load_pair(a + 2 * i);
      v[2 * i] = compress<kBits>(lower(pair));
      v[2 * i + 1] = compress<kBits>(upper(pair));
    }
  }
};

/// Returns a pair of coefficients, round(q y / 2^kBits) for the lowest kBits bits y of `low` and of `high`.
template <unsigned kBits>
inline int32_t decompressed(uint32_t low, uint32_t high) {
  constexpr uint32_t kMask = (1u << kBits) - 1, kHalf = 1u << (kBits - 1);
  const uint32_t first = (low & kMask) * kQ + kHalf, second = (high & kMask) * kQ + kHalf;
  return lower_halves(static_cast<int32_t>(first >> kBits), static_cast<int32_t>(second >> kBits));
}

template <unsigned kBits>
inline void store_decompressed(uint16_t* a, uint32_t v0, uint32_t v1, uint32_t v2, uint32_t v3) {
  store_pair(a, decompressed<kBits>(v0, v1));
  store_pair(a + 2, decompressed<kBits>(v2, v3));
}

}  // namespace

void poly_add(Poly& a, const Poly& b) {
#pragma GCC unroll 4
  for (size_t i = 0; i < kN; i += 2)
    store_pair(a.c + i, __sadd16(load_pair(a.c + i), load_pair(b.c + i)));
}

void poly_sub(Poly& a, const Poly& b) {
#pragma GCC unroll 4
  for (size_t i = 0; i < kN; i += 2)
    store_pair(a.c + i, __ssub16(load_pair(a.c + i), load_pair(b.c + i)));
}

void add_message(Poly& a, const uint8_t* m) {
  constexpr uint32_t kHalf = (kQ + 1) / 2;
  for (size_t i = 0; i < kN; i += 8, ++m) {
    const uint32_t bits = *m;
#pragma GCC unroll 4
    for (unsigned j = 0; j < 8; j += 2) {
      const auto pair = static_cast<int32_t>(((bits >> j & 1) | (bits >> (j + 1) & 1) << 16) * kHalf);
      store_pair(a.c + i + j, __sadd16(load_pair(a.c + i + j), pair));
    }
  }
}

void poly_byte_encode(uint8_t* out, const Poly& a) {
  for (size_t i = 0; i < kN; i += 8, out += 12) {
    uint32_t t[4];  // two coefficients of 12 bits each
#pragma GCC unroll 4
    for (size_t j = 0; j < 4; ++j) {
      const uint32_t pair = canonical(load_pair(a.c + i + 2 * j));
      t[j] = (pair >> 4 & 0xfff000) | (pair & 0xfff);
    }
    store_word(out, t[0] | t[1] << 24);
    store_word(out + 4, t[1] >> 8 | t[2] << 16);
    store_word(out + 8, t[2] >> 16 | t[3] << 8);
  }
}

uint32_t poly_byte_decode(Poly& a, const uint8_t* in) {
  constexpr int32_t kLargest = (kQ - 1) | (kQ - 1) << 16;
  int32_t too_large = 0;
  const auto store = [&](uint16_t* to, uint32_t twice) {  // the lowest 24 bits of `twice`
    const auto pair = static_cast<int32_t>((twice & 0xfff) | (twice << 4 & 0xfff0000));
    too_large |= __ssub16(kLargest, pair);
    store_pair(to, pair);
  };
  for (size_t i = 0; i < kN; i += 8, in += 12) {
    const uint32_t low = load_word(in), middle = load_word(in + 4), high = load_word(in + 8);
    store(a.c + i, low);
    store(a.c + i + 2, low >> 24 | middle << 8);
    store(a.c + i + 4, middle >> 16 | high << 16);
    store(a.c + i + 6, high >> 8);
  }
  return static_cast<uint32_t>(too_large) & 0x80008000;
}

template <>
void poly_compress<1>(uint8_t* out, const Poly& a) {
  for (size_t i = 0; i < kN; i += 8) {
    const auto [v] = Values<1>(a.c + i);
    *out++ =
        static_cast<uint8_t>(v[0] | v[1] << 1 | v[2] << 2 | v[3] << 3 | v[4] << 4 | v[5] << 5 | v[6] << 6 | v[7] << 7);
  }
}

template <>
void poly_compress<4>(uint8_t* out, const Poly& a) {
  for (size_t i = 0; i < kN; i += 8, out += 4) {
    const auto [v] = Values<4>(a.c + i);
    store_word(out, v[0] | v[1] << 4 | v[2] << 8 | v[3] << 12 | v[4] << 16 | v[5] << 20 | v[6] << 24 | v[7] << 28);
  }
}

template <>
void poly_compress<5>(uint8_t* out, const Poly& a) {
  for (size_t i = 0; i < kN; i += 8, out += 5) {
    const auto [v] = Values<5>(a.c + i);
    store_word(out, v[0] | v[1] << 5 | v[2] << 10 | v[3] << 15 | v[4] << 20 | v[5] << 25 | v[6] << 30);
    out[4] = static_cast<uint8_t>(v[6] >> 2 | v[7] << 3);
  }
}

template <>
void poly_compress<10>(uint8_t* out, const Poly& a) {
  for (size_t i = 0; i < kN; i += 8, out += 10) {
    const auto [v] = Values<10>(a.c + i);
    store_word(out, v[0] | v[1] << 10 | v[2] << 20 | v[3] << 30);
    store_word(out + 4, v[3] >> 2 | v[4] << 8 | v[5] << 18 | v[6] << 28);
    out[8] = static_cast<uint8_t>(v[6] >> 4 | v[7] << 6);
    out[9] = static_cast<uint8_t>(v[7] >> 2);
  }
}

template <>
void poly_compress<11>(uint8_t* out, const Poly& a) {
  for (size_t i = 0; i < kN; i += 8, out += 11) {
    const auto [v] = Values<11>(a.c + i);
    store_word(out, v[0] | v[1] << 11 | v[2] << 22);
    store_word(out + 4, v[2] >> 10 | v[3] << 1 | v[4] << 12 | v[5] << 23);
    out[8] = static_cast<uint8_t>(v[5] >> 9 | v[6] << 2);
    out[9] = static_cast<uint8_t>(v[6] >> 6 | v[7] << 5);
    out[10] = static_cast<uint8_t>(v[7] >> 3);
  }
}

template <>
void poly_decompress<4>(Poly& a, const uint8_t* in) {
  for (size_t i = 0; i < kN; i += 8, in += 4) {
    const uint32_t bits = load_word(in);
    store_decompressed<4>(a.c + i, bits, bits >> 4, bits >> 8, bits >> 12);
    store_decompressed<4>(a.c + i + 4, bits >> 16, bits >> 20, bits >> 24, bits >> 28);
  }
}

template <>
void poly_decompress<5>(Poly& a, const uint8_t* in) {
  for (size_t i = 0; i < kN; i += 8, in += 5) {
    const uint32_t low = load_word(in), high = in[4];
    store_decompressed<5>(a.c + i, low, low >> 5, low >> 10, low >> 15);
    store_decompressed<5>(a.c + i + 4, low >> 20, low >> 25, low >> 30 | high << 2, high >> 3);
  }
}

template <>
void poly_decompress<10>(Poly& a, const uint8_t* in) {
  for (size_t i = 0; i < kN; i += 8, in += 10) {
    const uint32_t low = load_word(in), middle = load_word(in + 4), high = in[8] | uint32_t{in[9]} << 8;
    store_decompressed<10>(a.c + i, low, low >> 10, low >> 20, low >> 30 | middle << 2);
    store_decompressed<10>(a.c + i + 4, middle >> 8, middle >> 18, middle >> 28 | high << 4, high >> 6);
  }
}

template <>
void poly_decompress<11>(Poly& a, const uint8_t* in) {
  for (size_t i = 0; i < kN; i += 8, in += 11) {
    const uint32_t low = load_word(in), middle = load_word(in + 4);
    const uint32_t high = in[8] | uint32_t{in[9]} << 8 | uint32_t{in[10]} << 16;
    store_decompressed<11>(a.c + i, low, low >> 11, low >> 22 | middle << 10, middle >> 1);
    store_decompressed<11>(a.c + i + 4, middle >> 12, middle >> 23 | high << 9, high >> 2, high >> 13);
  }
}

}  // namespace polykem::mlkem::cortex_m4
