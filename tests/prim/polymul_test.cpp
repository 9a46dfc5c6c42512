// SPDX-License-Identifier: Apache-2.0
#include "prim/polymul/polymul.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "prim/polymul/ref/schoolbook.hpp"
#include "support/isa.hpp"

namespace polykem {
namespace {

using test::Noise;
using Poly = std::vector<uint16_t>;
/// Coefficient i of item l.
using Fill = std::function<uint16_t(size_t i, size_t l)>;

constexpr size_t kDegrees[] = {509, 677, 701, 821, 1229, 1373};
/// log2 q of the parameter set with that degree; the largest where a degree has one only.
unsigned log_q(size_t n) {
  switch (n) {
    case 821:
    case 1229:
      return 12;
    case 701:
      return 13;
    case 1373:
      return 14;
    default:
      return 11;
  }
}

/// 64-byte aligned words between two guards, filled with a pattern that stands for uninitialised memory.
class Buffer {
 public:
  explicit Buffer(size_t bytes) : words_((bytes + 63) / 64 * 32), memory_(words_ + 2 * kGuard + 32, kPattern) {
    void* p = memory_.data() + kGuard;
    size_t space = (words_ + kGuard + 32) * sizeof(uint16_t);
    data_ = static_cast<uint16_t*>(std::align(64, words_ * sizeof(uint16_t), p, space));
  }
  uint16_t* data() { return data_; }
  uint16_t& operator[](size_t i) { return data_[i]; }
  /// Returns true if nothing before the buffer or after its first `bytes` was written.
  bool guards_intact(size_t bytes) const {
    const uint16_t* begin = data_;
    const uint16_t* end = begin + bytes / sizeof(uint16_t);
    return std::all_of(begin - kGuard, begin, is_pattern) && std::all_of(end, end + kGuard, is_pattern);
  }

 private:
  static constexpr size_t kGuard = 64;
  static constexpr uint16_t kPattern = 0xa5c3;
  static bool is_pattern(uint16_t x) { return x == kPattern; }
  size_t words_;
  std::vector<uint16_t> memory_;
  uint16_t* data_;
};

uint16_t mod3(uint16_t x) {
  return x == 0xffff ? 2 : x;
}

Poly expected_cyclic(const Poly& a, const Poly& b, unsigned bits) {
  Poly c(a.size());
  poly_mul_cyclic(c.data(), a.data(), b.data(), a.size());
  for (uint16_t& x : c)
    x &= static_cast<uint16_t>((1u << bits) - 1);
  return c;
}

Poly expected_s3(Poly a, Poly b) {
  for (uint16_t& x : a)
    x = mod3(x);
  for (uint16_t& x : b)
    x = mod3(x);
  Poly c(a.size());
  poly_mul_cyclic(c.data(), a.data(), b.data(), a.size());
  const int last = c.back() % 3;
  for (uint16_t& x : c)
    x = static_cast<uint16_t>((x % 3 + 3 - last) % 3);
  return c;
}

#ifdef __aarch64__
constexpr auto* kPolymulNeon = polymul_neon;
#else
constexpr auto *kPolymulAvx2 = polymul_avx2, *kPolymulAvx512 = polymul_avx512;
#endif

class PolymulLanesTest : public test::IsaTest {
 protected:
  static const PolymulFunctions* find(size_t n) { return POLYKEM_TABLE(kPolymul)(n); }
  static const PolymulFunctions& table(size_t n) { return *find(n); }

  /// Runs the interleaved product on operands made by `fill_a`, `fill_b`; compares every item whose index `stride`
  /// divides.
  static void check_interleaved(size_t n, bool s3, const Fill& fill_a, const Fill& fill_b, size_t stride = 1) {
    const PolymulFunctions& mul = table(n);
    const size_t bytes = n * mul.lanes * sizeof(uint16_t);
    Buffer a(bytes), b(bytes), c(bytes), workspace(mul.workspace_bytes);
    for (size_t i = 0; i < n; ++i) {
      for (size_t l = 0; l < mul.lanes; ++l) {
        a[i * mul.lanes + l] = fill_a(i, l);
        b[i * mul.lanes + l] = fill_b(i, l);
      }
    }
    (s3 ? mul.mul_s3 : mul.mul_cyclic)(c.data(), a.data(), b.data(), workspace.data());
    ASSERT_TRUE(a.guards_intact(bytes) && b.guards_intact(bytes) && c.guards_intact(bytes)) << n;
    ASSERT_TRUE(workspace.guards_intact(mul.workspace_bytes)) << n;
    for (size_t l = 0; l < mul.lanes; l += stride) {
      Poly x(n), y(n), z(n);
      for (size_t i = 0; i < n; ++i) {
        x[i] = fill_a(i, l);
        y[i] = fill_b(i, l);
        z[i] = c[i * mul.lanes + l] & mask(n, s3);
      }
      ASSERT_EQ(z, s3 ? expected_s3(x, y) : expected_cyclic(x, y, mul.exact_bits)) << "n " << n << " item " << l;
    }
  }

