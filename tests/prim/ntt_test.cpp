// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "noise_avx512.hpp"
#include "prim/ntt/ntt_lanes.hpp"
#include "schemes/mlkem/ref/pack.hpp"
#include "support/isa.hpp"

namespace polykem {
namespace {

using ntt::kN;
using ntt::kQ;
using test::AlignedBuffer;
using test::Noise;

/// Returns the coefficients of polynomial `kind`: zeros, a single one, all q - 1, 0 and q - 1 in turn, otherwise
/// random.
uint16_t coefficient(size_t kind, size_t i, Noise& noise) {
  if (kind == 0) return 0;
  if (kind == 1) return i == 255;
  if (kind == 2) return kQ - 1;
  if (kind == 3) return i % 2 == 0 ? 0 : kQ - 1;
  return static_cast<uint16_t>(noise.next() % kQ);
}

uint32_t canonical(uint16_t word) {
  return static_cast<uint32_t>((static_cast<int16_t>(word) + 16 * static_cast<int>(kQ)) % static_cast<int>(kQ));
}

class NttLanesTest : public test::IsaTest {
 protected:
#ifdef __aarch64__
  const NttFunctions& lanes() const {
    return kNttNeon;
  }
#else
  const NttFunctions& lanes() const {
    return kNttAvx2;
  }
#endif

