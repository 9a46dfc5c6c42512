// SPDX-License-Identifier: Apache-2.0
#include "prim/ntt/cortex_m4/ntt_m4.hpp"

#include <array>

#include "prim/ntt/cortex_m4/words.hpp"

extern "C" {
void polykem_ntt_forward(uint16_t* a, const int32_t* zetas);
void polykem_ntt_inverse(uint16_t* a, const int32_t* zetas);
}

namespace polykem::cortex_m4 {

namespace {

using ntt::kQ;

constexpr size_t kGroups = 8;  ///< groups of 32 coefficients, which the last four layers do not leave

/// Takes the constants of three layers in the order of use; the widest layer has one zeta, number `from`.
template <class Take>
constexpr void three_layers(size_t from, Take&& take) {
  for (size_t count = 1; count <= 4; count *= 2) {
    for (size_t i = 0; i < count; ++i)
      take(count * from + i);
  }
}

constexpr auto kForward = [] {
  std::array<int32_t, 127> constants{};
  size_t next = 0;
  const auto take = [&](size_t k) { constants[next++] = plantard_constant(ntt::kZetas[k]); };
  three_layers(1, take);
  for (size_t group = 0; group < kGroups; ++group) {
    three_layers(kGroups + group, take);
    for (size_t i = 0; i < 8; ++i)
      take(8 * kGroups + 8 * group + i);
  }
  return constants;
}();

/// The constants of the inverse are negative, since Algorithm 10 multiplies the negative difference. The last layer
/// divides by 128 too.
constexpr auto kInverse = [] {
  std::array<int32_t, 129> constants{};
  size_t next = 0;
  const auto take = [&](size_t k, uint32_t factor = 1) {
    constants[next++] = plantard_constant((kQ - ntt::kZetas[k]) * factor % kQ);
  };
  constants[next++] = plantard_constant(1);
  for (size_t group = 0; group < kGroups; ++group) {
    for (size_t count = 8, last = 127; count > 0; count /= 2, last /= 2) {
      for (size_t i = 0; i < count; ++i)
        take(last - count * group - i);
    }
  }
  for (size_t k = 7; k > 1; --k)
    take(k);
  take(1, ntt::kInverse128);
  constants[next++] = plantard_constant(ntt::kInverse128);
  return constants;
}();

constexpr auto kGammaConstants = [] {
  std::array<int32_t, 64> constants{};
  for (size_t i = 0; i < constants.size(); ++i) {
    static_assert(ntt::kGammas[0] + ntt::kGammas[1] == kQ);
    constants[i] = plantard_constant(ntt::kGammas[2 * i]);
  }
  return constants;
}();

/// Returns a word whose upper half is the upper coefficient of `pair` times the factor of `constant`.
int32_t upper_product(int32_t constant, int32_t pair) {
  return __smlabb(product_upper(constant, pair), static_cast<int32_t>(kQ), static_cast<int32_t>(8 * kQ));
}

}  // namespace

void ntt_forward(uint16_t* a) {
  polykem_ntt_forward(a, kForward.data());
}

void ntt_inverse(uint16_t* a) {
  polykem_ntt_inverse(a, kInverse.data());
}

/// The second of two neighbouring gammas is the negative of the first one.
void gamma_products(uint16_t* products, const uint16_t* b) {
  for (const int32_t constant : kGammaConstants) {
    const int32_t first = upper_product(constant, load_pair(b)), second = upper_product(-constant, load_pair(b + 2));
    store_pair(products, upper_halves(first, second));
    products += 2;
    b += 4;
  }
}

template <size_t kTerms>
void ntt_multiply(uint16_t* c, const uint16_t* a, const uint16_t* b, const uint16_t* products) {
  for (const uint16_t* end = a + ntt::kN; a != end; a += 4, b += 4, c += 4, products += 2) {
    int32_t even0 = 0, odd0 = 0, even1 = 0, odd1 = 0;
#pragma GCC unroll 4
    for (size_t i = 0; i < kTerms; ++i) {
      const int32_t a0 = load_pair(a + i * ntt::kN), a1 = load_pair(a + i * ntt::kN + 2);
      const int32_t b0 = load_pair(b + i * ntt::kN), b1 = load_pair(b + i * ntt::kN + 2);
      const int32_t g = load_pair(products + i * ntt::kN / 2);
      even0 = __smlatb(a0, g, __smlabb(a0, b0, even0));
      odd0 = __smladx(a0, b0, odd0);
      even1 = __smlatt(a1, g, __smlabb(a1, b1, even1));
      odd1 = __smladx(a1, b1, odd1);
    }
    store_pair(c, lower_halves(reduced(even0), reduced(odd0)));
    store_pair(c + 2, lower_halves(reduced(even1), reduced(odd1)));
  }
}

template void ntt_multiply<2>(uint16_t*, const uint16_t*, const uint16_t*, const uint16_t*);
template void ntt_multiply<3>(uint16_t*, const uint16_t*, const uint16_t*, const uint16_t*);
template void ntt_multiply<4>(uint16_t*, const uint16_t*, const uint16_t*, const uint16_t*);

}  // namespace polykem::cortex_m4
