// SPDX-License-Identifier: Apache-2.0
// Tests the parts of LAC's portable code. tests/capi and tests/kat compare its backends.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "schemes/lac/coding.hpp"
#include "schemes/lac/fixed_weight.hpp"
#include "schemes/lac/prg.hpp"
#include "schemes/lac/ref/product.hpp"
#include "support/isa.hpp"

namespace polykem::lac {
namespace {

using test::Bytes;

/// The specification's loop: the next word of the chain replaces an occupied place. Returns the number of hashes.
size_t sample_by_retries(std::vector<int8_t>& out, const Bytes& words, Bytes hash, size_t weight) {
  const size_t n = out.size();
  size_t used = kSha256Bytes, hashes = 0;
  for (size_t e = 0; e < 2 * weight; ++e) {
    size_t place = (words[2 * e] | words[2 * e + 1] << 8) % n;
    while (out[place] != 0) {
      if (used == kSha256Bytes) {
        sha256_portable({hash.data(), 0}, {hash.data(), 0}, kSha256Bytes, 1);
        used = 0;
        ++hashes;
      }
      place = (hash[used] | hash[used + 1] << 8) % n;
      used += 2;
    }
    out[place] = e < weight ? 1 : -1;
  }
  return hashes;
}

/// Returns the number of hashes that were needed.
template <size_t kVectors>
void expect_equal_samples(const Bytes& words, const Bytes& seed, size_t weight) {
  std::vector<int8_t> want(512 * kVectors), got(512 * kVectors);
  const size_t hashes = sample_by_retries(want, words, seed, weight);
  FixedWeight<kVectors> sampled;
  sampled.start(words.data(), weight);
  Bytes hash = seed;
  for (size_t i = 0; i < hashes + 3; ++i) {  // more hashes change nothing
    sha256_portable({hash.data(), 0}, {hash.data(), 0}, kSha256Bytes, 1);
    sampled.take_next_hash(hash.data());
  }
  ASSERT_EQ(sampled.complete(), 1u);
  sampled.store(got.data());
  ASSERT_TRUE(got == want);
}

TEST(LacFixedWeight, IsThatOfTheChainsWithoutTheirOrder) {
  test::Noise noise(1);
  for (const Set& set : {kLac128, kLac192, kLac256}) {
    for (int i = 0; i < 300; ++i) {
      Bytes words = noise.bytes(set.word_bytes());
      const Bytes seed = noise.bytes(kSeedBytes);
      if (i % 10 == 1) std::fill(words.begin(), words.end(), uint8_t{0});  // all collide
      if (i % 10 == 2) std::fill(words.begin(), words.begin() + static_cast<long>(words.size() / 2), uint8_t{7});
      if (set.n == 512) {
        expect_equal_samples<1>(words, seed, set.weight);
      } else {
        expect_equal_samples<2>(words, seed, set.weight);
      }
    }
  }
}

TEST(LacFixedWeight, TooFewHashesAreNoticed) {
  const Bytes zeros(kLac128.word_bytes()), seed(kSeedBytes, 3);
  FixedWeight<1> sampled;
  sampled.start(zeros.data(), kLac128.weight);
  Bytes hash = seed;
  for (size_t i = 0; i < 5; ++i) {
    sampled.take_next_hash(hash.data());
    EXPECT_EQ(sampled.complete(), 0u);
    sha256_portable({hash.data(), 0}, {hash.data(), 0}, kSha256Bytes, 1);
  }
}

TEST(LacProduct, IsThatOfTheDefinition) {
  test::Noise noise(2);
  for (const size_t n : {512, 1024}) {
    for (int kind = 0; kind < 8; ++kind) {
      Bytes a = noise.bytes(n), out(n);
      std::vector<int8_t> s(n), added(n);
      for (size_t i = 0; i < n; ++i) {
        if (kind == 1) a[i] = 255;
        if (kind == 2) a[i] = i == 5 ? 250 : 0;
        const int random = static_cast<int>(noise.next() % 3) - 1;
        s[i] = static_cast<int8_t>(kind == 3 ? 1 : kind == 4 ? -1 : kind == 5 ? i == n - 1 : kind == 1 ? 1 : random);
        added[i] = static_cast<int8_t>(kind == 6 ? -128 : kind == 7 ? 127 : random);
      }
      std::vector<long> sum(added.begin(), added.end());
      for (size_t i = 0; i < n; ++i) {
        for (size_t j = 0; j < n; ++j)
          sum[(i + j) % n] += (i + j < n ? 1 : -1) * a[i] * s[j];
      }
      ref::Scratch scratch;
      ref::multiply(out.data(), a.data(), s.data(), added.data(), n, n, scratch);
      for (size_t i = 0; i < n; ++i)
        ASSERT_EQ(out[i], ((sum[i] % 251) + 251) % 251) << n << " " << kind << " " << i;
    }
  }
}

TEST(LacCoding, CompressionRoundsAndItsLargestValuesActOnTheNeighbour) {
  for (unsigned low = 0; low < 251; ++low) {
    for (unsigned high = 0; high < 251; ++high) {
      const uint8_t x[2] = {static_cast<uint8_t>(low), static_cast<uint8_t>(high)};
      uint8_t packed, back[2];
      compress(&packed, x, 2);
      const unsigned rounded = (high + 8) / 16 % 16, carry = (low + 8) / 16 / 16;
      ASSERT_EQ(packed, ((rounded ^ carry) << 4) | ((low + 8) / 16 % 16));
      decompress(back, &packed, 2);
      ASSERT_EQ(back[0], packed % 16 * 16);
      ASSERT_EQ(back[1], packed / 16 * 16);
    }
  }
}

TEST(LacCoding, EveryDifferenceIsDemodulatedAsItsDistanceSays) {
  for (int v = 0; v < 251; ++v) {
    Bytes c2(800), product(800), code(50);
    for (size_t i = 0; i < 400; ++i) {
      c2[i] = static_cast<uint8_t>((v + static_cast<int>(i)) % 251);
      product[i] = static_cast<uint8_t>(i % 251);
      c2[i + 400] = static_cast<uint8_t>(i % 251);
    }
    received_word(code.data(), c2.data(), product.data(), kLac128);
    EXPECT_EQ(code[0], v >= 62 && v < 188 ? 255 : 0) << v;
    received_word(code.data(), c2.data(), product.data(), kLac256);  // bit i: v and i mod 251
    for (int i = 0; i < 400; ++i) {
      const int other = i % 251, a = v >= 125 ? v : 250 - v, b = other >= 125 ? other : 250 - other;
      EXPECT_EQ(code[static_cast<size_t>(i / 8)] >> (i % 8) & 1, a + b - 251 < 125 ? 1 : 0) << v << " " << i;
    }
  }
}

TEST(LacCoding, AnyBytesAreASecretPolynomial) {
  for (int byte = 0; byte < 256; ++byte) {
    const auto in = static_cast<uint8_t>(byte);
    int8_t out;
    load_secret(&out, &in, 1);
    EXPECT_EQ(out, byte % 4 == 1 ? 1 : byte % 4 == 3 ? -1 : 0);
  }
}

TEST(LacPrg, TheQuirkMovesTheLastBlock) {
  const Bytes seed(kSeedBytes, 9);
  Bytes plain(112), misplaced(100), whole(96);
  prg(plain.data(), plain.size(), seed.data(), false, aes256_ctr_portable);
  prg(misplaced.data(), misplaced.size(), seed.data(), true, aes256_ctr_portable);
  prg(whole.data(), whole.size(), seed.data(), true, aes256_ctr_portable);
  EXPECT_TRUE(std::equal(whole.begin(), whole.end(), plain.begin()));
  Bytes want(plain.begin(), plain.begin() + 96);
  std::copy_n(plain.begin() + 96, 4, want.begin() + 5);
  want.resize(100);
  EXPECT_EQ(misplaced, want);
}

}  // namespace
}  // namespace polykem::lac
