// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "prim/ecdh/edwards25519.hpp"
#include "prim/simd/vec64.hpp"

namespace polykem::ecdh {
namespace {

using simd::V64;

/// madd_lo and madd_hi return a + the lower or upper 52 bits of the product of the lower 52 bits of b and c. They are
/// lambdas, since GCC 11 does not inline functions that are arguments.
constexpr auto madd_lo = [](V64 a, V64 b, V64 c) __attribute__((always_inline)) {
  return V64{_mm512_madd52lo_epu64(a.r, b.r, c.r)};
};
constexpr auto madd_hi = [](V64 a, V64 b, V64 c) __attribute__((always_inline)) {
  return V64{_mm512_madd52hi_epu64(a.r, b.r, c.r)};
};

/// Arithmetic on eight elements of GF(2^255 - 19), one in each lane, in limbs of 51 bits. The limbs of an Element are
/// factors of 52 bits: below 2^51 + 2^15 if it comes from a product, below 2^52 if it comes from the base table. The
/// limbs of a Sum are below 2^60.
struct Field51x8 {
  static constexpr size_t kLanes = 8, kLimbs = 5;
  struct Element {
    V64 limb[kLimbs];
  };
  struct Sum {
    V64 limb[kLimbs];
  };
  struct Scalars {
    V64 word[4];
  };
  using Mask = __mmask8;
  using Digit = V64;
  using Window = edwards25519::Window;

  static void load_words(V64 (&w)[4], const RecordPointers<8>& records) {
    for (size_t i = 0; i < 4; ++i) {
      alignas(64) uint64_t each[8];
      for (size_t lane = 0; lane < 8; ++lane)
        std::memcpy(&each[lane], records[lane] + 8 * i, 8);
      w[i] = V64::load(each);
    }
  }
  static Scalars load_scalars(const RecordPointers<8>& records) {
    Scalars k;
    load_words(k.word, records);
    k.word[0] = k.word[0] & V64::set1(~uint64_t{7});
    k.word[3] = (k.word[3] & V64::set1(~uint64_t{0} >> 1)) | V64::set1(uint64_t{1} << 62);
    return k;
  }
  static Element load(const RecordPointers<8>& records) {
    V64 w[4];
    load_words(w, records);
    const V64 mask = limb_mask();
    return {{w[0] & mask, (w[0].shr<51>() | w[1].shl<13>()) & mask, (w[1].shr<38>() | w[2].shl<26>()) & mask,
             (w[2].shr<25>() | w[3].shl<39>()) & mask, w[3].shr<12>() & mask}};
  }
  static Element small(uint32_t value) {
    return {{V64::set1(value), V64::zero(), V64::zero(), V64::zero(), V64::zero()}};
  }

  static POLYKEM_INLINE Mask bit(const Scalars& k, int t) {
    return _mm512_test_epi64_mask(k.word[t / 64].r, _mm512_set1_epi64(int64_t(uint64_t{1} << t % 64)));
  }
  static POLYKEM_INLINE Element select(Mask mask, const Element& a, const Element& b) {
    Element out;
    for (size_t i = 0; i < kLimbs; ++i)
      out.limb[i] = {_mm512_mask_blend_epi64(mask, a.limb[i].r, b.limb[i].r)};
    return out;
  }

  static POLYKEM_INLINE Sum mul(const Element& a, const Element& b) {
    return fold([&](auto add, V64 sum, size_t k) {
      for (size_t i = k < kLimbs ? 0 : k - kLimbs + 1; i < kLimbs && i <= k; ++i)
        sum = add(sum, a.limb[i], b.limb[k - i]);
      return sum;
    });
  }
  static POLYKEM_INLINE Sum square(const Element& a) {
    return fold([&](auto add, V64 sum, size_t k) {
      for (size_t i = k < kLimbs ? 0 : k - kLimbs + 1; 2 * i < k; ++i)
        sum = add(sum, a.limb[i], a.limb[k - i]);
      sum = sum + sum;
      return k % 2 == 0 ? add(sum, a.limb[k / 2], a.limb[k / 2]) : sum;
    });
  }

  static POLYKEM_INLINE Element carry(const Sum& a) {
    const V64 mask = limb_mask();
    Element out;
    out.limb[0] = madd_lo(a.limb[0] & mask, a.limb[4].shr<51>(), V64::set1(19));
    for (size_t i = 1; i < kLimbs; ++i)
      out.limb[i] = (a.limb[i] & mask) + a.limb[i - 1].shr<51>();
    return out;
  }
  static POLYKEM_INLINE Element add(const Sum& a, const Sum& b) {
    Sum sum;
    for (size_t i = 0; i < kLimbs; ++i)
      sum.limb[i] = a.limb[i] + b.limb[i];
    return carry(sum);
  }
  /// Returns a + 2^9 p - b, whose limbs are positive and below 2^61 before they are carried.
  static POLYKEM_INLINE Element sub(const Sum& a, const Sum& b) {
    constexpr uint64_t kLimb = (uint64_t{1} << 60) - (1 << 9);
    Sum sum;
    for (size_t i = 0; i < kLimbs; ++i)
      sum.limb[i] = a.limb[i] + V64::set1(i == 0 ? kLimb - (18 << 9) : kLimb) - b.limb[i];
    return carry(sum);
  }
  static POLYKEM_INLINE Element mul_add(const Sum& a, const Element& b, uint32_t factor) {
    const V64 times = V64::set1(factor);
    Sum sum;
    V64 upper[kLimbs];
    for (size_t i = 0; i < kLimbs; ++i) {
      sum.limb[i] = madd_lo(a.limb[i], b.limb[i], times);
      upper[i] = madd_hi(V64::zero(), b.limb[i], times);
    }
    sum.limb[0] = madd_lo(sum.limb[0], upper[4], V64::set1(2 * 19));
    for (size_t i = 1; i < kLimbs; ++i)
      sum.limb[i] = sum.limb[i] + upper[i - 1] + upper[i - 1];
    return carry(sum);
  }

