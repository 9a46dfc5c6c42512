// SPDX-License-Identifier: Apache-2.0
// Arithmetic on one element of GF(2^255 - 19) in 64-bit words.
#pragma once

#include <array>
#include <cstring>

#include "core/isa.hpp"
#include "ct/ct.hpp"
#include "prim/ecdh/edwards25519.hpp"

namespace polykem::ecdh {
inline namespace POLYKEM_ISA {

__extension__ using Wide = unsigned __int128;

/// Elements in limbs of 51 bits. The limbs of products are below 2^51 + 2^13, those of sums and differences of products
/// below 2^53.
struct Field51 {
  static constexpr size_t kLanes = 1, kLimbs = 5;
  static constexpr uint64_t kMask = (uint64_t{1} << 51) - 1;
  using Element = std::array<uint64_t, kLimbs>;
  using Sum = Element;
  using Scalars = std::array<uint64_t, 4>;
  using Mask = uint64_t;
  using Digit = int64_t;
  using Window = edwards25519::Window;

  static std::array<uint64_t, 4> words(const uint8_t* bytes) {
    std::array<uint64_t, 4> out{};
    for (size_t i = 0; i < 32; ++i)
      out[i / 8] |= uint64_t{bytes[i]} << 8 * (i % 8);
    return out;
  }
  static Scalars load_scalars(RecordPointers<1> record) {
    Scalars k = words(record[0]);
    k[0] &= ~uint64_t{7};
    k[3] = (k[3] & ~(uint64_t{1} << 63)) | uint64_t{1} << 62;
    return k;
  }
  static Element load(RecordPointers<1> record) {
    const auto w = words(record[0]);
    return {w[0] & kMask, (w[0] >> 51 | w[1] << 13) & kMask, (w[1] >> 38 | w[2] << 26) & kMask,
            (w[2] >> 25 | w[3] << 39) & kMask, w[3] >> 12 & kMask};
  }
  static Element small(uint32_t value) { return {value}; }

  static Mask bit(const Scalars& k, int t) { return ct::barrier(0 - (k[static_cast<size_t>(t) / 64] >> t % 64 & 1)); }
  static Element select(Mask mask, const Element& a, const Element& b) {
    Element out;
    for (size_t i = 0; i < kLimbs; ++i)
      out[i] = a[i] ^ (mask & (a[i] ^ b[i]));
    return out;
  }

  static Element mul(const Element& a, const Element& b) {
    const auto wide = [](uint64_t x, uint64_t y) { return Wide{x} * y; };
    const uint64_t b1 = 19 * b[1], b2 = 19 * b[2], b3 = 19 * b[3], b4 = 19 * b[4];
    return reduce({wide(a[0], b[0]) + wide(a[1], b4) + wide(a[2], b3) + wide(a[3], b2) + wide(a[4], b1),
                   wide(a[0], b[1]) + wide(a[1], b[0]) + wide(a[2], b4) + wide(a[3], b3) + wide(a[4], b2),
                   wide(a[0], b[2]) + wide(a[1], b[1]) + wide(a[2], b[0]) + wide(a[3], b4) + wide(a[4], b3),
                   wide(a[0], b[3]) + wide(a[1], b[2]) + wide(a[2], b[1]) + wide(a[3], b[0]) + wide(a[4], b4),
                   wide(a[0], b[4]) + wide(a[1], b[3]) + wide(a[2], b[2]) + wide(a[3], b[1]) + wide(a[4], b[0])});
  }
  static Element square(const Element& a) {
    const auto wide = [](uint64_t x, uint64_t y) { return Wide{x} * y; };
    const uint64_t a0 = 2 * a[0], a1 = 2 * a[1], a2 = 2 * a[2], a3 = 19 * a[3], a4 = 19 * a[4];
    return reduce({wide(a[0], a[0]) + wide(a1, a4) + wide(a2, a3), wide(a0, a[1]) + wide(a2, a4) + wide(a[3], a3),
                   wide(a0, a[2]) + wide(a[1], a[1]) + wide(2 * a[3], a4),
                   wide(a0, a[3]) + wide(a1, a[2]) + wide(a[4], a4),
                   wide(a0, a[4]) + wide(a1, a[3]) + wide(a[2], a[2])});
  }
  static Element carry(const Element& a) { return a; }
  static Element add(const Element& a, const Element& b) {
    Element out;
    for (size_t i = 0; i < kLimbs; ++i)
      out[i] = a[i] + b[i];
    return out;
  }
  /// Returns a + 2 p - b.
  static Element sub(const Element& a, const Element& b) {
    Element out;
    for (size_t i = 0; i < kLimbs; ++i)
      out[i] = a[i] + 2 * kMask - (i == 0 ? 36 : 0) - b[i];
    return out;
  }
  static Element mul_add(const Element& a, const Element& b, uint32_t factor) {
    std::array<Wide, kLimbs> sum;
    for (size_t i = 0; i < kLimbs; ++i)
      sum[i] = a[i] + Wide{b[i]} * factor;
    return reduce(sum);
  }

  static Element twice(const Element& a) { return add(a, a); }
  static Digit next_digit(const Scalars& k, size_t i, Digit& carry) {
    Digit digit = static_cast<Digit>(k[i / 16] >> 4 * (i % 16) & 15) + carry;
    if (i + 1 < edwards25519::kWindows) {  // the last digit is 8 at most
      carry = (digit + 8) >> 4;
      digit -= carry * 16;
    }
    return digit;
  }
  /// Returns the multiple that `digit` chooses. Reads the whole window.
  static BaseMultiple<Field51> select_multiple(const edwards25519::Window& window, Digit digit) {
    const Mask negative = ct::barrier(static_cast<Mask>(digit >> 63));
    const Mask size = (static_cast<Mask>(digit) ^ negative) - negative;
    BaseMultiple<Field51> out{small(1), small(1), small(0)};
    for (size_t entry = 0; entry < edwards25519::kEntries; ++entry) {
      const Mask other = size ^ (entry + 1), chosen = ct::barrier(((other | (0 - other)) >> 63) - 1);
      const auto take = [&](Element& to, const uint64_t(&from)[kLimbs][edwards25519::kEntries]) {
        for (size_t i = 0; i < kLimbs; ++i)
          to[i] ^= chosen & (to[i] ^ from[i][entry]);
      };
      take(out.plus, window.plus);
      take(out.minus, window.minus);
      take(out.product, window.product);
    }
    return {select(negative, out.plus, out.minus), select(negative, out.minus, out.plus),
            select(negative, out.product, sub(small(0), out.product))};
  }

  static void store(Element a, ByteRows out, size_t first, size_t /*items*/) {
    // Carried twice, a is below 2^255 + 2^52 or so; a + 19 >= 2^255 shows whether p is to be subtracted.
    uint64_t over = 19;
    a = propagate(propagate(a));
    for (const uint64_t limb : a)
      over = (limb + over) >> 51;
    a[0] += 19 * over;
    a = propagate(a, 0);
    const uint64_t w[4] = {a[0] | a[1] << 51, a[1] >> 13 | a[2] << 38, a[2] >> 26 | a[3] << 25,
                           a[3] >> 39 | a[4] << 12};
    for (size_t i = 0; i < 32; ++i)
      out.at(first)[i] = static_cast<uint8_t>(w[i / 8] >> 8 * (i % 8));
  }

 private:
  /// Carries, so that limbs are below 2^51, except the first one, to which the carry out of the last is added `times`
  /// times.
  static Element propagate(Element a, uint64_t times = 19) {
    for (size_t i = 0; i + 1 < kLimbs; ++i) {
      a[i + 1] += a[i] >> 51;
      a[i] &= kMask;
    }
    a[0] += times * (a[4] >> 51);
    a[4] &= kMask;
    return a;
  }
  static Element reduce(const std::array<Wide, kLimbs>& sum) {
    Element out;
    Wide carry = 0;
    for (size_t i = 0; i < kLimbs; ++i) {
      carry += sum[i];
      out[i] = static_cast<uint64_t>(carry) & kMask;
      carry >>= 51;
    }
    out[0] += 19 * static_cast<uint64_t>(carry);
    out[1] += out[0] >> 51;
    out[0] &= kMask;
    return out;
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::ecdh