  static void check_single(size_t n, bool s3, const Fill& fill_a, const Fill& fill_b) {
    const PolymulFunctions& mul = table(n);
    Buffer workspace(mul.workspace_single_bytes);
    Poly x(n), y(n);
    for (size_t i = 0; i < n; ++i) {
      x[i] = fill_a(i, 0);
      y[i] = fill_b(i, 0);
    }
    // An odd offset: the single layout needs no alignment. The word on either side must not change.
    Poly c(n + 4, 0x1234);
    (s3 ? mul.mul_s3_single : mul.mul_cyclic_single)(c.data() + 3, x.data(), y.data(), workspace.data());
    ASSERT_TRUE(workspace.guards_intact(mul.workspace_single_bytes)) << n;
    ASSERT_TRUE(c[2] == 0x1234 && c[n + 3] == 0x1234) << n;
    Poly z(c.begin() + 3, c.end() - 1);
    const unsigned bits = mul.exact_bits_single;
    for (uint16_t& v : z)
      v &= s3 ? 0xffff : static_cast<uint16_t>((1u << bits) - 1);
    ASSERT_EQ(z, s3 ? expected_s3(x, y) : expected_cyclic(x, y, bits)) << "n " << n;
  }

  static void check(size_t n, bool s3, const Fill& fill_a, const Fill& fill_b, size_t stride = 1) {
    check_interleaved(n, s3, fill_a, fill_b, stride);
    if (HasFatalFailure()) return;
    check_single(n, s3, fill_a, fill_b);
  }

