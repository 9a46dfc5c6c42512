// SPDX-License-Identifier: Apache-2.0
#include "schemes/ntru/polyinv/polyinv.hpp"

#include <utility>

#include "core/secure.hpp"
#include "ct/ct.hpp"

namespace polykem {

namespace {

constexpr size_t kWords = kMaxInverseDegree / 64;

/// A polynomial over GF(2); coefficient i is bit i mod 64 of word i / 64.
struct Bits {
  uint64_t w[kWords] = {};

  void set(size_t i, uint64_t bit) { w[i / 64] |= (bit & 1) << (i % 64); }
  uint64_t get(size_t i) const { return (w[i / 64] >> (i % 64)) & 1; }
  uint64_t first_mask() const { return ct::barrier(0 - (w[0] & 1)); }

  void times_x(size_t words) {
    for (size_t i = words - 1; i > 0; --i)
      w[i] = (w[i] << 1) | (w[i - 1] >> 63);
    w[0] <<= 1;
  }
  void over_x(size_t words) {
    for (size_t i = 0; i + 1 < words; ++i)
      w[i] = (w[i] >> 1) | (w[i + 1] << 63);
    w[words - 1] >>= 1;
  }
};

void swap_if(Bits& a, Bits& b, uint64_t mask, size_t words) {
  for (size_t i = 0; i < words; ++i) {
    const uint64_t difference = (a.w[i] ^ b.w[i]) & mask;
    a.w[i] ^= difference;
    b.w[i] ^= difference;
  }
}

void add_if(Bits& a, const Bits& b, uint64_t mask, size_t words) {
  for (size_t i = 0; i < words; ++i)
    a.w[i] ^= b.w[i] & mask;
}

/// A polynomial over GF(3): bit i of `one` or of `two` is set where coefficient i is 1 or 2.
struct Trits {
  Bits one, two;

  void times_x(size_t words) {
    one.times_x(words);
    two.times_x(words);
  }
  void over_x(size_t words) {
    one.over_x(words);
    two.over_x(words);
  }
};

void swap_if(Trits& a, Trits& b, uint64_t mask, size_t words) {
  swap_if(a.one, b.one, mask, words);
  swap_if(a.two, b.two, mask, words);
}

/// Computes a += factor * b. The factor is 1 where `plus` is all ones, 2 where `minus` is, else 0.
void add_scaled(Trits& a, const Trits& b, uint64_t plus, uint64_t minus, size_t words) {
  for (size_t i = 0; i < words; ++i) {
    const uint64_t b1 = (b.one.w[i] & plus) | (b.two.w[i] & minus);
    const uint64_t b2 = (b.two.w[i] & plus) | (b.one.w[i] & minus);
    const uint64_t a1 = a.one.w[i], a2 = a.two.w[i];
    const uint64_t a0 = ~(a1 | a2), b0 = ~(b1 | b2);
    a.one.w[i] = (a1 & b0) | (a0 & b1) | (a2 & b2);
    a.two.w[i] = (a2 & b0) | (a0 & b2) | (a1 & b1);
  }
}

/// Advances the division step's counter. Returns all ones if the step swaps, that is, if delta > 0 and g(0) != 0.
/// [BY19, 3]
uint64_t step_delta(int64_t& delta, uint64_t g_nonzero) {
  const uint64_t swap = ct::barrier(static_cast<uint64_t>(-delta >> 63)) & g_nonzero;
  delta ^= static_cast<int64_t>(swap) & (delta ^ -delta);
  delta += 1;
  return swap;
}

}  // namespace

void poly_inverse_mod2(uint16_t* inverse, const uint16_t* a, size_t n) {
  const size_t words = (n + 63) / 64;
  Bits f, g, v, w;
  for (size_t i = 0; i < n; ++i)
    f.set(i, 1);
  for (size_t i = 0; i + 1 < n; ++i)
    g.set(n - 2 - i, a[i]);
  w.set(0, 1);
  int64_t delta = 1;
  for (size_t step = 0; step < 2 * (n - 1) - 1; ++step) {
    v.times_x(words);
    const uint64_t g_nonzero = g.first_mask();
    const uint64_t swap = step_delta(delta, g_nonzero);
    swap_if(f, g, swap, words);
    swap_if(v, w, swap, words);
    add_if(g, f, g_nonzero, words);
    add_if(w, v, g_nonzero, words);
    g.over_x(words);
  }
  for (size_t i = 0; i + 1 < n; ++i)
    inverse[i] = static_cast<uint16_t>(v.get(n - 2 - i));
  inverse[n - 1] = 0;
  for (Bits* secret : {&f, &g, &v, &w})
    zeroize(secret, sizeof *secret);
}

void poly_inverse_mod3(uint16_t* inverse, const uint16_t* a, size_t n) {
  const size_t words = (n + 63) / 64;
  Trits f, g, v, w;
  for (size_t i = 0; i < n; ++i)
    f.one.set(i, 1);
  for (size_t i = 0; i + 1 < n; ++i) {
    g.one.set(n - 2 - i, a[i]);
    g.two.set(n - 2 - i, a[i] >> 1);
  }
  w.one.set(0, 1);
  int64_t delta = 1;
  for (size_t step = 0; step < 2 * (n - 1) - 1; ++step) {
    v.times_x(words);
    const uint64_t f1 = f.one.first_mask(), f2 = f.two.first_mask();
    const uint64_t g1 = g.one.first_mask(), g2 = g.two.first_mask();
    const uint64_t minus = (f1 & g1) | (f2 & g2);  // f(0) g(0) = 1: subtract
    const uint64_t plus = (f1 & g2) | (f2 & g1);
    const uint64_t swap = step_delta(delta, g1 | g2);
    swap_if(f, g, swap, words);
    swap_if(v, w, swap, words);
    add_scaled(g, f, plus, minus, words);
    add_scaled(w, v, plus, minus, words);
    g.over_x(words);
  }
  const uint64_t negate = f.two.first_mask();  // the last f is constant, 1 or 2: divide by it
  for (size_t i = 0; i + 1 < n; ++i) {
    const uint64_t one = v.one.get(n - 2 - i), two = v.two.get(n - 2 - i);
    inverse[i] = static_cast<uint16_t>(one + 2 * two + ((one - two) & negate));
  }
  inverse[n - 1] = 0;
  for (Trits* secret : {&f, &g, &v, &w})
    zeroize(secret, sizeof *secret);
}

}  // namespace polykem
