// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "prim/ecdh/ref/field51.hpp"
#include "prim/simd/vec64.hpp"

namespace polykem::ecdh {
namespace {

using simd::V64;

POLYKEM_INLINE V64 product(V64 a, V64 b) {
  return {_mm256_mul_epu32(a.r, b.r)};
}
POLYKEM_INLINE V64 lanes(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
  return {_mm256_setr_epi64x(int64_t(a), int64_t(b), int64_t(c), int64_t(d))};
}

/// Arithmetic on four elements of GF(2^255 - 19), one in each lane, in limbs of 26 and 25 bits by turns. The limbs of a
/// product are below 2^26 + 2^14 and 2^25 + 2^14. Those of the sum or difference of two products are below
/// 2^27 + 2^26 + 2^15 and 2^26 + 2^25 + 2^15, so that 19 times a limb has 32 bits, and a column of products 63.
struct Field25x4 {
  static constexpr size_t kLanes = 4, kLimbs = 10;
  struct Element {
    V64 limb[kLimbs];
  };
  using Sum = Element;
  struct Scalars {
    V64 word[4];
  };
  using Mask = V64;
  using Digit = V64;
  using Window = edwards25519::Window;

  static constexpr int bits(size_t limb) { return limb % 2 == 0 ? 26 : 25; }
  static constexpr uint64_t twice_p(size_t limb) { return (uint64_t{2} << bits(limb)) - (limb == 0 ? 38 : 2); }

  static void load_words(V64 (&w)[4], const RecordPointers<4>& records) {
    for (size_t i = 0; i < 4; ++i) {
      uint64_t each[4];
      for (size_t lane = 0; lane < 4; ++lane)
        std::memcpy(&each[lane], records[lane] + 8 * i, 8);
      w[i] = lanes(each[0], each[1], each[2], each[3]);
    }
  }
  static Scalars load_scalars(const RecordPointers<4>& records) {
    Scalars k;
    load_words(k.word, records);
    k.word[0] = k.word[0] & V64::set1(~uint64_t{7});
    k.word[3] = (k.word[3] & V64::set1(~uint64_t{0} >> 1)) | V64::set1(uint64_t{1} << 62);
    return k;
  }
  static Element load(const RecordPointers<4>& records) {
    V64 w[4];
    load_words(w, records);
    const V64 m26 = V64::set1((1 << 26) - 1), m25 = V64::set1((1 << 25) - 1);
    return {{w[0] & m26, w[0].shr<26>() & m25, (w[0].shr<51>() | w[1].shl<13>()) & m26, w[1].shr<13>() & m25,
             w[1].shr<38>() & m26, w[2] & m25, w[2].shr<25>() & m26, (w[2].shr<51>() | w[3].shl<13>()) & m25,
             w[3].shr<12>() & m26, w[3].shr<38>() & m25}};
  }
  static Element small(uint32_t value) {
    Element out{};
    for (V64& limb : out.limb)
      limb = V64::zero();
    out.limb[0] = V64::set1(value);
    return out;
  }

  static POLYKEM_INLINE Mask bit(const Scalars& k, int t) {
    const V64 bits{_mm256_srl_epi64(k.word[t / 64].r, _mm_cvtsi32_si128(t % 64))};
    return V64::zero() - (bits & V64::set1(1));
  }
  static POLYKEM_INLINE Element select(Mask mask, const Element& a, const Element& b) {
    Element out;
    for (size_t i = 0; i < kLimbs; ++i)
      out.limb[i] = {_mm256_blendv_epi8(a.limb[i].r, b.limb[i].r, mask.r)};
    return out;
  }