 private:
  static uint16_t mask(size_t n, bool s3) {
    return s3 ? 0xffff : static_cast<uint16_t>((1u << table(n).exact_bits) - 1);
  }
};

TEST_P(PolymulLanesTest, KnowsTheDegreesAndNoOther) {
  for (size_t n : kDegrees) {
    EXPECT_EQ(table(n).n, n);
    EXPECT_EQ(table(n).lanes, std::string(test::isa_name(GetParam())) == "avx512" ? 32u : 16u);
    EXPECT_GE(table(n).exact_bits, log_q(n));
    EXPECT_GT(1u << table(n).exact_bits_single, 4 * n);
  }
  for (size_t n : {0, 1, 508, 510, 820, 822, 2048}) {
    EXPECT_EQ(find(n), nullptr);
  }
}

TEST_P(PolymulLanesTest, ZeroTimesAnythingIsZero) {
  Noise noise(1);
  const Fill zero = [](size_t, size_t) -> uint16_t { return 0; };
  for (size_t n : kDegrees) {
    Poly words(n * 32);
    for (uint16_t& w : words)
      w = static_cast<uint16_t>(noise.next());
    const Fill any = [&](size_t i, size_t l) { return words[i * 32 + l]; };
    const Fill trit = [&](size_t i, size_t l) -> uint16_t { return words[i * 32 + l] % 3; };
    check(n, false, zero, any, 7);
    check(n, false, any, zero, 7);
    check(n, true, zero, trit, 7);
    check(n, true, trit, zero, 7);
  }
}

/// c_j x^j times c_k x^k, j and k varying over the items so that every block border is crossed.
TEST_P(PolymulLanesTest, MonomialsShift) {
  for (size_t n : kDegrees) {
    for (size_t round = 0; round < 4; ++round) {
      const auto at_a = [&](size_t l) { return round == 0 ? n - 1 - l : (l * 61 + round * 131) % n; };
      const auto at_b = [&](size_t l) { return round == 0 ? n - 1 : (l * 97 + round * 53) % n; };
      const Fill a = [&](size_t i, size_t l) -> uint16_t { return i == at_a(l) ? 0x8001 : 0; };
      const Fill b = [&](size_t i, size_t l) -> uint16_t { return i == at_b(l) ? 0xffff : 0; };
      check(n, false, a, b);
      const Fill trit_a = [&](size_t i, size_t l) -> uint16_t { return i == at_a(l) ? 2 : 0; };
      const Fill trit_b = [&](size_t i, size_t l) -> uint16_t { return i == at_b(l) ? 1 + l % 2 : 0; };
      check(n, true, trit_a, trit_b);
    }
  }
}

TEST_P(PolymulLanesTest, RandomOperands) {
  for (size_t n : kDegrees) {
    for (uint64_t round = 0; round < 3; ++round) {
      Noise noise(100 * n + round);
      Poly words(2 * n * 32);
      for (uint16_t& w : words)
        w = static_cast<uint16_t>(noise.next() >> 20);
      const uint16_t* second = words.data() + n * 32;
      const Fill a = [&](size_t i, size_t l) { return words[i * 32 + l]; };
      const Fill b = [&](size_t i, size_t l) { return second[i * 32 + l]; };
      check(n, false, a, b);
      const Fill ternary = [&](size_t i, size_t l) -> uint16_t { return second[i * 32 + l] % 3 - 1; };
      check(n, false, a, ternary, 5);
      const Fill trit_a = [&](size_t i, size_t l) -> uint16_t { return words[i * 32 + l] % 3; };
      const Fill trit_b = [&](size_t i, size_t l) -> uint16_t { return second[i * 32 + l] % 3; };
      check(n, true, trit_a, trit_b);
      const Fill minus_one = [&](size_t i, size_t l) -> uint16_t {
        return words[i * 32 + l] % 3 == 2 ? 0xffff : trit_a(i, l);
      };
      check(n, true, minus_one, trit_b, 5);
    }
  }
}

/// Each item a pair of constant or alternating extremes: the largest sums, and all carries into the bits that are lost.
TEST_P(PolymulLanesTest, ExtremeOperands) {
  constexpr uint16_t kExtremes[] = {0xffff, 0x8000, 0x7fff, 1};
  for (size_t n : kDegrees) {
    const Fill a = [&](size_t, size_t l) { return kExtremes[l % 4]; };
    const Fill b = [&](size_t i, size_t l) -> uint16_t {
      return l % 32 < 16 ? kExtremes[l / 4 % 4] : kExtremes[(l + i) % 4];
    };
    check(n, false, a, b);
    const Fill q_minus_1 = [&](size_t i, size_t l) -> uint16_t { return (1u << log_q(n)) - 1 - (i + l) % 2; };
    check(n, false, q_minus_1, q_minus_1, 9);
    const Fill twos = [](size_t, size_t) -> uint16_t { return 2; };
    const Fill sparse = [](size_t i, size_t l) -> uint16_t { return i % (l + 1) == 0 ? 2 : 1; };
    check(n, true, twos, twos, 9);
    check(n, true, twos, sparse);
  }
}

TEST_P(PolymulLanesTest, ResultMayOverwriteAnOperand) {
  for (size_t n : kDegrees) {
    const PolymulFunctions& mul = table(n);
    const size_t words = n * mul.lanes;
    for (bool s3 : {false, true}) {
      Noise noise(n);
      Buffer a(2 * words), b(2 * words), c(2 * words), workspace(mul.workspace_bytes);
      for (size_t i = 0; i < words; ++i) {
        a[i] = noise.next() % 3;
        b[i] = noise.next() % 3;
      }
      const auto product = s3 ? mul.mul_s3 : mul.mul_cyclic;
      product(c.data(), a.data(), b.data(), workspace.data());
      Buffer in_place(2 * words);
      std::copy_n(a.data(), words, in_place.data());
      product(in_place.data(), in_place.data(), b.data(), workspace.data());
      ASSERT_TRUE(std::equal(c.data(), c.data() + words, in_place.data())) << n;
      std::copy_n(b.data(), words, in_place.data());
      product(in_place.data(), a.data(), in_place.data(), workspace.data());
      ASSERT_TRUE(std::equal(c.data(), c.data() + words, in_place.data())) << n;
      const auto one = s3 ? mul.mul_s3_single : mul.mul_cyclic_single;
      Poly single(n);
      one(single.data(), a.data(), b.data(), workspace.data());
      one(a.data(), a.data(), b.data(), workspace.data());
      ASSERT_TRUE(std::equal(single.begin(), single.end(), a.data())) << n;
    }
  }
}

POLYKEM_EVERY_ISA(PolymulLanesTest);

}  // namespace
}  // namespace polykem