  /// Interleaved polynomials of all kinds, and the same one after the other.
  void fill(uint16_t* polys, std::vector<uint16_t>& rows, Noise& noise) const {
    rows.resize(lanes().lanes * kN);
    for (size_t l = 0; l < lanes().lanes; ++l) {
      for (size_t i = 0; i < kN; ++i)
        rows[l * kN + i] = polys[i * lanes().lanes + l] = coefficient(l, i, noise);
    }
  }
};

TEST_P(NttLanesTest, ForwardAgreesWithReference) {
  AlignedBuffer<uint16_t> polys(kN * lanes().lanes);
  std::vector<uint16_t> rows;
  Noise noise(1);
  fill(polys.data(), rows, noise);
  lanes().forward(polys.data());
  for (size_t l = 0; l < lanes().lanes; ++l) {
    ntt::forward(&rows[l * kN]);
    for (size_t i = 0; i < kN; ++i) {
      const uint16_t word = polys[i * lanes().lanes + l];
      ASSERT_LT(std::abs(static_cast<int16_t>(word)), ntt::kTransformBound);
      ASSERT_EQ(canonical(word), rows[l * kN + i]) << l << " " << i;
    }
  }
}

TEST_P(NttLanesTest, InverseAgreesWithReference) {
  AlignedBuffer<uint16_t> polys(kN * lanes().lanes);
  std::vector<uint16_t> rows;
  Noise noise(2);
  fill(polys.data(), rows, noise);
  for (size_t l = 0; l < lanes().lanes; ++l) {
    for (size_t i = 0; i < kN && l % 4 > 0; ++i) {  // the ends of the range, with one sign and with both
      const int limit = ntt::kProductBound - 1;
      const uint16_t word = static_cast<uint16_t>(l % 4 == 1 || (l % 4 == 3 && noise.next() % 2) ? limit : -limit);
      polys[i * lanes().lanes + l] = word;
      rows[l * kN + i] = static_cast<uint16_t>(canonical(word));
    }
  }
  lanes().inverse(polys.data());
  for (size_t l = 0; l < lanes().lanes; ++l) {
    ntt::inverse(&rows[l * kN]);
    for (size_t i = 0; i < kN; ++i)
      ASSERT_EQ(canonical(polys[i * lanes().lanes + l]), rows[l * kN + i] * 65536u % kQ) << l << " " << i;
  }
}

/// Returns where coefficient i of item l is in paired polynomials.
size_t paired(size_t i, size_t l, const NttFunctions& lanes) {
  const size_t width = lanes.lanes;
  if (!lanes.pairs_interleaved) return i * width + l;
  return (i / 2 * 2 + l % 8 / 4) * width + l / 8 * 8 + l % 4 * 2 + i % 2;
}

TEST_P(NttLanesTest, ProductsAgreeWithReferenceAtTheEndsOfTheRanges) {
  const size_t width = lanes().lanes, words = kN * width;
  for (size_t terms : {2, 3, 4}) {
    const size_t rows = terms + 1;
    AlignedBuffer<uint16_t> a(rows * terms * words), shared(rows * terms * kN), y(terms * words), c(rows * words);
    Noise noise(terms);
    for (size_t i = 0; i < rows * terms * words; ++i)
      a[i] = i % 5 == 0 ? 4095 : static_cast<uint16_t>(noise.next() & 0xfff);
    for (size_t i = 0; i < terms * words; ++i) {
      const int limit = ntt::kTransformBound - 1;
      const int value = i % 3 == 0 ? limit : i % 3 == 1 ? -limit : static_cast<int>(noise.next() % (2 * limit)) - limit;
      y[i] = static_cast<uint16_t>(value);
    }
    for (size_t i = 0; i < rows * terms * kN; ++i)
      shared[i] = static_cast<uint16_t>(noise.next() & 0xfff);
    for (const bool is_shared : {false, true}) {
      if (is_shared) {
        lanes().multiply_shared(c.data(), shared.data(), y.data(), rows, terms);
      } else {
        lanes().multiply(c.data(), a.data(), y.data(), rows, terms);
      }
      for (size_t l = 0; l < width; ++l) {
        for (size_t row = 0; row < rows; ++row) {
          std::vector<uint16_t> x(terms * kN), z(terms * kN), expected(kN);
          for (size_t i = 0; i < terms * kN; ++i) {
            x[i] = is_shared ? shared[row * terms * kN + i] : a[paired(row * terms * kN + i, l, lanes())];
            z[i] = static_cast<uint16_t>(canonical(y[i * width + l]));
          }
          ntt::multiply(expected.data(), x.data(), z.data(), terms);
          for (size_t i = 0; i < kN; ++i) {
            const uint16_t word = c[(row * kN + i) * width + l];
            ASSERT_LT(std::abs(static_cast<int16_t>(word)), ntt::kProductBound);
            ASSERT_EQ(canonical(word) * 65536u % kQ, expected[i]) << terms << " " << l << " " << row << " " << i;
          }
        }
      }
    }
  }
}

TEST_P(NttLanesTest, SumsBecomeCanonical) {
  const size_t width = lanes().lanes;
  AlignedBuffer<uint16_t> c(kN * width), e(kN * width), before(kN * width);
  Noise noise(5);
  for (size_t i = 0; i < kN * width; ++i) {
    c[i] = static_cast<uint16_t>(static_cast<int>(noise.next() % (2 * kQ - 1)) - static_cast<int>(kQ - 1));
    const int limit = ntt::kTransformBound - 1;
    e[i] = static_cast<uint16_t>(i % 3 == 0 ? limit : i % 3 == 1 ? -limit : static_cast<int>(noise.next() % kQ));
    before[i] = c[i];
  }
  lanes().add_product(c.data(), e.data());
  for (size_t i = 0; i < kN * width; ++i)
    ASSERT_EQ(c[i], (canonical(before[i]) * 65536u + canonical(e[i])) % kQ);
  std::memcpy(c.data(), before.data(), kN * width * sizeof(uint16_t));
  lanes().add(c.data(), e.data());
  for (size_t i = 0; i < kN * width; ++i)
    ASSERT_EQ(c[i], (canonical(before[i]) + canonical(e[i])) % kQ);
  for (size_t start = 0; start < 1u << 16; start += kN * width) {
    for (size_t i = 0; i < kN * width; ++i)
      c[i] = static_cast<uint16_t>(start + i);
    lanes().canonical(c.data());
    for (size_t i = 0; i < kN * width; ++i)
      ASSERT_EQ(c[i], canonical(static_cast<uint16_t>(start + i)));
  }
}

template <unsigned kBits>
void check_compression(const NttFunctions& lanes) {
  const size_t words = kN * lanes.lanes;
  AlignedBuffer<uint16_t> polys(words);
  constexpr uint32_t kEnd = ntt::kCompressBound;
  for (uint32_t start = 0; start < kEnd; start += static_cast<uint32_t>(words)) {
    const auto input = [&](size_t i) { return std::min<uint32_t>(start + static_cast<uint32_t>(i), kEnd - 1); };
    for (size_t i = 0; i < words; ++i)
      polys[i] = static_cast<uint16_t>(input(i));
    lanes.compress(polys.data(), kBits);
    for (size_t i = 0; i < words; ++i) {
      const uint32_t x = input(i) % kQ, rounded = ((x << kBits) * 2 + kQ) / (2 * kQ) % (1u << kBits);
      ASSERT_EQ(polys[i], rounded) << kBits << " " << input(i);
      ASSERT_EQ(mlkem::ref::compress<kBits>(x), rounded) << kBits << " " << x;
    }
  }
  for (size_t i = 0; i < words; ++i)
    polys[i] = static_cast<uint16_t>(i % (1u << kBits));
  lanes.decompress(polys.data(), kBits);
  for (uint32_t i = 0; i < words; ++i) {
    const uint32_t y = i % (1u << kBits), rounded = (2 * y * kQ + (1u << kBits)) >> (kBits + 1);
    ASSERT_EQ(polys[i], rounded) << kBits << " " << y;
    ASSERT_EQ(mlkem::ref::decompress<kBits>(y), rounded) << kBits << " " << y;
  }
}

TEST_P(NttLanesTest, CompressionIsExactOnEveryInput) {
  check_compression<1>(lanes());
  check_compression<4>(lanes());
  check_compression<5>(lanes());
  check_compression<10>(lanes());
  check_compression<11>(lanes());
}

/// Computes Algorithm 7 on the bytes, until there are 256 coefficients.
std::vector<uint16_t> accepted(const std::vector<uint8_t>& in, size_t bytes) {
  std::vector<uint16_t> out;
  for (size_t i = 0; i < bytes && out.size() < kN; i += 3) {
    const uint32_t low = in[i] | (in[i + 1] & 0xfu) << 8, high = in[i + 1] >> 4 | uint32_t{in[i + 2]} << 4;
    if (low < kQ) out.push_back(static_cast<uint16_t>(low));
    if (high < kQ) out.push_back(static_cast<uint16_t>(high));
  }
  out.resize(std::min(out.size(), kN));
  return out;
}

TEST_P(NttLanesTest, AcceptanceAgreesWithReference) {
  for (size_t round = 0; round < 200; ++round) {
    Noise noise(round);
    const size_t bytes = 24 * (round % 22);
    std::vector<uint8_t> in = noise.bytes(bytes + 64);
    if (round == 21) std::fill(in.begin(), in.end(), 0xff);  // all rejected
    if (round == 43) std::fill(in.begin(), in.end(), 0);     // all accepted
    if (round % 22 == 20) {                                  // q - 1 and q in turn
      for (size_t i = 0; i + 3 <= bytes; i += 3) {
        in[i] = 0x00;
        in[i + 1] = 0x1d;
        in[i + 2] = 0xd0;
      }
    }
    const auto expected = accepted(in, bytes);
    for (const size_t first : {bytes, bytes / 48 * 24}) {  // at once, and in two parts
      std::vector<uint16_t> out(kN + 32);
      size_t filled = lanes().accept(out.data(), 0, in.data(), first);
      filled = lanes().accept(out.data(), filled, in.data() + first, bytes - first);
      ASSERT_EQ(std::min(filled, kN), expected.size()) << round;
      ASSERT_TRUE(std::equal(expected.begin(), expected.end(), out.begin())) << round;
    }
  }
}

class NttSingleTest : public test::IsaTest {};

TEST_P(NttSingleTest, AgreesWithReference) {
  const SingleNttFunctions& one = POLYKEM_TABLE(kSingleNtt);
  Noise noise(3);
  for (size_t kind = 0; kind < 40; ++kind) {
    AlignedBuffer<uint16_t> a(kN), b(4 * kN), x(4 * kN), c(kN);
    uint16_t expected[kN];
    for (size_t i = 0; i < kN; ++i)
      a[i] = expected[i] = coefficient(kind, i, noise);
    one.forward(a.data());
    ntt::forward(expected);
    ASSERT_EQ(std::memcmp(a.data(), expected, sizeof expected), 0) << kind;
    one.inverse(a.data());
    ntt::inverse(expected);
    ASSERT_EQ(std::memcmp(a.data(), expected, sizeof expected), 0) << kind;
    for (size_t i = 0; i < 4 * kN; ++i) {
      x[i] = kind == 2 ? 4095 : static_cast<uint16_t>(noise.next() & 0xfff);
      b[i] = coefficient(kind, i % kN, noise);
    }
    for (size_t terms = 1; terms <= 4; ++terms) {
      one.multiply(c.data(), x.data(), b.data(), terms);
      ntt::multiply(expected, x.data(), b.data(), terms);
      ASSERT_EQ(std::memcmp(c.data(), expected, sizeof expected), 0) << kind << " " << terms;
    }
  }
}

#ifndef __aarch64__

/// Coefficient i of the noise that 64 eta bytes give, in [0, q). [FIPS203, Alg 8]
uint16_t noise_coefficient(const uint8_t* row, unsigned eta, size_t i) {
  const auto bit = [&](size_t at) { return row[at / 8] >> at % 8 & 1; };
  int sum = kQ;
  for (size_t j = 0; j < eta; ++j)
    sum += bit(2 * eta * i + j) - bit(2 * eta * i + eta + j);
  return static_cast<uint16_t>(sum % kQ);
}

class NttGroupTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!test::cpu_has(test::Isa::kAvx512)) GTEST_SKIP() << "this CPU has no AVX-512";
  }
};

