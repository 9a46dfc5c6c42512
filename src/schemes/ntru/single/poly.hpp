// SPDX-License-Identifier: Apache-2.0
// NTRU's polynomial operations other than products and inversions, on one item at a time with AVX-512. Its coefficients
// lie side by side.
#pragma once

#include <immintrin.h>

#include <bit>

#include "core/round.hpp"
#include "ct/ct.hpp"
#include "prim/simd/isa.hpp"
#include "schemes/ntru/types.hpp"

namespace polykem::ntru::single {
inline namespace POLYKEM_ISA {

/// The number of coefficients that a polynomial has room for.
template <NtruParams P>
inline constexpr size_t kWidth = rounded_up(P.n, 64);

/// An element of S3. Coefficients in {0, 1, 2}; 0 from n - 1 on.
template <NtruParams P>
struct alignas(64) Trits {
  uint8_t c[kWidth<P>];
};

/// A polynomial with small coefficients mod q; arbitrary from n on.
template <NtruParams P>
struct alignas(64) Small {
  int8_t c[kWidth<P>];
};

/// An element of Rq; 16-bit representatives of residues mod q, arbitrary from n on.
template <NtruParams P>
struct alignas(64) Words {
  uint16_t c[kWidth<P>];
};

/// Load, store and fill a register.
POLYKEM_INLINE __m512i load64(const void* p) {
  return _mm512_load_si512(p);
}
POLYKEM_INLINE void store64(void* p, __m512i x) {
  _mm512_store_si512(p, x);
}
POLYKEM_INLINE __m512i bytes(int x) {
  return _mm512_set1_epi8(static_cast<char>(x));
}
POLYKEM_INLINE __m512i words(unsigned x) {
  return _mm512_set1_epi16(static_cast<short>(x));
}

/// Returns a mask of the lowest `count` bits.
constexpr uint64_t low_bits(size_t count) {
  return count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
}

/// Zeroes coefficient n - 1 and all beyond it.
template <NtruParams P>
POLYKEM_INLINE void end_trits(Trits<P>& a) {
  constexpr size_t kLast = (P.n - 1) / 64 * 64;
  store64(a.c + kLast, _mm512_maskz_mov_epi8(low_bits(P.n - 1 - kLast), load64(a.c + kLast)));
  for (size_t i = kLast + 64; i < kWidth<P>; i += 64)
    store64(a.c + i, _mm512_setzero_si512());
}

/// Returns each byte mod 3. 16 is 1 mod 3, so the sum of both base-16 digits, at most 30, is looked up.
POLYKEM_INLINE __m512i mod3_bytes(__m512i x) {
  alignas(64) static constexpr auto kMod3 = [] {
    struct {
      uint8_t of[64];
    } table{};
    for (size_t i = 0; i < 64; ++i)
      table.of[i] = static_cast<uint8_t>(i % 3);
    return table;
  }();
  const __m512i digit = bytes(15);
  const __m512i high = _mm512_and_si512(_mm512_srli_epi16(x, 4), digit);
  return _mm512_permutexvar_epi8(_mm512_add_epi8(_mm512_and_si512(x, digit), high), load64(kMod3.of));
}

/// Returns each word mod 3. Range in: below 2^15. (check-magic: 21846 == ceil(2^16 / 3))
POLYKEM_INLINE __m512i mod3_words(__m512i x) {
  const __m512i third = _mm512_mulhi_epu16(x, words(21846));
  return _mm512_sub_epi16(x, _mm512_add_epi16(_mm512_add_epi16(third, third), third));
}

/// Returns each byte mod 3. Range in: below 6.
POLYKEM_INLINE __m512i mod3_below_6(__m512i x) {
  return _mm512_min_epu8(x, _mm512_sub_epi8(x, bytes(3)));
}

/// Maps {0, 1, 2} to {0, 1, -1}.
POLYKEM_INLINE __m512i centred(__m512i x) {
  return _mm512_mask_mov_epi8(x, _mm512_cmpeq_epi8_mask(x, bytes(2)), bytes(-1));
}

/// Returns the last byte of `below` followed by all but the last byte of x.
POLYKEM_INLINE __m512i shifted_in(__m512i x, __m512i below) {
  return _mm512_alignr_epi8(x, _mm512_alignr_epi64(x, below, 6), 15);
}

/// Returns the words of a, then those of b, as bytes. Range in: below 2^8.
POLYKEM_INLINE __m512i narrowed(__m512i a, __m512i b) {
  return _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), _mm512_packus_epi16(a, b));
}

