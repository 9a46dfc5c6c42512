// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "schoolbook_words.hpp"

namespace polykem::lab {
inline namespace POLYKEM_ISA {

constexpr uint64_t power_mod(uint64_t x, uint64_t e, uint64_t p) {
  uint64_t result = 1;
  for (; e != 0; e >>= 1, x = x * x % p) {
    if ((e & 1) != 0) result = result * x % p;
  }
  return result;
}

/// A prime that is 1 modulo 256, with the constants of signed Montgomery and Barrett reduction by 16-bit words.
template <uint16_t kP>
struct Prime {
  static_assert(kP % 256 == 1);
  static constexpr uint16_t kInverse = [] {  // inverse of kP modulo 2^16
    uint32_t x = 1;
    for (int i = 0; i < 5; ++i)
      x *= 2 - kP * x;
    return static_cast<uint16_t>(x);
  }();
  static_assert(static_cast<uint16_t>(kInverse * kP) == 1);
  static constexpr int kBarrettBits = 10;
  static constexpr int kBarrett = ((1 << (16 + kBarrettBits)) + kP / 2) / kP;
  static_assert(kBarrett < 32768);
  /// The number of layers of butterflies after which a value may exceed 2^15.
  static constexpr size_t kLayersPerReduction = 32767 / kP - 1;
  /// The same for inverse butterflies, which double values of at most kP / 2.
  static constexpr size_t kDoublings = 8 * kP < 32768 ? 4 : 4 * kP < 32768 ? 3 : 2;

  static constexpr int16_t montgomery(uint64_t x) {
    const auto r = static_cast<int32_t>((x % kP << 16) % kP);
    return static_cast<int16_t>(r > kP / 2 ? r - kP : r);
  }
  /// An element of order 256.
  static constexpr uint64_t root() {
    for (uint64_t g = 2;; ++g) {
      const uint64_t w = power_mod(g, (kP - 1) / 256, kP);
      if (power_mod(w, 128, kP) != 1) return w;
    }
  }

  /// Returns a b / 2^16; |result| < kP if |a b| < 2^15 kP. b_inverse = b / kP modulo 2^16.
  static POLYKEM_INLINE V16 multiply(V16 a, V16 b, V16 b_inverse) {
    return mulhi_s(a, b) - mulhi_s(a * b_inverse, V16::set1(kP));
  }
  static POLYKEM_INLINE V16 multiply(V16 a, V16 b) {
    return mulhi_s(a, b) - mulhi_s((a * b) * V16::set1(kInverse), V16::set1(kP));
  }
  /// Reduces x; |result| <= kP / 2 + 1.
  static POLYKEM_INLINE V16 reduce(V16 a) {
    const V16 quotient = (mulhi_s(a, V16::set1(static_cast<uint16_t>(kBarrett))) + V16::set1(1 << (kBarrettBits - 1)))
                             .template sar<kBarrettBits>();
    return a - quotient * V16::set1(kP);
  }
};

/// Powers of the root in the order in which the layers use them.
template <uint16_t kP, size_t kLayers>
struct Twiddles {
  int16_t forward[1u << kLayers];
  int16_t inverse[1u << kLayers];

  constexpr Twiddles() : forward{}, inverse{} {
    for (size_t i = 0; i < (1u << (kLayers - 1)); ++i) {
      size_t reversed = 0;
      for (size_t bit = 0; bit < 7; ++bit)
        reversed |= (i >> bit & 1) << (6 - bit);
      const uint64_t w = power_mod(Prime<kP>::root(), reversed, kP);
      forward[i] = Prime<kP>::montgomery(w);
      inverse[i] = Prime<kP>::montgomery(power_mod(w, kP - 2, kP));
    }
  }
};

/// Computes cyclic products of 2^kLayers kM rows modulo one prime: kLayers layers of radix-2 butterflies, then products
/// modulo x^kM - w by schoolbook.
template <uint16_t kP, size_t kLayers, size_t kM>
struct NttModPrime {
  using P = Prime<kP>;
  static constexpr size_t kSize = (size_t{1} << kLayers) * kM;
  static constexpr Twiddles<kP, kLayers> kTwiddles{};

  static POLYKEM_NOINLINE void forward(uint16_t* x) {
    size_t since = 0;
    reduce_all(x);
    for (size_t layer = 0; layer < kLayers; ++layer) {
      if (++since > P::kLayersPerReduction) {
        reduce_all(x);
        since = 1;
      }
      const size_t half = kSize >> (layer + 1);
      for (size_t block = 0; block < (size_t{1} << layer); ++block) {
        const V16 w = V16::set1(static_cast<uint16_t>(kTwiddles.forward[block]));
        const V16 w_inverse = w * V16::set1(P::kInverse);
        uint16_t* low = x + 2 * half * block * kLanes;
        for (size_t i = 0; i < half; ++i) {
          const V16 a = load_row(low, i);
          const V16 b = P::multiply(load_row(low, half + i), w, w_inverse);
          store_row(low, i, a + b);
          store_row(low, half + i, a - b);
        }
      }
    }
    reduce_all(x);
  }

  /// Returns 2^kLayers times the values; finish() divides.
  static POLYKEM_NOINLINE void inverse(uint16_t* x) {
    size_t since = 0;
    for (size_t layer = kLayers; layer-- > 0;) {
      if (++since > P::kDoublings) {
        reduce_all(x);
        since = 1;
      }
      const size_t half = kSize >> (layer + 1);
      for (size_t block = 0; block < (size_t{1} << layer); ++block) {
        const V16 w = V16::set1(static_cast<uint16_t>(kTwiddles.inverse[block]));
        const V16 w_inverse = w * V16::set1(P::kInverse);
        uint16_t* low = x + 2 * half * block * kLanes;
        for (size_t i = 0; i < half; ++i) {
          const V16 a = load_row(low, i);
          const V16 b = load_row(low, half + i);
          store_row(low, i, a + b);
          store_row(low, half + i, P::multiply(a - b, w, w_inverse));
        }
      }
    }
  }

  /// Computes x = x y 2^16, block by block. y, the second operand, is overwritten.
  static POLYKEM_NOINLINE void multiply_blocks(uint16_t* x, const uint16_t* y) {
    for (size_t block = 0; block < (size_t{1} << (kLayers - 1)); ++block) {
      const V16 w = V16::set1(static_cast<uint16_t>(kTwiddles.forward[block]));
      multiply_block(x + 2 * block * kM * kLanes, y + 2 * block * kM * kLanes, w);
      multiply_block(x + (2 * block + 1) * kM * kLanes, y + (2 * block + 1) * kM * kLanes, V16::zero() - w);
    }
  }

  /// Returns centred values, without the factors 2^-16 of products and 2^kLayers of transforms.
  static POLYKEM_NOINLINE void finish(uint16_t* x) {
    constexpr uint64_t kScale = power_mod(power_mod(2, kLayers, kP), kP - 2, kP);
    const V16 scale = V16::set1(static_cast<uint16_t>(P::montgomery((kScale << 16) % kP)));
    const V16 scale_inverse = scale * V16::set1(P::kInverse);
    for (size_t i = 0; i < kSize; ++i)
      store_row(x, i, P::reduce(P::multiply(P::reduce(load_row(x, i)), scale, scale_inverse)));
  }

 private:
  static void reduce_all(uint16_t* x) {
    for (size_t i = 0; i < kSize; ++i)
      store_row(x, i, P::reduce(load_row(x, i)));
  }

  static POLYKEM_NOINLINE void multiply_block(uint16_t* x, const uint16_t* y, V16 w) {
    V16 a[kM];
    V16 b[kM];
    unroll<kM>([&](auto i) __attribute__((always_inline)) {
      a[i] = load_row(x, i);
      b[i] = load_row(y, i);
    });
    unroll<kM>([&](auto k) __attribute__((always_inline)) {
      V16 wrapped = V16::zero();
      unroll<kM - 1 - k>([&](auto j) __attribute__((always_inline)) {
        wrapped = add(wrapped, P::multiply(a[k + 1 + j], b[kM - 1 - j]), j);
      });
      V16 sum = P::multiply(P::reduce(wrapped), w);
      unroll<k + 1>([&](auto j) __attribute__((always_inline)) { sum = add(sum, P::multiply(a[j], b[k - j]), j + 1); });
      store_row(x, k, P::reduce(sum));
    });
  }
  /// Adds term number `at` to a sum, and reduces the sum before it overflows.
  static POLYKEM_INLINE V16 add(V16 sum, V16 term, size_t at) {
    return (at != 0 && at % P::kLayersPerReduction == 0 ? P::reduce(sum) : sum) + term;
  }
};

/// Products modulo x^kN - 1 by transforms of kSize >= 2 kN - 1 modulo several primes. Operands centred modulo 2^kLogQ
/// (the second one is ternary if there are two primes); the result is exact modulo 2^16.
template <size_t kN, unsigned kLogQ, size_t kLayers, size_t kM, uint16_t... kPrimes>
struct NttWords {
  static constexpr size_t kCount = sizeof...(kPrimes);
  static constexpr size_t kSize = (size_t{1} << kLayers) * kM;
  static_assert(kSize + 1 >= 2 * kN);
  static constexpr bool kTernary = kCount == 2;
  static constexpr double kBound = 2.0 * kN * (1u << (kLogQ - 1)) * (kTernary ? 1 : 1u << (kLogQ - 1));
  static_assert((1.0 * ... * kPrimes) > kBound);
  static constexpr size_t kWorkspaceBytes = (kCount + 1) * kSize * kLanes * sizeof(uint16_t);
  /// Three multiplications for each butterfly, three transforms for each prime, 4 kM^2 for each block.
  static constexpr double kFloor = kCount * (3.0 * 3 * kLayers * kSize / 2 + 4.0 * kSize * kM) / (2.0 * kLanes);

  static void mul(uint16_t* c, const uint16_t* a, const uint16_t* b, void* workspace) {
    uint16_t* x = static_cast<uint16_t*>(workspace);
    uint16_t* y = x + kCount * kSize * kLanes;
    size_t at = 0;
    (product<kPrimes>(x + at++ * kSize * kLanes, y, a, b), ...);
    constexpr uint16_t primes[] = {kPrimes...};
    constexpr uint16_t p0 = primes[0];
    constexpr uint16_t p1 = primes[1];
    for (size_t i = 0; i < kSize; ++i) {
      const V16 x0 = load_row(x, i);
      const V16 u1 = garner<p1>(load_row(x, kSize + i), x0, p0);
      V16 value = x0 + u1 * V16::set1(p0);
      if constexpr (kCount == 3) {
        constexpr uint16_t p2 = primes[2];
        const V16 low = Prime<p2>::reduce(Prime<p2>::reduce(x0) + times<p2>(u1, p0));
        const V16 u2 = garner<p2>(load_row(x, 2 * kSize + i), low, uint64_t{p0} * p1 % p2);
        value = value + u2 * V16::set1(static_cast<uint16_t>(p0 * p1));
      }
      store_row(x, i, value);
    }
    fold_rows(c, x, kN);
  }

 private:
  static void load_centred(uint16_t* to, const uint16_t* from) {
    for (size_t i = 0; i < kN; ++i)
      store_row(to, i, load_row(from, i).template shl<16 - kLogQ>().template sar<16 - kLogQ>());
    for (size_t i = kN; i < kSize; ++i)
      store_row(to, i, V16::zero());
  }

  template <uint16_t kP>
  static void product(uint16_t* x, uint16_t* y, const uint16_t* a, const uint16_t* b) {
    using Ntt = NttModPrime<kP, kLayers, kM>;
    load_centred(x, a);
    load_centred(y, b);
    Ntt::forward(x);
    Ntt::forward(y);
    Ntt::multiply_blocks(x, y);
    Ntt::inverse(x);
    Ntt::finish(x);
  }

  template <uint16_t kP>
  static POLYKEM_INLINE V16 times(V16 a, uint64_t constant) {
    return Prime<kP>::multiply(a, V16::set1(static_cast<uint16_t>(Prime<kP>::montgomery(constant))));
  }

  /// Returns (x - base) / modulus modulo kP, centred.
  template <uint16_t kP>
  static POLYKEM_INLINE V16 garner(V16 x, V16 base, uint64_t modulus) {
    const V16 difference = Prime<kP>::reduce(x - Prime<kP>::reduce(base));
    return Prime<kP>::reduce(times<kP>(difference, power_mod(modulus % kP, kP - 2, kP)));
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::lab