  static POLYKEM_INLINE Sum twice(const Sum& a) {
    Sum out;
    for (size_t i = 0; i < kLimbs; ++i)
      out.limb[i] = a.limb[i] + a.limb[i];
    return out;
  }
  static POLYKEM_INLINE Digit next_digit(const Scalars& k, size_t i, Digit& carry) {
    const __m128i shift = _mm_cvtsi64_si128(static_cast<int64_t>(4 * (i % 16)));
    V64 digit = (V64{_mm512_srl_epi64(k.word[i / 16].r, shift)} & V64::set1(15)) + carry;
    if (i + 1 < edwards25519::kWindows) {  // the last digit is 8 at most
      carry = (digit + V64::set1(8)).shr<4>();
      digit = digit - carry.shl<4>();
    }
    return digit;
  }
  static POLYKEM_INLINE BaseMultiple<Field51x8> select_multiple(const edwards25519::Window& window, Digit digit) {
    const __mmask8 negative = _mm512_movepi64_mask(digit.r), some = _mm512_test_epi64_mask(digit.r, digit.r);
    const __m512i index = _mm512_sub_epi64(_mm512_abs_epi64(digit.r), _mm512_set1_epi64(1));
    BaseMultiple<Field51x8> out;
    for (size_t i = 0; i < kLimbs; ++i) {
      const auto chosen = [&](const uint64_t(&entries)[8], int64_t none) {
        return _mm512_mask_permutexvar_epi64(_mm512_set1_epi64(none), some, index, _mm512_load_si512(entries));
      };
      const __m512i plus = chosen(window.plus[i], i == 0), minus = chosen(window.minus[i], i == 0);
      const __m512i product = chosen(window.product[i], 0),
                    twice_p = _mm512_set1_epi64((1LL << 52) - (i == 0 ? 38 : 2));
      out.plus.limb[i] = {_mm512_mask_blend_epi64(negative, plus, minus)};
      out.minus.limb[i] = {_mm512_mask_blend_epi64(negative, minus, plus)};
      out.product.limb[i] = {_mm512_mask_sub_epi64(product, negative, twice_p, product)};
    }
    return out;
  }

  static void store(const Element& a, ByteRows out, size_t first, size_t items) {
    // Carried, a is below 2^255 + 2^52 or so; a + 19 >= 2^255 shows whether p is to be subtracted.
    const V64 mask = limb_mask();
    Element r = carry(Sum{{a.limb[0], a.limb[1], a.limb[2], a.limb[3], a.limb[4]}});
    V64 over = V64::set1(19);
    for (const V64 limb : r.limb)
      over = (limb + over).shr<51>();
    r.limb[0] = madd_lo(r.limb[0], over, V64::set1(19));
    for (size_t i = 0; i + 1 < kLimbs; ++i) {
      r.limb[i + 1] = r.limb[i + 1] + r.limb[i].shr<51>();
      r.limb[i] = r.limb[i] & mask;
    }
    r.limb[4] = r.limb[4] & mask;
    const V64 words[4] = {r.limb[0] | r.limb[1].shl<51>(), r.limb[1].shr<13>() | r.limb[2].shl<38>(),
                          r.limb[2].shr<26>() | r.limb[3].shl<25>(), r.limb[3].shr<39>() | r.limb[4].shl<12>()};
    for (size_t i = 0; i < 4; ++i) {
      alignas(64) uint64_t each[8];
      words[i].store(each);
      for (size_t lane = 0; lane < items; ++lane)
        std::memcpy(out.at(first + lane) + 8 * i, &each[lane], 8);
    }
  }

 private:
  static POLYKEM_INLINE V64 limb_mask() { return V64::set1((uint64_t{1} << 51) - 1); }

  /// Returns a product modulo p. column(add, sum, k) adds to `sum` the lower or upper halves of the products of limbs i
  /// and k - i. These halves have the weights 2^(51 k) and 2^(51 k + 52).
  template <class Column>
  static POLYKEM_INLINE Sum fold(const Column& column) {
    Sum out;
    V64 times = V64::set1(19);
    asm("" : "+v"(times.r));  // keeps GCC from multiplying by shifts and additions, which takes longer
    const auto sum = [&](size_t k) {
      V64 words = V64::zero();
      if (k > 0) {
        words = column(madd_hi, words, k - 1);
        words = words + words;
      }
      if (k < 9) words = words + column(madd_lo, V64::zero(), k);
      return words;
    };
#pragma GCC unroll 5
    for (size_t k = 0; k < kLimbs; ++k)
      out.limb[k] = sum(k) + V64{_mm512_mullo_epi64(sum(k + kLimbs).r, times.r)};
    return out;
  }
};

}  // namespace

const Implementation& x25519_avx512() {
  static constexpr Implementation kEight{0, x25519_public_keys<Field51x8>, x25519_shared_secrets<Field51x8>};
  return kEight;
}

}  // namespace polykem::ecdh