/// Rows of all zeros and ones and of all smallest and greatest coefficients, then random ones; odd and even counts.
TEST_F(NttGroupTest, NoiseIsSampledAndTransformedAsByReference) {
  constexpr size_t kMax = 7, kStride = 200;
  Noise noise(4);
  for (const unsigned eta : {2u, 3u}) {
    for (size_t kind = 0; kind < 40; ++kind) {
      std::vector<uint8_t> rows(kMax * kStride);
      const uint8_t repeated[][3] = {{0, 0, 0},          {255, 255, 255},    {0x33, 0x33, 0x33},
                                     {0xcc, 0xcc, 0xcc}, {0xc7, 0x71, 0x1c}, {0x38, 0x8e, 0xe3}};
      for (size_t i = 0; i < rows.size(); ++i)
        rows[i] = kind < 6 ? repeated[kind][i % kStride % 3] : static_cast<uint8_t>(noise.next());
      for (size_t count = 1; count <= kMax; ++count) {
        AlignedBuffer<uint16_t> got(kMax * kN);
        const uint32_t scale = count % 2 == 1 ? 1 : test::kInverseR;
        test::forward_noise_avx512(eta, scale, got.data(), rows.data(), kStride, count);
        for (size_t p = 0; p < count; ++p) {
          uint16_t expected[kN];
          for (size_t i = 0; i < kN; ++i)
            expected[i] = noise_coefficient(&rows[p * kStride], eta, i);
          ntt::forward(expected);
          for (uint16_t& x : expected)
            x = static_cast<uint16_t>(x * scale % kQ);
          ASSERT_EQ(std::memcmp(&got[p * kN], expected, sizeof expected), 0) << eta << " " << kind << " " << count;
        }
      }
    }
  }
}

