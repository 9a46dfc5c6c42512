// SPDX-License-Identifier: Apache-2.0
#include "prim/ntt/ntt.hpp"

namespace polykem::ntt {

void forward(uint16_t a[kN]) {
  size_t next = 1;
  for (size_t length = 128; length >= 2; length /= 2) {
    for (size_t start = 0; start < kN; start += 2 * length) {
      const uint32_t zeta = kZetas[next++];
      for (size_t j = start; j < start + length; ++j) {
        const uint32_t t = reduce(zeta * a[j + length]);
        a[j + length] = static_cast<uint16_t>(reduce_once(a[j] + kQ - t));
        a[j] = static_cast<uint16_t>(reduce_once(a[j] + t));
      }
    }
  }
}

void inverse(uint16_t a[kN]) {
  size_t next = 127;
  for (size_t length = 2; length <= 128; length *= 2) {
    for (size_t start = 0; start < kN; start += 2 * length) {
      const uint32_t zeta = kZetas[next--];
      for (size_t j = start; j < start + length; ++j) {
        const uint32_t t = a[j];
        a[j] = static_cast<uint16_t>(reduce_once(t + a[j + length]));
        a[j + length] = static_cast<uint16_t>(reduce(zeta * (a[j + length] + kQ - t)));
      }
    }
  }
  for (size_t j = 0; j < kN; ++j)
    a[j] = static_cast<uint16_t>(reduce(kInverse128 * a[j]));
}

void multiply(uint16_t c[kN], const uint16_t* a, const uint16_t* b, size_t terms) {
  for (size_t pair = 0; pair < kN / 2; ++pair) {
    uint32_t c0 = 0, c1 = 0;  // below 4 * 2 * 2^12 * q
    for (size_t i = 0; i < terms; ++i) {
      const uint16_t* x = a + i * kN + 2 * pair;
      const uint16_t* y = b + i * kN + 2 * pair;
      c0 += uint32_t{x[0]} * y[0] + x[1] * reduce(uint32_t{y[1]} * kGammas[pair]);
      c1 += uint32_t{x[0]} * y[1] + uint32_t{x[1]} * y[0];
    }
    c[2 * pair] = static_cast<uint16_t>(reduce(c0));
    c[2 * pair + 1] = static_cast<uint16_t>(reduce(c1));
  }
}

}  // namespace polykem::ntt
