// SPDX-License-Identifier: Apache-2.0
// Arithmetic on one element of GF(2^255 - 19) in 32-bit words, for a thread of a GPU. The host compiles the same text,
// for the table of base_table32.hpp and for tests.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "core/isa.hpp"
#include "prim/ecdh/edwards25519.hpp"

// The host's compiler does not know this pragma.
#ifdef __CUDA_ARCH__
#define POLYKEM_PRAGMA(text) _Pragma(#text)
#define POLYKEM_UNROLL(times) POLYKEM_PRAGMA(unroll times)
#else
#define POLYKEM_UNROLL(times)
#endif

namespace polykem::ecdh {
inline namespace POLYKEM_ISA {

/// A sum or difference of several words, the least significant first. Each step leaves a carry or borrow, which the
/// next step takes. On the device it is the processor's carry, and `volatile` keeps the order of the steps. A pair of
/// mad.lo and mad.hi becomes one instruction.
class Chain {
 public:
  POLYKEM_INLINE constexpr uint32_t add(uint32_t a, uint32_t b) {
#ifdef __CUDA_ARCH__
    if (!std::is_constant_evaluated()) {
      uint32_t sum = 0;
      asm volatile("add.cc.u32 %0, %1, %2;" : "=r"(sum) : "r"(a), "r"(b));
      return sum;
    }
#endif
    carry_ = 0;
    return next_add(a, b);
  }
  POLYKEM_INLINE constexpr uint32_t next_add(uint32_t a, uint32_t b) {
#ifdef __CUDA_ARCH__
    if (!std::is_constant_evaluated()) {
      uint32_t sum = 0;
      asm volatile("addc.cc.u32 %0, %1, %2;" : "=r"(sum) : "r"(a), "r"(b));
      return sum;
    }
#endif
    const uint64_t sum = uint64_t{a} + b + carry_;
    carry_ = static_cast<uint32_t>(sum >> 32);
    return static_cast<uint32_t>(sum);
  }
  POLYKEM_INLINE constexpr uint32_t subtract(uint32_t a, uint32_t b) {
#ifdef __CUDA_ARCH__
    if (!std::is_constant_evaluated()) {
      uint32_t difference = 0;
      asm volatile("sub.cc.u32 %0, %1, %2;" : "=r"(difference) : "r"(a), "r"(b));
      return difference;
    }
#endif
    carry_ = 0;
    return next_subtract(a, b);
  }
  POLYKEM_INLINE constexpr uint32_t next_subtract(uint32_t a, uint32_t b) {
#ifdef __CUDA_ARCH__
    if (!std::is_constant_evaluated()) {
      uint32_t difference = 0;
      asm volatile("subc.cc.u32 %0, %1, %2;" : "=r"(difference) : "r"(a), "r"(b));
      return difference;
    }
#endif
    const uint64_t difference = uint64_t{a} - b - carry_;
    carry_ = static_cast<uint32_t>(difference >> 32) & 1;
    return static_cast<uint32_t>(difference);
  }
  /// Adds a b to the number in the two words `low` and `high`.
  POLYKEM_INLINE constexpr void multiply(uint32_t& low, uint32_t& high, uint32_t a, uint32_t b) {
#ifdef __CUDA_ARCH__
    if (!std::is_constant_evaluated()) {
      asm volatile(
          "mad.lo.cc.u32 %0, %2, %3, %0;\n\t"
          "madc.hi.cc.u32 %1, %2, %3, %1;"
          : "+r"(low), "+r"(high)
          : "r"(a), "r"(b));
      return;
    }
#endif
    carry_ = 0;
    next_multiply(low, high, a, b);
  }
  POLYKEM_INLINE constexpr void next_multiply(uint32_t& low, uint32_t& high, uint32_t a, uint32_t b) {
#ifdef __CUDA_ARCH__
    if (!std::is_constant_evaluated()) {
      asm volatile(
          "madc.lo.cc.u32 %0, %2, %3, %0;\n\t"
          "madc.hi.cc.u32 %1, %2, %3, %1;"
          : "+r"(low), "+r"(high)
          : "r"(a), "r"(b));
      return;
    }
#endif
    const uint64_t product = uint64_t{a} * b, lower = (product & 0xffffffff) + low + carry_;
    const uint64_t upper = (product >> 32) + high + (lower >> 32);
    low = static_cast<uint32_t>(lower);
    high = static_cast<uint32_t>(upper);
    carry_ = static_cast<uint32_t>(upper >> 32);
  }
  /// Returns the carry, 0 or 1, and ends the chain.
  POLYKEM_INLINE constexpr uint32_t carry() {
    return next_add(0, 0);
  }
  /// Returns all ones if there is a borrow, else 0, and ends the chain.
  POLYKEM_INLINE constexpr uint32_t borrow() {
    return next_subtract(0, 0);
  }

 private:
  uint32_t carry_ = 0;
};

/// Elements of 8 words. A product (Sum) is below 2^255 + 2^12, a factor (Element) below 2^256. The even and the odd
/// columns of a product are summed apart, since an instruction adds to two words that begin at an even register.
struct Field32 {
  static constexpr size_t kLanes = 1, kWords = 8;
  struct Element {
    uint32_t word[kWords];
  };
  using Sum = Element;
  using Mask = uint32_t;
  using Digit = int32_t;

  /// A clamped scalar in a record of 32 bytes, which is read again for each bit [RFC7748, 5].
  struct Scalars {
    const uint8_t* bytes;
    POLYKEM_INLINE constexpr uint32_t byte(int i) const {
      const uint32_t value = bytes[i];
      return i == 0 ? value & 0xf8 : i == 31 ? (value & 0x7f) | 0x40 : value;
    }
  };

  /// The multiples of an edwards25519::Window, in 32-bit words.
  struct alignas(16) Window {
    Element plus[edwards25519::kEntries], minus[edwards25519::kEntries], product[edwards25519::kEntries];
  };

  static constexpr Scalars load_scalars(RecordPointers<1> record) { return {record[0]}; }
  static constexpr Element load(RecordPointers<1> record) {
    Element out{};
    for (size_t i = 0; i < 4 * kWords; ++i)
      out.word[i / 4] |= uint32_t{record[0][i]} << (8 * (i % 4));
    return masked(out);
  }
  /// Clears bit 255.
  static POLYKEM_INLINE constexpr Element masked(Element a) {
    a.word[7] &= 0x7fffffff;
    return a;
  }
  static POLYKEM_INLINE constexpr Element small(uint32_t value) { return {{value}}; }

  static POLYKEM_INLINE constexpr Mask bit(const Scalars& k, int t) { return 0u - (k.byte(t / 8) >> (t % 8) & 1); }
  static POLYKEM_INLINE constexpr Element select(Mask mask, const Element& a, const Element& b) {
    Element out{};
    POLYKEM_UNROLL()
    for (size_t i = 0; i < kWords; ++i)
      out.word[i] = a.word[i] ^ (mask & (a.word[i] ^ b.word[i]));
    return out;
  }

  static POLYKEM_INLINE constexpr Sum mul(const Element& a, const Element& b) {
    uint32_t sums[2][2 * kWords] = {};  // the sums of even and of odd columns
    POLYKEM_UNROLL()
    for (size_t j = 0; j < kWords; ++j) {
      POLYKEM_UNROLL()
      for (size_t first = 0; first < 2; ++first) {
        Chain chain;
        uint32_t* const sum = sums[(first + j) % 2];
        chain.multiply(sum[first + j], sum[first + j + 1], a.word[first], b.word[j]);
        POLYKEM_UNROLL()
        for (size_t i = first + 2; i < kWords; i += 2)
          chain.next_multiply(sum[i + j], sum[i + j + 1], a.word[i], b.word[j]);
        if (first == 0) sum[j + kWords] = chain.carry();  // the other chains leave none
      }
    }
    return reduce(merge(sums));
  }
  static POLYKEM_INLINE constexpr Sum square(const Element& a) {
    uint32_t sums[2][2 * kWords] = {};
    POLYKEM_UNROLL()
    for (size_t i = 0; i + 1 < kWords; ++i) {
      POLYKEM_UNROLL()
      for (size_t first = i + 1; first < i + 3 && first < kWords; ++first) {
        Chain chain;
        uint32_t* const sum = sums[(i + first) % 2];
        chain.multiply(sum[i + first], sum[i + first + 1], a.word[i], a.word[first]);
        POLYKEM_UNROLL()
        for (size_t j = first + 2; j < kWords; j += 2)
          chain.next_multiply(sum[i + j], sum[i + j + 1], a.word[i], a.word[j]);
        if (first % 2 == 0) sum[i + kWords] = chain.carry();  // the last j was 6, and its upper word i + 7
      }
    }
    Wide product = merge(sums);
    POLYKEM_UNROLL()
    for (size_t i = 2 * kWords - 1; i > 0; --i)
      product.word[i] = product.word[i] << 1 | product.word[i - 1] >> 31;
    product.word[0] = 0;  // no product of different words begins at word 0
    Chain chain;
    chain.multiply(product.word[0], product.word[1], a.word[0], a.word[0]);
    POLYKEM_UNROLL()
    for (size_t i = 1; i < kWords; ++i)
      chain.next_multiply(product.word[2 * i], product.word[2 * i + 1], a.word[i], a.word[i]);
    return reduce(product);
  }
  static POLYKEM_INLINE constexpr Element carry(const Sum& a) { return a; }
  static POLYKEM_INLINE constexpr Element add(const Sum& a, const Sum& b) {
    Chain chain;
    Element out{};
    out.word[0] = chain.add(a.word[0], b.word[0]);
    POLYKEM_UNROLL()
    for (size_t i = 1; i < kWords; ++i)
      out.word[i] = chain.next_add(a.word[i], b.word[i]);
    out.word[0] += kTwo256 * chain.carry();  // with a carry the rest is below 2^13
    return out;
  }
  static POLYKEM_INLINE constexpr Element sub(const Sum& a, const Sum& b) {
    Chain chain;
    Element out{};
    out.word[0] = chain.subtract(a.word[0], b.word[0]);
    POLYKEM_UNROLL()
    for (size_t i = 1; i < kWords; ++i)
      out.word[i] = chain.next_subtract(a.word[i], b.word[i]);
    const uint32_t less = chain.borrow() & kTwo256;
    out.word[0] = chain.subtract(out.word[0], less);
    POLYKEM_UNROLL()
    for (size_t i = 1; i < kWords; ++i)
      out.word[i] = chain.next_subtract(out.word[i], 0);
    return out;
  }
  static POLYKEM_INLINE constexpr Element mul_add(const Sum& a, const Element& b, uint32_t factor) {
    return add_multiple(a, b, factor);
  }

  static POLYKEM_INLINE constexpr Sum twice(const Sum& a) {
    Sum out{};
    POLYKEM_UNROLL()
    for (size_t i = kWords - 1; i > 0; --i)
      out.word[i] = a.word[i] << 1 | a.word[i - 1] >> 31;
    out.word[0] = a.word[0] << 1;
    return add_small(masked(out), 19 * (a.word[7] >> 30));
  }
  static POLYKEM_INLINE constexpr Digit next_digit(const Scalars& k, size_t i, Digit& carry) {
    Digit digit = static_cast<Digit>(k.byte(static_cast<int>(i / 2)) >> (4 * (i % 2)) & 15) + carry;
    if (i + 1 < edwards25519::kWindows) {  // the last digit is 8 at most
      carry = (digit + 8) >> 4;
      digit -= carry * 16;
    }
    return digit;
  }
  /// Returns the multiple that `digit` chooses. Reads the whole window.
  static POLYKEM_INLINE constexpr BaseMultiple<Field32> select_multiple(const Window& window, Digit digit) {
    const auto negative = static_cast<Mask>(digit >> 31);
    const Mask size = (static_cast<Mask>(digit) ^ negative) - negative;
    BaseMultiple<Field32> out{small(1), small(1), small(0)};
    POLYKEM_UNROLL(2)  // more would spill
    for (size_t entry = 0; entry < edwards25519::kEntries; ++entry) {
      const Mask chosen = 0u - ((size ^ static_cast<Mask>(entry + 1)) == 0 ? 1u : 0u);
      out = {select(chosen, out.plus, window.plus[entry]), select(chosen, out.minus, window.minus[entry]),
             select(chosen, out.product, window.product[entry])};
    }
    return {select(negative, out.plus, out.minus), select(negative, out.minus, out.plus),
            select(negative, out.product, sub(small(0), out.product))};
  }

  /// Returns a modulo p, in [0, p).
  static POLYKEM_INLINE constexpr Element reduced(const Element& a) {
    const Element below = add_small(masked(a), 19 * (a.word[7] >> 31));  // less than 2^255 + 19
    return masked(add_small(below, 19 * (add_small(below, 19).word[7] >> 31)));
  }

 private:
  static constexpr uint32_t kTwo256 = 38;  ///< 2^256 mod p
  struct Wide {
    uint32_t word[2 * kWords];
  };

  static POLYKEM_INLINE constexpr Wide merge(const uint32_t (&sums)[2][2 * kWords]) {
    Chain chain;
    Wide out{};
    out.word[0] = sums[0][0];
    out.word[1] = chain.add(sums[0][1], sums[1][1]);
    POLYKEM_UNROLL()
    for (size_t i = 2; i < 2 * kWords; ++i)
      out.word[i] = chain.next_add(sums[0][i], sums[1][i]);
    return out;
  }
  static POLYKEM_INLINE constexpr Sum reduce(const Wide& a) {
    Element low{}, high{};
    POLYKEM_UNROLL()
    for (size_t i = 0; i < kWords; ++i)
      low.word[i] = a.word[i], high.word[i] = a.word[i + kWords];
    return add_multiple(low, high, kTwo256);
  }
  /// Returns a + factor b modulo p, below 2^255 + 2^6 factor.
  static POLYKEM_INLINE constexpr Sum add_multiple(Element a, const Element& b, uint32_t factor) {
    uint32_t odd[kWords] = {};
    Chain chain;
    POLYKEM_UNROLL()
    for (size_t i = 0; i < kWords; i += 2)
      chain.multiply(odd[i], odd[i + 1], b.word[i + 1], factor);
    chain.multiply(a.word[0], a.word[1], b.word[0], factor);
    POLYKEM_UNROLL()
    for (size_t i = 2; i < kWords; i += 2)
      chain.next_multiply(a.word[i], a.word[i + 1], b.word[i], factor);
    uint32_t top = odd[7] + chain.carry();
    a.word[1] = chain.add(a.word[1], odd[0]);
    POLYKEM_UNROLL()
    for (size_t i = 2; i < kWords; ++i)
      a.word[i] = chain.next_add(a.word[i], odd[i - 1]);
    top += chain.carry();
    return add_small(masked(a), 19 * (top << 1 | a.word[7] >> 31));
  }
  static POLYKEM_INLINE constexpr Element add_small(Element a, uint32_t value) {
    Chain chain;
    a.word[0] = chain.add(a.word[0], value);
    POLYKEM_UNROLL()
    for (size_t i = 1; i < kWords; ++i)
      a.word[i] = chain.next_add(a.word[i], 0);
    return a;
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::ecdh

#undef POLYKEM_UNROLL
#undef POLYKEM_PRAGMA
