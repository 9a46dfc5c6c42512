// SPDX-License-Identifier: Apache-2.0
// Compares rows on each instruction set of this CPU with those of the portable reference, word by word.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cfenv>
#include <random>

#include "ckks/src/ntt.hpp"
#include "ckks/src/primes.hpp"
#include "core/cpu_features.hpp"

namespace polykem::ckks {
namespace {

using Row = std::vector<uint64_t>;

/// Returns the largest prime below `bound` that is 1 mod 2N.
uint64_t prime_below(unsigned log_n, uint64_t bound) {
  const uint64_t step = uint64_t{2} << log_n;
  uint64_t q = (bound - 2) / step * step + 1;
  while (!is_prime(q))
    q -= step;
  return q;
}

/// Returns primes for a ring on either side of where kernels choose another arithmetic, and the smallest and largest.
std::vector<uint64_t> some_primes(unsigned log_n) {
  std::vector<uint64_t> out;
  for (const unsigned bits : {log_n + 4, 30U, 31U, 32U, 44U, 48U, 49U, 50U, 51U, 52U, 53U, 59U, 60U})
    for (const uint64_t q : find_primes(log_n, bits, 2, out))
      out.push_back(q);
  for (const unsigned bits : {48U, 49U, 50U, 51U, 52U, 61U})
    out.push_back(prime_below(log_n, uint64_t{1} << bits));
  return out;
}

std::vector<const RowFunctions*> tables() {
  std::vector<const RowFunctions*> out;
#ifdef POLYKEM_HAVE_X86
  if (cpu_features().avx2() && cpu_features().has(CpuFeatures::kFma)) out.push_back(&rows_avx2());
#endif
#ifdef POLYKEM_HAVE_AVX512
  if (cpu_features().avx512()) out.push_back(&rows_avx512());
#endif
  return out;
}

/// Rows of extremes and of random words modulo q.
std::vector<Row> some_rows(size_t n, uint64_t q, std::mt19937_64& random) {
  std::vector<Row> out{Row(n, 0), Row(n, q - 1), Row(n), Row(n), Row(n)};
  out[2][random() % n] = q - 1;
  for (size_t k = 0; k < n; ++k) {
    out[3][k] = random() % q;
    const uint64_t edges[] = {0, 1, q / 2, q / 2 + 1, q - 1};
    out[4][k] = edges[random() % 5];
  }
  return out;
}

class CkksRows : public testing::TestWithParam<unsigned> {};

TEST_P(CkksRows, TransformAsTheReference) {
  const unsigned log_n = GetParam();
  const size_t n = size_t{1} << log_n;
  std::mt19937_64 random(log_n);
  for (const uint64_t q : some_primes(log_n)) {
    const Ntt ntt(log_n, q, min_root(log_n, q));
    const Modulus& m = ntt.modulus();
    const LastLayer last = ntt.last_layer(random() % q);
    for (const Row& a : some_rows(n, q, random)) {
      Row forward = a, inverse(n);
      rows_ref().forward(m, ntt.tables(), forward.data());
      rows_ref().inverse(m, ntt.tables(), last, a.data(), inverse.data());
      for (const RowFunctions* const rows : tables()) {
        for (const int rounding : {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO}) {
          Row out = a, in_place = a, elsewhere(n);
          std::fesetround(rounding);
          rows->forward(m, ntt.tables(), out.data());
          rows->inverse(m, ntt.tables(), last, in_place.data(), in_place.data());
          rows->inverse(m, ntt.tables(), last, a.data(), elsewhere.data());
          std::fesetround(FE_TONEAREST);
          ASSERT_EQ(out, forward) << q << " on " << rows->name << ", rounding mode " << rounding;
          ASSERT_EQ(in_place, inverse) << q << " on " << rows->name << ", rounding mode " << rounding;
          ASSERT_EQ(elsewhere, inverse) << q << " on " << rows->name << ", rounding mode " << rounding;
        }
      }
    }
  }
}

TEST_P(CkksRows, PermuteAsTheReference) {
  const unsigned log_n = GetParam();
  const size_t n = size_t{1} << log_n;
  std::mt19937_64 random(log_n);
  Row a(n), want(n), out(n);
  std::generate(a.begin(), a.end(), random);
  for (size_t i = 0; i < std::min(n, size_t{64}); ++i) {
    const uint64_t g = i == 0 ? 2 * n - 1 : n <= 64 ? 2 * i + 1 : (2 * random() + 1) % (2 * n);
    rows_ref().permute(log_n, g, a.data(), want.data());
    for (const RowFunctions* const rows : tables()) {
      rows->permute(log_n, g, a.data(), out.data());
      ASSERT_EQ(out, want) << g;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(LogN, CkksRows, testing::Values(4, 5, 6, 7, 8, 11, 12, 13, 14, 16),
                         testing::PrintToStringParamName());

std::vector<uint64_t> some_moduli() {
  std::vector<uint64_t> out = some_primes(4);
  out.insert(out.end(), {3, (uint64_t{1} << 61) - 1, (uint64_t{1} << 61) - 31});
  return out;
}

TEST(CkksRows, AddAndSubtractAsTheReference) {
  std::mt19937_64 random(1);
  for (const uint64_t q : some_moduli()) {
    const Modulus m(q);
    const Factor factor = m.factor(random() % q);
    for (const Row& a : some_rows(32, q, random)) {
      for (const Row& b : some_rows(32, q, random)) {
        for (const RowFunctions* const rows : tables()) {
          Row want(32), out(32);
          rows_ref().add(m, 32, a.data(), b.data(), want.data());
          rows->add(m, 32, a.data(), b.data(), out.data());
          ASSERT_EQ(out, want) << q;
          rows_ref().sub(m, 32, a.data(), b.data(), want.data());
          rows->sub(m, 32, a.data(), b.data(), out.data());
          ASSERT_EQ(out, want) << q;
          rows_ref().sub_scale(m, 32, a.data(), b.data(), factor, want.data());
          rows->sub_scale(m, 32, a.data(), b.data(), factor, out.data());
          ASSERT_EQ(out, want) << q;
        }
      }
    }
  }
}

TEST(CkksRows, SumProductsAsTheReference) {
  std::mt19937_64 random(2);
  for (const uint64_t q : some_moduli()) {
    const Modulus m(q);
    for (const size_t count : {1U, 2U, 3U, 4U, 5U, 63U, 64U, 65U, 128U}) {
      for (const bool largest : {true, false}) {
        std::vector<Row> a, b;
        std::vector<const uint64_t*> of_a, of_b;
        for (size_t i = 0; i < count; ++i) {
          a.push_back(some_rows(32, q, random)[largest ? 1 : 3]);
          b.push_back(some_rows(32, q, random)[largest ? 1 : 3]);
        }
        for (size_t i = 0; i < count; ++i) {
          of_a.push_back(a[i].data());
          of_b.push_back(b[i].data());
        }
        Row want(32), out(32);
        for (size_t k = 0; k < 32; ++k)
          for (size_t i = 0; i < count; ++i)
            want[k] = m.add(want[k], m.mul(a[i][k], b[i][k]));
        rows_ref().multiply(m, 32, of_a.data(), of_b.data(), count, out.data());
        ASSERT_EQ(out, want) << q << ", " << count;
        for (const RowFunctions* const rows : tables()) {
          rows->multiply(m, 32, of_a.data(), of_b.data(), count, out.data());
          ASSERT_EQ(out, want) << q << ", " << count;
        }
      }
    }
  }
}

TEST(CkksRows, CombineRowsOfOtherPrimesAsTheReference) {
  std::mt19937_64 random(3);
  const std::vector<uint64_t> moduli = some_moduli();
  for (const uint64_t q : moduli) {
    const Modulus m(q);
    for (const uint64_t from : moduli) {
      const auto bits = static_cast<unsigned>(std::bit_width(from));
      for (const size_t count : {1U, 2U, 3U, 5U, 64U}) {
        for (const bool largest : {true, false}) {
          Row a, b, want(32), out(32);
          for (size_t i = 0; i < count; ++i) {
            const Row row = some_rows(32, from, random)[largest ? 1 : 3];
            a.insert(a.end(), row.begin(), row.end());
            b.push_back(largest ? q - 1 : random() % q);
          }
          for (size_t k = 0; k < 32; ++k)
            for (size_t i = 0; i < count; ++i)
              want[k] = m.add(want[k], m.mul(m.reduce(a[i * 32 + k]), b[i]));
          rows_ref().combine(m, 32, a.data(), bits, b.data(), count, out.data());
          ASSERT_EQ(out, want) << q << ", " << from << ", " << count;
          for (const RowFunctions* const rows : tables()) {
            rows->combine(m, 32, a.data(), bits, b.data(), count, out.data());
            ASSERT_EQ(out, want) << q << ", " << from << ", " << count;
          }
        }
      }
    }
  }
}

TEST(CkksRows, CentreAsTheReference) {
  std::mt19937_64 random(4);
  const std::vector<uint64_t> moduli = some_moduli();
  for (const uint64_t q : moduli) {
    const Modulus m(q);
    for (const uint64_t from : moduli) {
      for (const Row& a : some_rows(32, from, random)) {
        Row want(32), out(32);
        rows_ref().centre(m, 32, a.data(), from, want.data());
        for (size_t k = 0; k < 32; ++k)
          ASSERT_EQ(want[k],
                    m.from_signed(static_cast<int64_t>(a[k]) - (a[k] > from / 2 ? static_cast<int64_t>(from) : 0)));
        for (const RowFunctions* const rows : tables()) {
          rows->centre(m, 32, a.data(), from, out.data());
          ASSERT_EQ(out, want) << q << ", " << from;
        }
      }
    }
  }
}

}  // namespace
}  // namespace polykem::ckks
