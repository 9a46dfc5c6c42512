// SPDX-License-Identifier: Apache-2.0
#include "schemes/ntru/polyinv/polyinv_lanes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "schemes/ntru/polyinv/polyinv.hpp"
#include "support/isa.hpp"

namespace polykem {
namespace {

using test::AlignedBuffer;
using test::Noise;

using Poly = std::vector<uint16_t>;
using Reference = void (*)(uint16_t*, const uint16_t*, size_t);

constexpr size_t kDegrees[] = {3, 17, 131, 509, 677, 701, 821, 1229, 1373};

/// a * b mod (p, x^n - 1), then mod Phi_n, coefficients in [0, p).
Poly product(const Poly& a, const Poly& b, unsigned p) {
  const size_t n = a.size();
  std::vector<uint32_t> sum(n, 0);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; a[i] != 0 && j < n; ++j)
      sum[(i + j) % n] += static_cast<uint32_t>(a[i] * b[j]);
  }
  Poly reduced(n);
  for (size_t i = 0; i < n; ++i)
    reduced[i] = static_cast<uint16_t>((sum[i] + (p - 1) * (sum[n - 1] % p)) % p);
  return reduced;
}

Poly monomial(size_t n, size_t degree, uint16_t factor) {
  Poly a(n, 0);
  a[degree] = factor;
  return a;
}

class PolyInvLanesTest : public test::IsaTest {
 protected:
  void SetUp() override {
    IsaTest::SetUp();
    if (!IsSkipped()) workspace_ = std::make_unique<AlignedBuffer<uint8_t>>(lanes().workspace_bytes);
  }

  const PolyInvFunctions& lanes() const { return POLYKEM_TABLE(kPolyInv); }

  /// 1, x, the highest power of x, all ones but for the last, -1, then noise: random density, so some start with zeros.
  Poly input(size_t index, size_t n, unsigned p, Noise& noise) {
    if (index == 0) return monomial(n, 0, 1);
    if (index == 1) return monomial(n, 1, 1);
    if (index == 2) return monomial(n, n - 2, 1);
    if (index == 3) return monomial(n, 0, static_cast<uint16_t>(p - 1));
    Poly a(n, 0);
    const uint64_t density = 1 + noise.next() % 16;
    do {
      for (size_t i = 0; i + 1 < n; ++i) {
        a[i] = noise.next() % 16 < density ? static_cast<uint16_t>((noise.next() >> 8) % p) : uint16_t{0};
      }
    } while (std::all_of(a.begin(), a.end(), [](uint16_t x) { return x == 0; }));
    return a;
  }

  bool workspace_is_zero() {
    return std::all_of(workspace_->data(), workspace_->data() + lanes().workspace_bytes,
                       [](uint8_t x) { return x == 0; });
  }

  template <class Inverse>
  void check_interleaved(Inverse inverse_of, Reference reference, unsigned p) {
    const size_t width = lanes().lanes;
    for (size_t n : kDegrees) {
      Noise noise(n);
      AlignedBuffer<uint16_t> a(n * width), inverse(n * width);
      std::vector<Poly> items;
      for (size_t l = 0; l < width; ++l) {
        items.push_back(input(l, n, p, noise));
        for (size_t i = 0; i < n; ++i)
          a[i * width + l] = items[l][i];
      }
      inverse_of(inverse.data(), a.data(), n, workspace_->data());
      EXPECT_TRUE(workspace_is_zero());
      size_t invertible = 0;
      for (size_t l = 0; l < width; ++l) {
        Poly expected(n), got(n);
        for (size_t i = 0; i < n; ++i)
          got[i] = inverse[i * width + l];
        reference(expected.data(), items[l].data(), n);
        if (product(expected, items[l], p) != monomial(n, 0, 1)) continue;
        ++invertible;
        ASSERT_EQ(got, expected) << "n " << n << ", lane " << l;
      }
      EXPECT_GE(invertible, n > 500 ? width * 3 / 4 : 4) << n;
    }
  }

  template <class Inverse>
  void check_single(Inverse inverse_of_one, Reference reference, unsigned p) {
    for (size_t n : kDegrees) {
      Noise noise(n + 1);
      for (size_t index = 0; index < 12; ++index) {
        const Poly a = input(index, n, p, noise);
        Poly expected(n), got(n, 7);
        inverse_of_one(got.data(), a.data(), n, workspace_->data());
        EXPECT_TRUE(workspace_is_zero());
        reference(expected.data(), a.data(), n);
        if (product(expected, a, p) != monomial(n, 0, 1)) continue;
        ASSERT_EQ(got, expected) << "n " << n << ", item " << index;
        inverse_of_one(got.data(), got.data(), n, workspace_->data());
        ASSERT_EQ(got, a) << "in place, n " << n << ", item " << index;
      }
    }
  }

  std::unique_ptr<AlignedBuffer<uint8_t>> workspace_;
};

TEST_P(PolyInvLanesTest, BlocksMod2AgreeWithReference) {
  check_interleaved(lanes().inverse_mod2, poly_inverse_mod2, 2);
}
TEST_P(PolyInvLanesTest, BlocksMod3AgreeWithReference) {
  check_interleaved(lanes().inverse_mod3, poly_inverse_mod3, 3);
}
TEST_P(PolyInvLanesTest, OneMod2AgreesWithReference) {
  check_single(lanes().inverse_mod2_single, poly_inverse_mod2, 2);
}
TEST_P(PolyInvLanesTest, OneMod3AgreesWithReference) {
  check_single(lanes().inverse_mod3_single, poly_inverse_mod3, 3);
}

TEST_P(PolyInvLanesTest, Mod2LooksAtLowestBitsOnly) {
  constexpr size_t kDegree = 509;
  Noise noise(5);
  Poly a = input(9, kDegree, 2, noise), clean(kDegree), dirty(kDegree);
  lanes().inverse_mod2_single(clean.data(), a.data(), kDegree, workspace_->data());
  for (uint16_t& x : a)
    x = static_cast<uint16_t>(x | (noise.next() & 0xfffe));
  lanes().inverse_mod2_single(dirty.data(), a.data(), kDegree, workspace_->data());
  EXPECT_EQ(clean, dirty);
}

POLYKEM_EVERY_ISA(PolyInvLanesTest);

}  // namespace
}  // namespace polykem