/// Calls f(i) for each register of words of a polynomial; i is the first word's index.
template <NtruParams P, class F>
POLYKEM_INLINE void each_words(F&& f) {
  for (size_t i = 0; i < kWidth<P>; i += 32)
    f(i);
}
/// Calls f(i) for each register of bytes of a polynomial; i is the first byte's index.
template <NtruParams P, class F>
POLYKEM_INLINE void each_bytes(F&& f) {
  for (size_t i = 0; i < kWidth<P>; i += 64)
    f(i);
}

template <NtruParams P>
void poly_Z3_to_Zq(Small<P>& out, const Trits<P>& in) {
  each_bytes<P>([&](size_t i) { store64(out.c + i, centred(load64(in.c + i))); });
}

/// Computes G = 3g for HPS, 3(x - 1)g for HRSS. Range out: at most 6 in absolute value.
template <NtruParams P>
void poly_G(Small<P>& out, const Trits<P>& g) {
  poly_Z3_to_Zq<P>(out, g);
  const auto three_times = [](__m512i x) { return _mm512_add_epi8(_mm512_add_epi8(x, x), x); };
  __m512i below = _mm512_setzero_si512();  // coefficient n - 1 of g is 0
  each_bytes<P>([&](size_t i) {
    const __m512i x = load64(out.c + i);
    if constexpr (P.variant == Variant::kHps) {
      store64(out.c + i, three_times(x));
    } else {
      store64(out.c + i, three_times(_mm512_sub_epi8(shifted_in(x, below), x)));
      below = x;
    }
  });
}

/// Reduces a mod (q, Phi_n) in place by subtracting the last coefficient from all.
template <NtruParams P>
void poly_mod_q_Phi_n(Words<P>& a) {
  const __m512i last = words(a.c[P.n - 1]);
  each_words<P>([&](size_t i) { store64(a.c + i, _mm512_sub_epi16(load64(a.c + i), last)); });
}

/// Subtracts coefficient n - 1, which is at most 2, from all mod 3, in place.
template <NtruParams P>
POLYKEM_INLINE void subtract_last(Trits<P>& a) {
  const __m512i minus_last = mod3_below_6(_mm512_sub_epi8(bytes(3), bytes(a.c[P.n - 1])));
  each_bytes<P>([&](size_t i) { store64(a.c + i, mod3_below_6(_mm512_add_epi8(load64(a.c + i), minus_last))); });
  end_trits<P>(a);
}

/// Reduces a mod (3, Phi_n). Range in: below 2^15.
template <NtruParams P>
void poly_mod_3_Phi_n(Trits<P>& out, const Words<P>& a) {
  each_bytes<P>(
      [&](size_t i) { store64(out.c + i, narrowed(mod3_words(load64(a.c + i)), mod3_words(load64(a.c + i + 32)))); });
  subtract_last<P>(out);
}

/// Centres the coefficients of a mod q around 0, then reduces them mod (3, Phi_n).
template <NtruParams P>
void poly_Rq_to_S3(Trits<P>& out, const Words<P>& a) {
  const __m512i minus_q = words((3 - P.q() % 3) % 3), mask = words(P.q() - 1), half = words(P.q() / 2);
  const auto reduced = [&](size_t i) {
    const __m512i x = _mm512_and_si512(load64(a.c + i), mask);
    return mod3_words(_mm512_mask_add_epi16(x, _mm512_test_epi16_mask(x, half), x, minus_q));
  };
  each_bytes<P>([&](size_t i) { store64(out.c + i, narrowed(reduced(i), reduced(i + 32))); });
  subtract_last<P>(out);
}

