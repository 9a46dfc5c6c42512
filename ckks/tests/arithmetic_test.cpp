// SPDX-License-Identifier: Apache-2.0
// Compares modular arithmetic, transforms and base conversion with their definitions.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "ckks/src/base_conversion.hpp"
#include "ckks/src/primes.hpp"

namespace polykem::ckks {
namespace {

std::vector<uint64_t> some_moduli() {
  std::vector<uint64_t> out{3, 12289, (uint64_t{1} << 61) - 1};
  for (const unsigned bits : {14U, 20U, 31U, 32U, 45U, 59U, 60U})
    for (const uint64_t q : find_primes(4, bits, 3, {}))
      out.push_back(q);
  return out;
}

TEST(CkksModulus, ProductsOfExtremesAndRandomWords) {
  std::mt19937_64 random(1);
  for (const uint64_t q : some_moduli()) {
    const Modulus m(q);
    std::vector<uint64_t> words{0, 1, 2, q / 2, q / 2 + 1, q - 2, q - 1};
    for (int i = 0; i < 50; ++i)
      words.push_back(random() % q);
    for (const uint64_t a : words) {
      for (const uint64_t b : words) {
        const auto product = static_cast<uint64_t>(Wide{a} * b % q);
        ASSERT_EQ(m.mul(a, b), product) << a << " * " << b << " mod " << q;
        ASSERT_EQ(m.mul(a, m.factor(b)), product);
        ASSERT_EQ(m.add(a, b), (Wide{a} + b) % q);
        ASSERT_EQ(m.sub(a, b), (Wide{a} + q - b) % q);
      }
      if (a != 0) {
        ASSERT_EQ(m.mul(a, m.inverse(a)), 1U);
      }
      ASSERT_EQ(m.add(a, m.negate(a)), 0U);
    }
  }
}

TEST(CkksModulus, ReducesEveryWord) {
  std::mt19937_64 random(2);
  for (const uint64_t q : some_moduli()) {
    const Modulus m(q);
    for (const Wide a : {Wide{0}, Wide{q}, ~Wide{0}, ~Wide{0} / q * q, ~Wide{0} / q * q - 1, Wide{1} << 127})
      ASSERT_EQ(m.reduce(a), static_cast<uint64_t>(a % q));
    for (int i = 0; i < 1000; ++i) {
      const Wide a = Wide{random()} << 64 | random();
      ASSERT_EQ(m.reduce(a), static_cast<uint64_t>(a % q));
      const uint64_t word = random(), factor = random() % q;
      ASSERT_EQ(m.reduce_once(m.mul_lazy(word, m.factor(factor))), static_cast<uint64_t>(Wide{word} * factor % q));
    }
  }
}

TEST(CkksModulus, TakesSignedNumbers) {
  const Modulus m(12289);
  for (const int64_t a : {int64_t{0}, int64_t{-1}, int64_t{12289}, int64_t{-12289}, INT64_MAX, INT64_MIN}) {
    const auto wide = static_cast<__int128>(a) % 12289;
    ASSERT_EQ(m.from_signed(a), static_cast<uint64_t>((wide + 12289) % 12289)) << a;
  }
}

TEST(CkksPrimes, AreThoseOfASieve) {
  std::vector<bool> composite(20000);
  for (size_t n = 2; n < composite.size(); ++n) {
    ASSERT_EQ(is_prime(n), !composite[n]) << n;
    for (size_t multiple = n * n; multiple < composite.size(); multiple += n)
      composite[multiple] = true;
  }
  EXPECT_FALSE(is_prime(uint64_t{4294967291} * 4294967279 % (uint64_t{1} << 60)));
  EXPECT_FALSE(is_prime(3215031751)) << "a strong pseudoprime to the bases 2, 3, 5 and 7";
  EXPECT_TRUE(is_prime((uint64_t{1} << 61) - 1));
}

TEST(CkksPrimes, SuitTheRing) {
  const std::vector<uint64_t> primes = find_primes(12, 40, 20, {});
  ASSERT_EQ(primes.size(), 20U);
  for (const uint64_t q : primes) {
    EXPECT_TRUE(is_prime(q));
    EXPECT_EQ(q % 8192, 1U);
    EXPECT_TRUE(is_root(12, q, min_root(12, q)));
    EXPECT_FALSE(is_root(12, q, 1));
    EXPECT_FALSE(is_root(12, q, min_root(12, q) + q)) << "a root is below its prime";
  }
  for (const uint64_t q : find_primes(12, 40, 20, primes))
    EXPECT_EQ(std::count(primes.begin(), primes.end(), q), 0);
  EXPECT_LT(find_primes(12, 14, 10, {}).size(), 10U) << "there are few so small ones";
  EXPECT_TRUE(find_primes(16, 16, 1, {}).empty()) << "2^16 + 1 is prime, but not 1 mod 2^17";
}

class CkksNtt : public testing::TestWithParam<unsigned> {};

TEST_P(CkksNtt, EvaluatesAtOddPowersInBitReversedOrder) {
  const unsigned log_n = 5;
  const size_t n = size_t{1} << log_n;
  const uint64_t q = find_primes(log_n, GetParam(), 1, {})[0], psi = min_root(log_n, q);
  const Ntt ntt(log_n, q, psi);
  const Modulus m(q);
  std::mt19937_64 random(3);
  std::vector<uint64_t> a(n);
  for (const int kind : {0, 1, 2}) {
    for (uint64_t& word : a)
      word = kind == 0 ? q - 1 : kind == 1 ? random() % q : 0;
    if (kind == 2) a[n - 1] = 1;
    std::vector<uint64_t> values = a;
    ntt.forward(values.data());
    for (size_t i = 0; i < n; ++i) {
      const uint64_t x = m.pow(psi, 2 * bit_reverse(i, log_n) + 1);
      uint64_t value = 0;
      for (size_t k = n; k-- > 0;)
        value = m.add(m.mul(value, x), a[k]);
      ASSERT_EQ(values[i], value) << i;
    }
    ntt.inverse(values.data());
    ASSERT_EQ(values, a);
  }
}

TEST_P(CkksNtt, MultipliesModuloXToTheNPlusOne) {
  const unsigned log_n = 7;
  const size_t n = size_t{1} << log_n;
  const uint64_t q = find_primes(log_n, GetParam(), 1, {})[0];
  const Ntt ntt(log_n, q, min_root(log_n, q));
  const Modulus m(q);
  std::mt19937_64 random(4);
  std::vector<uint64_t> a(n), b(n), product(n);
  for (size_t i = 0; i < n; ++i) {
    a[i] = random() % q;
    b[i] = random() % q;
  }
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) {
      uint64_t& to = product[(i + j) % n];
      to = i + j < n ? m.add(to, m.mul(a[i], b[j])) : m.sub(to, m.mul(a[i], b[j]));
    }
  }
  ntt.forward(a.data());
  ntt.forward(b.data());
  for (size_t i = 0; i < n; ++i)
    a[i] = m.mul(a[i], b[i]);
  ntt.inverse(a.data());
  EXPECT_EQ(a, product);
}

