// SPDX-License-Identifier: Apache-2.0
// Compares ML-KEM's code for the Cortex-M4 with the portable code on zeros, single coefficients, extreme and random
// operands.
#include <cstring>

#include "checks.hpp"
#include "prim/ntt/cortex_m4/ntt_m4.hpp"
#include "schemes/mlkem/cortex_m4/poly_m4.hpp"
#include "schemes/mlkem/ref/pack.hpp"
#include "schemes/mlkem/ref/sample.hpp"

namespace {

using namespace polykem;
using mlkem::kN;
using mlkem::kQ;
using mlkem::Poly;
namespace m4 = mlkem::cortex_m4;
namespace ref = mlkem::ref;

constexpr int kLargestIn = 20000, kLargestTransform = 31655, kLargestProduct = 2500;

uint16_t canonical(uint16_t coefficient) {
  const int rest = static_cast<int16_t>(coefficient) % static_cast<int>(kQ);
  return static_cast<uint16_t>(rest < 0 ? rest + static_cast<int>(kQ) : rest);
}
Poly canonical(const Poly& a) {
  Poly result;
  for (size_t i = 0; i < kN; ++i)
    result.c[i] = canonical(a.c[i]);
  return result;
}
bool same(const Poly& a, const Poly& b) {
  return std::memcmp(a.c, b.c, sizeof a.c) == 0;
}
int largest(const Poly& a) {
  int result = 0;
  for (const uint16_t c : a.c) {
    const int size = static_cast<int16_t>(c) < 0 ? -static_cast<int16_t>(c) : c;
    result = size > result ? size : result;
  }
  return result;
}

/// Makes coefficients from -size to size; in some patterns all have one sign.
Poly signed_poly(unsigned pattern, int size) {
  Poly a;
  for (size_t i = 0; i < kN; ++i)
    a.c[i] = static_cast<uint16_t>(static_cast<int>(value(pattern, i, kN, static_cast<uint32_t>(2 * size))) - size);
  return a;
}
Poly unsigned_poly(unsigned pattern, uint32_t most) {
  Poly a;
  for (size_t i = 0; i < kN; ++i)
    a.c[i] = static_cast<uint16_t>(value(pattern, i, kN, most));
  return a;
}

void check_transforms(unsigned pattern) {
  for (const int size : {1, static_cast<int>(kQ), kLargestIn}) {
    Poly ours = signed_poly(pattern, size), wanted = canonical(ours);
    cortex_m4::ntt_forward(ours.c);
    ntt::forward(wanted.c);
    expect(same(canonical(ours), wanted), "ntt_forward", static_cast<size_t>(size), pattern);
    expect(largest(ours) <= size + 7 * static_cast<int>(kQ) / 2, "size after ntt_forward", static_cast<size_t>(size),
           pattern);
  }
  for (const int size : {1, kLargestProduct}) {
    Poly ours = signed_poly(pattern, size), wanted = canonical(ours);
    cortex_m4::ntt_inverse(ours.c);
    ntt::inverse(wanted.c);
    expect(same(canonical(ours), wanted), "ntt_inverse", static_cast<size_t>(size), pattern);
    expect(largest(ours) <= static_cast<int>(kQ / 2), "size after ntt_inverse", static_cast<size_t>(size), pattern);
  }
}

/// Inputs for which, once the inverse has undone the layers up to `length`, all products of one class are the largest
/// and of one sign, so that their sums grow most in the layers that follow. Each layer of the inverse doubles.
void check_growth(size_t length, size_t which, bool negative) {
  uint32_t most = negative ? kQ / 2 + 1 : kQ / 2;
  for (size_t layer = length; layer >= 2; layer /= 2)
    most = ntt::reduce(most * ((kQ + 1) / 2));
  Poly ours;
  for (size_t i = 0; i < kN; ++i)
    ours.c[i] = i % (2 * length) / 2 == which ? static_cast<uint16_t>(most) : uint16_t{0};
  for (size_t layer = length; layer >= 2; layer /= 2) {
    for (size_t i = 0; i < kN; ++i) {
      if ((i & layer) != 0) continue;
      const uint32_t zeta = ntt::kZetas[kN / (2 * layer) + i / (2 * layer)];
      const uint32_t product = ntt::reduce(zeta * ours.c[i + layer]), first = ours.c[i];
      ours.c[i] = static_cast<uint16_t>(ntt::reduce_once(first + product));
      ours.c[i + layer] = static_cast<uint16_t>(ntt::reduce_once(first + kQ - product));
    }
  }
  Poly wanted = ours;
  for (uint16_t& c : ours.c)
    c = static_cast<uint16_t>(c > kQ / 2 ? c - kQ : c);
  cortex_m4::ntt_inverse(ours.c);
  ntt::inverse(wanted.c);
  expect(same(canonical(ours), wanted), "ntt_inverse, growth", length, static_cast<unsigned>(which));
}

template <size_t kTerms>
void check_multiply(unsigned a_pattern, unsigned b_pattern) {
  static Poly a[kTerms], b[kTerms], reduced_b[kTerms];
  static uint16_t products[kTerms][kN / 2];
  Poly wanted;
  for (size_t i = 0; i < kTerms; ++i) {
    a[i] = unsigned_poly(a_pattern, 4095);
    b[i] = signed_poly(b_pattern, kLargestTransform);
    reduced_b[i] = canonical(b[i]);
    cortex_m4::gamma_products(products[i], b[i].c);
  }
  ntt::multiply(wanted.c, a->c, reduced_b->c, kTerms);
  cortex_m4::ntt_multiply<kTerms>(a->c, a->c, b->c, products[0]);
  const unsigned pattern = 100 * a_pattern + b_pattern;
  expect(same(canonical(*a), wanted), "ntt_multiply", kTerms, pattern);
  expect(largest(*a) <= kLargestProduct, "size after ntt_multiply", kTerms, pattern);
}

template <unsigned kBits>
void check_compression(unsigned pattern) {
  uint8_t ours[32 * kBits], wanted[32 * kBits];
  const Poly a = signed_poly(pattern, 32767);
  m4::poly_compress<kBits>(ours, a);
  ref::poly_compress<kBits>(wanted, canonical(a));
  expect(std::memcmp(ours, wanted, sizeof ours) == 0, "poly_compress", kBits, pattern);
  if constexpr (kBits > 1) {
    Poly back, wanted_back;
    m4::poly_decompress<kBits>(back, wanted);
    ref::poly_decompress<kBits>(wanted_back, wanted);
    expect(same(back, wanted_back), "poly_decompress", kBits, pattern);
  }
}

/// All values that a coefficient can have, 256 at a time.
template <unsigned kBits>
void check_every_coefficient() {
  uint8_t ours[32 * kBits], wanted[32 * kBits];
  bool equal = true;
  for (uint32_t first = 0; first < 0x10000; first += kN) {
    Poly a;
    for (uint32_t i = 0; i < kN; ++i)
      a.c[i] = static_cast<uint16_t>(first + i);
    m4::poly_compress<kBits>(ours, a);
    ref::poly_compress<kBits>(wanted, canonical(a));
    equal = equal && std::memcmp(ours, wanted, sizeof ours) == 0;
  }
  expect(equal, "poly_compress of every coefficient", kBits, 0);
}

void check_bytes(unsigned pattern) {
  uint8_t ours[mlkem::kPolyBytes], wanted[mlkem::kPolyBytes];
  const Poly a = signed_poly(pattern, 32767), b = unsigned_poly(pattern, 4095);
  Poly back, wanted_back;
  m4::poly_byte_encode(ours, a);
  ref::poly_byte_encode(wanted, canonical(a));
  expect(std::memcmp(ours, wanted, sizeof ours) == 0, "poly_byte_encode", kN, pattern);
  ref::poly_byte_encode(wanted, b);
  const bool below = m4::poly_byte_decode(back, wanted) == 0;
  expect(below == (ref::poly_byte_decode(wanted_back, wanted) == 0), "poly_byte_decode, validity", kN, pattern);
  expect(same(back, wanted_back), "poly_byte_decode", kN, pattern);
}

void check_too_large(size_t at) {
  Poly a = unsigned_poly(kLargest, kQ - 1);
  uint8_t bytes[mlkem::kPolyBytes];
  ref::poly_byte_encode(bytes, a);
  expect(m4::poly_byte_decode(a, bytes) == 0, "poly_byte_decode, valid", at, 0);
  a.c[at] = kQ;
  ref::poly_byte_encode(bytes, a);
  expect(m4::poly_byte_decode(a, bytes) != 0, "poly_byte_decode, too large", at, 0);
}

void check_noise(unsigned pattern) {
  uint8_t bytes[192];
  for (size_t i = 0; i < sizeof bytes; ++i)
    bytes[i] = static_cast<uint8_t>(value(pattern, i, sizeof bytes, 255));
  Poly two, three, wanted, sum = signed_poly(pattern, 2000), wanted_sum = canonical(sum);
  ref::sample_poly_cbd<2>(wanted, bytes);
  m4::sample_poly_cbd<2>(two, bytes);
  expect(same(canonical(two), wanted) && largest(two) <= 2, "sample_poly_cbd", 2, pattern);
  ref::poly_add(wanted_sum, wanted);
  m4::add_cbd2(sum, bytes);
  expect(same(canonical(sum), wanted_sum), "add_cbd2", 2, pattern);
  ref::poly_decompress<1>(wanted, bytes);
  ref::poly_add(wanted_sum, wanted);
  m4::add_message(sum, bytes);
  expect(same(canonical(sum), wanted_sum), "add_message", 1, pattern);
  ref::sample_poly_cbd<3>(wanted, bytes);
  m4::sample_poly_cbd<3>(three, bytes);
  expect(same(canonical(three), wanted) && largest(three) <= 3, "sample_poly_cbd", 3, pattern);
  Poly above[2];
  m4::sample_ntt(above[0], bytes, pattern, 7);
  ref::sample_ntt(wanted, bytes, pattern, 7);
  expect(same(above[0], wanted), "sample_ntt", kN, pattern);
}

template <unsigned... kBits>
void check_compressions() {
  (check_every_coefficient<kBits>(), ...);
  for (unsigned pattern = 0; pattern < kPatterns; ++pattern)
    (check_compression<kBits>(pattern), ...);
}

}  // namespace

int main() {
  check_compressions<1, 4, 5, 10, 11>();
  for (const size_t at : {0, 1, 2, 3, 4, 5, 6, 7, 127, 254, 255})
    check_too_large(at);
  for (size_t length = 2; length <= 64; length *= 2) {
    for (size_t which = 0; which < length; ++which) {
      check_growth(length, which, false);
      check_growth(length, which, true);
    }
  }
  for (unsigned pattern = 0; pattern < kPatterns; ++pattern) {
    check_transforms(pattern);
    check_bytes(pattern);
    check_noise(pattern);
    for (unsigned other = 0; other < kPatterns; ++other) {
      check_multiply<2>(pattern, other);
      check_multiply<3>(pattern, other);
      check_multiply<4>(pattern, other);
    }
  }
  return report("mlkem_kernels");
}