  /// Multiplies row by row, so that the columns stay in registers.
  static POLYKEM_INLINE Sum mul(const Element& a, const Element& b) {
    V64 times19[kLimbs];
    for (size_t j = 1; j < kLimbs; ++j)
      times19[j] = product(b.limb[j], V64::set1(19));
    Sum sum;
#pragma GCC unroll 10
    for (size_t i = 0; i < kLimbs; ++i) {
      const V64 once = a.limb[i], twice = once + once;
#pragma GCC unroll 10
      for (size_t j = 0; j < kLimbs; ++j) {
        const V64 term = product(i % 2 == 1 && j % 2 == 1 ? twice : once, i + j < kLimbs ? b.limb[j] : times19[j]);
        V64& column = sum.limb[(i + j) % kLimbs];
        column = i == 0 ? term : column + term;
      }
    }
    return propagate(sum);
  }
  static POLYKEM_INLINE Sum square(const Element& a) {
    V64 times19[kLimbs];
    for (size_t j = 5; j < kLimbs; ++j)
      times19[j] = product(a.limb[j], V64::set1(19));
    Sum sum;
    for (V64& column : sum.limb)
      column = V64::zero();
#pragma GCC unroll 10
    for (size_t i = 0; i < kLimbs; ++i) {
      const V64 once = a.limb[i], twice = once + once, four = twice + twice;
#pragma GCC unroll 10
      for (size_t j = i; j < kLimbs; ++j) {
        const bool odd = i % 2 == 1 && j % 2 == 1;
        const V64 left = i == j ? (odd ? twice : once) : odd ? four : twice;
        sum.limb[(i + j) % kLimbs] =
            sum.limb[(i + j) % kLimbs] + product(left, i + j < kLimbs ? a.limb[j] : times19[j]);
      }
    }
    return propagate(sum);
  }
  static POLYKEM_INLINE Element carry(const Sum& a) {
    return a;
  }
  static POLYKEM_INLINE Element add(const Sum& a, const Sum& b) {
    Element out;
    for (size_t i = 0; i < kLimbs; ++i)
      out.limb[i] = a.limb[i] + b.limb[i];
    return out;
  }
  static POLYKEM_INLINE Element sub(const Sum& a, const Sum& b) {
    Element out;
    for (size_t i = 0; i < kLimbs; ++i)
      out.limb[i] = a.limb[i] + V64::set1(twice_p(i)) - b.limb[i];
    return out;
  }
  static POLYKEM_INLINE Element mul_add(const Sum& a, const Element& b, uint32_t factor) {
    return mul_add(a, b, V64::set1(factor));
  }
  static POLYKEM_INLINE Element mul_add(const Sum& a, const Element& b, V64 factor) {
    Sum sum;
    for (size_t i = 0; i < kLimbs; ++i)
      sum.limb[i] = a.limb[i] + product(b.limb[i], factor);
    return propagate(sum);
  }

  static POLYKEM_INLINE Sum twice(const Sum& a) {
    return propagate(add(a, a));
  }
  static POLYKEM_INLINE Digit next_digit(const Scalars& k, size_t i, Digit& carry) {
    const __m128i shift = _mm_cvtsi64_si128(static_cast<int64_t>(4 * (i % 16)));
    V64 digit = (V64{_mm256_srl_epi64(k.word[i / 16].r, shift)} & V64::set1(15)) + carry;
    if (i + 1 < edwards25519::kWindows) {  // the last digit is 8 at most
      carry = (digit + V64::set1(8)).shr<4>();
      digit = digit - carry.shl<4>();
    }
    return digit;
  }
  /// Returns the multiple that `digit` chooses. Reads the whole window.
  static POLYKEM_INLINE BaseMultiple<Field25x4> select_multiple(const edwards25519::Window& window, Digit digit) {
    const V64 negative{_mm256_cmpgt_epi64(_mm256_setzero_si256(), digit.r)};
    const V64 size = (digit ^ negative) - negative;
    BaseMultiple<Field25x4> out{small(1), small(1), small(0)};
    for (size_t entry = 0; entry < edwards25519::kEntries; ++entry) {
      const V64 chosen{_mm256_cmpeq_epi64(size.r, _mm256_set1_epi64x(static_cast<int64_t>(entry + 1)))};
      const auto take = [&](Element& to, const uint64_t(&from)[5][edwards25519::kEntries]) {
        for (size_t i = 0; i < 5; ++i) {
          const V64 limb = V64::set1(from[i][entry]);
          to.limb[2 * i] = {_mm256_blendv_epi8(to.limb[2 * i].r, limb.r, chosen.r)};
        }
      };
      take(out.plus, window.plus);
      take(out.minus, window.minus);
      take(out.product, window.product);
    }
    for (Element* each : {&out.plus, &out.minus, &out.product}) {
      for (size_t i = 0; i < kLimbs; i += 2) {
        each->limb[i + 1] = each->limb[i].shr<26>();
        each->limb[i] = each->limb[i] & V64::set1((1 << 26) - 1);
      }
    }
    return {select(negative, out.plus, out.minus), select(negative, out.minus, out.plus),
            select(negative, out.product, sub(small(0), out.product))};
  }

  static void store(const Element& a, ByteRows out, size_t first, size_t items) {
    for (size_t lane = 0; lane < items; ++lane)
      Field51::store(to_field51(a, lane), out, first + lane, 1);
  }
  static Field51::Element to_field51(const Element& a, size_t lane) {
    Field51::Element out;
    for (size_t i = 0; i < out.size(); ++i) {
      uint64_t low[4], high[4];
      a.limb[2 * i].store_unaligned(low);
      a.limb[2 * i + 1].store_unaligned(high);
      out[i] = low[lane] + (high[lane] << 26);
    }
    return Field51::mul(out, Field51::small(1));
  }

  /// Propagates the carries, two chains of them at a time.
  static POLYKEM_INLINE Sum propagate(Sum a) {
    const auto step = [&](size_t from) __attribute__((always_inline)) {
      V64& limb = a.limb[from];
      const V64 over = from % 2 == 0 ? limb.shr<26>() : limb.shr<25>();
      limb = limb & V64::set1((uint64_t{1} << bits(from)) - 1);
      if (from == 9) {
        a.limb[0] = a.limb[0] + over.shl<4>() + over.shl<1>() + over;
      } else {
        a.limb[from + 1] = a.limb[from + 1] + over;
      }
    };
    step(0), step(4), step(1), step(5), step(2), step(6), step(3), step(7), step(4), step(8), step(9), step(0);
    return a;
  }
};

/// The ladder of one item, with a lane for each of its four coordinates: x and z of the doubling, x and z of the
/// addition.
struct SingleLadder {
  using F = Field25x4;
  using Element = F::Element;