INSTANTIATE_TEST_SUITE_P(Bits, CkksNtt, testing::Values(14, 20, 31, 45, 60), testing::PrintToStringParamName());

TEST(CkksNtt, ReturnsFromTheLargestRing) {
  const uint64_t q = find_primes(16, 60, 1, {})[0];
  const Ntt ntt(16, q, min_root(16, q));
  std::mt19937_64 random(5);
  std::vector<uint64_t> a(size_t{1} << 16);
  for (uint64_t& word : a)
    word = random() % q;
  std::vector<uint64_t> b = a;
  ntt.forward(b.data());
  EXPECT_NE(a, b);
  ntt.inverse(b.data());
  EXPECT_EQ(a, b);
}

TEST(CkksBaseConversion, IsOffBySmallMultiplesOfTheBase) {
  const std::vector<uint64_t> moduli = find_primes(4, 20, 5, {});
  std::vector<Ntt> primes;
  for (const uint64_t q : moduli)
    primes.emplace_back(4, q, min_root(4, q));
  const BaseConversion conversion(primes, 1, 3);
  const uint64_t base = moduli[1] * moduli[2] * moduli[3];
  std::mt19937_64 random(6);
  for (int i = 0; i < 1000; ++i) {
    const uint64_t x = i == 0 ? 0 : i == 1 ? base - 1 : random() % base;
    std::vector<uint64_t> scaled(3 * 16), out(16);
    for (size_t k = 0; k < 3; ++k) {
      std::vector<uint64_t> values(16, x % moduli[k + 1]);
      primes[k + 1].forward(values.data());
      conversion.scaled_coefficients(k, values.data(), &scaled[k * 16]);
    }
    for (const size_t to : {0, 4}) {
      conversion.convert(scaled.data(), 16, to, out.data());
      ASSERT_EQ(out, std::vector<uint64_t>(16, out[0]));
      bool found = false;
      for (uint64_t multiple = 0; multiple < 3; ++multiple)
        found = found || out[0] == (x + multiple * base) % moduli[to];
      ASSERT_TRUE(found) << x;
    }
  }
}

TEST(CkksBaseConversion, SumsTheMostAndLargestPrimes) {
  std::vector<uint64_t> moduli;
  for (uint64_t q = (uint64_t{1} << 61) - 31; moduli.size() <= kMaxConverted; q -= 32)
    if (is_prime(q)) moduli.push_back(q);
  std::vector<Ntt> primes;
  for (const uint64_t q : moduli)
    primes.emplace_back(4, q, min_root(4, q));
  const BaseConversion conversion(primes, 0, kMaxConverted);
  const Modulus m(moduli.back());
  std::vector<uint64_t> scaled, out(16);
  uint64_t expected = 0;
  for (size_t i = 0; i < kMaxConverted; ++i) {
    scaled.insert(scaled.end(), 16, moduli[i] - 1);
    uint64_t hat = m.reduce(moduli[i] - 1);
    for (size_t j = 0; j < kMaxConverted; ++j)
      if (j != i) hat = m.mul(hat, m.reduce(moduli[j]));
    expected = m.add(expected, hat);
  }
  conversion.convert(scaled.data(), 16, kMaxConverted, out.data());
  EXPECT_EQ(out, std::vector<uint64_t>(16, expected));
}

}  // namespace
}  // namespace polykem::ckks