/// Computes r, the ternary form of a mod q. Returns all ones if a coefficient is not 0, 1 or -1, else 0.
template <NtruParams P>
uint32_t poly_ternary(Trits<P>& r, const Words<P>& a) {
  const __m512i mask = words(P.q() - 1), one = words(1), two = words(2);
  __m512i largest = _mm512_setzero_si512();
  const auto digit = [&](size_t i) {  // 0, 1, 2 for -1, 0, 1
    const __m512i x = _mm512_and_si512(_mm512_add_epi16(load64(a.c + i), one), mask);
    const auto used = static_cast<__mmask32>(low_bits(i < P.n ? P.n - i : 0));
    largest = _mm512_mask_max_epu16(largest, used, largest, x);
    return _mm512_min_epu16(x, two);
  };
  each_bytes<P>([&](size_t i) {
    const __m512i low = digit(i), high = digit(i + 32);
    store64(r.c + i, mod3_below_6(_mm512_add_epi8(narrowed(low, high), bytes(2))));
  });
  end_trits<P>(r);
  return ct::mask_nonzero(_mm512_cmpgt_epu16_mask(largest, two));
}

/// Returns all ones if m does not have weight/2 coefficients of each sign (HPS only), else 0.
template <NtruParams P>
uint32_t wrong_weight(const Trits<P>& m) {
  uint64_t ones = 0, twos = 0;
  each_bytes<P>([&](size_t i) {
    const __m512i x = load64(m.c + i);
    ones += static_cast<uint64_t>(std::popcount(_mm512_cmpeq_epi8_mask(x, bytes(1))));
    twos += static_cast<uint64_t>(std::popcount(_mm512_cmpeq_epi8_mask(x, bytes(2))));
  });
  const auto wrong = static_cast<uint32_t>((ones ^ P.weight() / 2) | (twos ^ P.weight() / 2));
  return ct::mask_nonzero(wrong);
}

/// Returns the sum of all bytes.
template <NtruParams P>
uint32_t sum_of_trits(const Trits<P>& a) {
  __m512i sum = _mm512_setzero_si512();
  each_bytes<P>(
      [&](size_t i) { sum = _mm512_add_epi64(sum, _mm512_sad_epu8(load64(a.c + i), _mm512_setzero_si512())); });
  return static_cast<uint32_t>(_mm512_reduce_add_epi64(sum));
}

/// Flips the signs at even indices if <x a, a> < 0, in place. [NTRU20, Ternary_Plus]
template <NtruParams P>
void poly_plus(Trits<P>& a) {
  // x + 1 is unsigned, as the instruction requires. The sum of (x_i + 1) x_(i+1) is the product plus the sum of all
  // x_(i+1).
  __m512i products = _mm512_setzero_si512(), sums = _mm512_setzero_si512();
  each_bytes<P>([&](size_t i) {
    const __m512i x = centred(load64(a.c + i));
    const bool last = i + 64 == kWidth<P>;
    const __m512i next = centred(_mm512_maskz_loadu_epi8(low_bits(last ? 63 : 64), a.c + i + 1));
    products = _mm512_dpbusd_epi32(products, _mm512_add_epi8(x, bytes(1)), next);
    sums = _mm512_dpbusd_epi32(sums, bytes(1), next);
  });
  const int32_t product = _mm512_reduce_add_epi32(_mm512_sub_epi32(products, sums));
  const uint64_t even = 0x5555555555555555u & (0 - static_cast<uint64_t>(static_cast<uint32_t>(product) >> 31));
  each_bytes<P>([&](size_t i) {
    const __m512i x = load64(a.c + i);
    const __mmask64 flipped = ct::barrier(even) & _mm512_test_epi8_mask(x, x);
    store64(a.c + i, _mm512_mask_sub_epi8(x, flipped, bytes(3), x));
  });
}