  template <int kOrder>
  static POLYKEM_INLINE Element permute(const Element& a) {
    Element out;
    for (size_t i = 0; i < F::kLimbs; ++i)
      out.limb[i] = {_mm256_permute4x64_epi64(a.limb[i].r, kOrder)};
    return out;
  }
  static POLYKEM_INLINE Element permute(const Element& a, V64 order) {
    Element out;
    for (size_t i = 0; i < F::kLimbs; ++i)
      out.limb[i] = {_mm256_permutevar8x32_epi32(a.limb[i].r, order.r)};
    return out;
  }
  /// Returns the lanes (a1 + a0, a0 - a1, a3 + a2, a2 - a3).
  static POLYKEM_INLINE Element sums_and_differences(const Element& a) {
    const Element other = permute<0xb1>(a);
    const V64 negative = lanes(0, ~uint64_t{0}, 0, ~uint64_t{0});
    Element out;
    for (size_t i = 0; i < F::kLimbs; ++i) {
      const V64 bias = lanes(0, F::twice_p(i) + 1, 0, F::twice_p(i) + 1);
      out.limb[i] = other.limb[i] + (a.limb[i] ^ negative) + bias;
    }
    return out;
  }
  /// Returns the order in which permute() takes lanes a, b, c and d.
  static POLYKEM_INLINE V64 order(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    const auto words = [](uint64_t lane) { return 2 * lane | (2 * lane + 1) << 32; };
    return lanes(words(a), words(b), words(c), words(d));
  }

  /// Returns the u coordinate of scalar times the point with u coordinate `u`.
  static Field51::Element compute(const F::Scalars& scalar, const Element& u) {
    Element state = F::small(0), last_factor = F::small(0);
    state.limb[0] = lanes(1, 0, 0, 1);
    last_factor.limb[0] = lanes(1, 1, 1, 0);
    for (size_t i = 0; i < F::kLimbs; ++i) {
      state.limb[i] = state.limb[i] + (u.limb[i] & lanes(0, 0, ~uint64_t{0}, 0));
      last_factor.limb[i] = last_factor.limb[i] + (u.limb[i] & lanes(0, 0, 0, ~uint64_t{0}));
    }
    V64 last = V64::zero();
    for (int t = 254; t >= 0; --t) {
      const V64 bit = F::bit(scalar, t), chosen = bit ^ last;
      last = bit;
      const Element h = sums_and_differences(state);  // a, b, c, d of ladder()
      const Element left = permute(h, select(chosen, order(2, 3, 3, 2), order(0, 1, 3, 2)));
      const Element right = permute(h, select(chosen, order(2, 3, 0, 1), order(0, 1, 0, 1)));
      const Element p = F::mul(left, right);  // aa, bb, da, cb
      Element l = sums_and_differences(p);    // aa + bb, e, da + cb, da - cb
      const Element swapped = permute<0xb1>(p);
      Element r;
      const V64 upper = lanes(~uint64_t{0}, ~uint64_t{0}, 0, 0);
      for (size_t i = 0; i < F::kLimbs; ++i)
        r.limb[i] = (swapped.limb[i] & upper) + product(l.limb[i], lanes(0, 121665, 1, 1));
      r = F::propagate(r);  // bb, aa + 121665 e, da + cb, da - cb
      for (size_t i = 0; i < F::kLimbs; ++i)
        l.limb[i] = {_mm256_blend_epi32(l.limb[i].r, p.limb[i].r, 3)};  // aa in place of aa + bb
      state = F::mul(l, r);
      state = F::mul(state, last_factor);
    }
    return Field51::mul(F::to_field51(state, 0), invert<Field51>(F::to_field51(state, 1)));
  }

  static void shared_secrets(size_t count, ConstByteRows scalars, ConstByteRows points, ByteRows secrets, bool* valid,
                             std::byte* /*workspace*/) {
    for (size_t i = 0; i < count; ++i) {
      const uint8_t *const scalar = scalars.at(i), *const point = points.at(i);
      Field51::store(compute(F::load_scalars({scalar, scalar, scalar, scalar}), F::load({point, point, point, point})),
                     secrets, i, 1);
      valid[i] = any_bit(secrets.at(i));
    }
  }
};

}  // namespace

const Implementation& x25519_avx2() {
  static constexpr Implementation kFour{0, x25519_public_keys<Field25x4>, x25519_shared_secrets<Field25x4>};
  return kFour;
}

const Implementation& x25519_avx2_single() {
  static constexpr Implementation kSingle{0, x25519_public_keys<Field51>, SingleLadder::shared_secrets};
  return kSingle;
}

}  // namespace polykem::ecdh