TEST_F(NttGroupTest, SeveralPolynomialsAreTransformedAsByReference) {
  constexpr size_t kMax = 7;
  Noise noise(5);
  for (size_t count = 1; count <= kMax; ++count) {
    AlignedBuffer<uint16_t> got(kMax * kN);
    std::vector<uint16_t> expected(kMax * kN);
    for (size_t i = 0; i < count * kN; ++i)
      got[i] = expected[i] = coefficient(i / kN, i % kN, noise);
    test::forward_polys_avx512(got.data(), count);
    for (size_t p = 0; p < count; ++p)
      ntt::forward(&expected[p * kN]);
    ASSERT_EQ(std::memcmp(got.data(), expected.data(), count * kN * 2), 0) << count;
    test::inverse_polys_avx512(got.data(), count);
    for (size_t p = 0; p < count; ++p)
      ntt::inverse(&expected[p * kN]);
    ASSERT_EQ(std::memcmp(got.data(), expected.data(), count * kN * 2), 0) << count;
  }
}

#endif

#ifdef __aarch64__
POLYKEM_EVERY_ISA(NttLanesTest);
#else
POLYKEM_INSTANTIATE(NttLanesTest, ::testing::Values(test::Isa::kAvx2));
#endif
POLYKEM_EVERY_ISA(NttSingleTest);

}  // namespace
}  // namespace polykem