/// Returns all ones if a is not 0, else 0.
template <NtruParams P>
uint32_t nonzero(const Trits<P>& a) {
  __m512i any = _mm512_setzero_si512();
  each_bytes<P>([&](size_t i) { any = _mm512_or_si512(any, load64(a.c + i)); });
  return ct::mask_nonzero(_mm512_test_epi32_mask(any, any));
}

/// Returns the prefix sums of every 64-bit word: byte k is the sum of bytes 0 .. k.
POLYKEM_INLINE __m512i prefix_sums_of_8(__m512i x) {
  x = _mm512_add_epi8(x, _mm512_slli_epi64(x, 8));
  x = _mm512_add_epi8(x, _mm512_slli_epi64(x, 16));
  return _mm512_add_epi8(x, _mm512_slli_epi64(x, 32));
}

/// Returns the prefix sums of a register of trits: byte k is the sum of bytes 0 .. k, at most 128.
POLYKEM_INLINE __m512i prefix_sums(__m512i x) {
  const __m512i sums = prefix_sums_of_8(x);
  // `totals` has the total of each 64-bit word in all bytes of that word, `before` the sum of the totals of the words
  // before it.
  const __m512i totals = _mm512_shuffle_epi8(sums, _mm512_set4_epi32(0x0f0f0f0f, 0x0f0f0f0f, 0x07070707, 0x07070707));
  const __m512i zero = _mm512_setzero_si512();
  __m512i before = _mm512_alignr_epi64(totals, zero, 7);
  before = _mm512_add_epi8(before, _mm512_alignr_epi64(before, zero, 7));
  before = _mm512_add_epi8(before, _mm512_alignr_epi64(before, zero, 6));
  before = _mm512_add_epi8(before, _mm512_alignr_epi64(before, zero, 4));
  return _mm512_add_epi8(sums, before);
}

/// Returns the last byte of x in all bytes.
POLYKEM_INLINE __m512i last_byte(__m512i x) {
  return _mm512_permutexvar_epi8(bytes(63), x);
}

/// Computes out = Lift(m): m itself for HPS; for HRSS (x - 1) (m / (x - 1) mod (3, Phi_n)), whose coefficients are
/// between -2 and 2. ref::poly_lift explains the algebra. [NTRU20, Lift]
template <NtruParams P>
void poly_lift(Small<P>& out, const Trits<P>& m) {
  if constexpr (P.variant == Variant::kHps) {
    poly_Z3_to_Zq<P>(out, m);
  } else {
    static_assert(P.n % 3 == 2);
    const uint32_t t = ct::mod3(sum_of_trits<P>(m));
    const __m512i each = bytes(static_cast<int>(t));
    __m512i carry = _mm512_setzero_si512(), below = carry;
    each_bytes<P>([&](size_t i) {
      const __m512i sums = prefix_sums(mod3_below_6(_mm512_add_epi8(load64(m.c + i), each)));
      const __m512i sum = mod3_bytes(_mm512_add_epi8(sums, carry));
      carry = last_byte(sum);
      const __m512i quotient = centred(mod3_below_6(_mm512_sub_epi8(bytes(3), sum)));
      store64(out.c + i, _mm512_sub_epi8(shifted_in(quotient, below), quotient));
      below = quotient;
    });
  }
}

/// Adds kSign * small to a in place, where kSign is 1 or -1.
template <int kSign, NtruParams P>
void poly_add(Words<P>& a, const Small<P>& small) {
  each_words<P>([&](size_t i) {
    const __m512i x = _mm512_cvtepi8_epi16(_mm256_load_si256(reinterpret_cast<const __m256i*>(small.c + i)));
    const __m512i y = load64(a.c + i);
    store64(a.c + i, kSign > 0 ? _mm512_add_epi16(y, x) : _mm512_sub_epi16(y, x));
  });
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::ntru::single
