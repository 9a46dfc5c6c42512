// SPDX-License-Identifier: Apache-2.0
#include "ckks/src/ntt.hpp"

namespace polykem::ckks {

namespace {

/// Returns root^bitrev(i), i = 0..N-1.
std::vector<Factor> powers(const Modulus& q, uint64_t root, unsigned log_n) {
  std::vector<Factor> table(size_t{1} << log_n);
  uint64_t power = 1;
  for (size_t i = 0; i < table.size(); ++i) {
    table[bit_reverse(i, log_n)] = q.factor(power);
    power = q.mul(power, root);
  }
  return table;
}

}  // namespace

Ntt::Ntt(unsigned log_n, uint64_t q, uint64_t psi)
    : q_(q),
      psi_(psi),
      n_(size_t{1} << log_n),
      roots_(powers(q_, psi, log_n)),
      inverse_roots_(powers(q_, q_.inverse(psi), log_n)),
      inverse_n_(q_.factor(q_.inverse(n_))) {}

// Butterflies keep their values below 4q forwards and 2q backwards [HARVEY14, 3].
void Ntt::forward(uint64_t* a) const {
  const Modulus m = q_;
  const uint64_t q2 = 2 * m.value();
  for (size_t groups = 1, half = n_ / 2; groups < n_; groups *= 2, half /= 2) {
    for (size_t g = 0; g < groups; ++g) {
      const Factor root = roots_[groups + g];
      uint64_t* const low = a + 2 * g * half;
      uint64_t* const high = low + half;
      for (size_t j = 0; j < half; ++j) {
        const uint64_t less = low[j] - q2;
        const uint64_t x = less + (q2 & (0 - (less >> 63)));
        const uint64_t y = m.mul_lazy(high[j], root);
        low[j] = x + y;
        high[j] = x + q2 - y;
      }
    }
  }
  for (size_t j = 0; j < n_; ++j) {
    const uint64_t less = a[j] - q2;
    a[j] = m.reduce_once(less + (q2 & (0 - (less >> 63))));
  }
}

void Ntt::inverse(uint64_t* a) const {
  const Modulus m = q_;
  const uint64_t q2 = 2 * m.value();
  for (size_t groups = n_ / 2, half = 1; groups >= 1; groups /= 2, half *= 2) {
    for (size_t g = 0; g < groups; ++g) {
      const Factor root = inverse_roots_[groups + g];
      uint64_t* const low = a + 2 * g * half;
      uint64_t* const high = low + half;
      for (size_t j = 0; j < half; ++j) {
        const uint64_t x = low[j], y = high[j];
        const uint64_t less = x + y - q2;
        low[j] = less + (q2 & (0 - (less >> 63)));
        high[j] = m.mul_lazy(x + q2 - y, root);
      }
    }
  }
  for (size_t j = 0; j < n_; ++j)
    a[j] = m.mul(a[j], inverse_n_);
}

}  // namespace polykem::ckks
