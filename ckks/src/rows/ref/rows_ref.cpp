// SPDX-License-Identifier: Apache-2.0
#include "ckks/src/ntt.hpp"
#include "ckks/src/rows/lanes/words.hpp"
#include "ckks/src/rows/rows.hpp"

namespace polykem::ckks {

namespace {

// Butterflies keep their values below 4q forwards and 2q backwards [HARVEY14, 3].
void forward(const Modulus& modulus, const NttTables& tables, uint64_t* a) {
  const Modulus m = modulus;
  const uint64_t q2 = 2 * m.value();
  for (size_t groups = 1, half = tables.n / 2; groups < tables.n; groups *= 2, half /= 2) {
    for (size_t g = 0; g < groups; ++g) {
      const Factor root{tables.roots[groups + g], tables.root_quotients[groups + g]};
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
  for (size_t j = 0; j < tables.n; ++j) {
    const uint64_t less = a[j] - q2;
    a[j] = m.reduce_once(less + (q2 & (0 - (less >> 63))));
  }
}

void inverse(const Modulus& modulus, const NttTables& tables, const LastLayer& last, const uint64_t* a, uint64_t* out) {
  const Modulus m = modulus;
  const uint64_t q2 = 2 * m.value();
  for (size_t j = 0; j < tables.n; ++j)
    out[j] = a[j];
  for (size_t groups = tables.n / 2, half = 1; groups >= 2; groups /= 2, half *= 2) {
    for (size_t g = 0; g < groups; ++g) {
      const Factor root{tables.inverse_roots[groups + g], tables.inverse_root_quotients[groups + g]};
      uint64_t* const low = out + 2 * g * half;
      uint64_t* const high = low + half;
      for (size_t j = 0; j < half; ++j) {
        const uint64_t x = low[j], y = high[j];
        const uint64_t less = x + y - q2;
        low[j] = less + (q2 & (0 - (less >> 63)));
        high[j] = m.mul_lazy(x + q2 - y, root);
      }
    }
  }
  for (size_t j = 0; j < tables.n / 2; ++j) {
    const uint64_t x = out[j], y = out[tables.n / 2 + j];
    out[j] = m.mul(x + y, last.sum);
    out[tables.n / 2 + j] = m.mul(x + q2 - y, last.difference);
  }
}

void add(const Modulus& modulus, size_t n, const uint64_t* a, const uint64_t* b, uint64_t* out) {
  const Modulus m = modulus;
  for (size_t k = 0; k < n; ++k)
    out[k] = m.add(a[k], b[k]);
}

void sub(const Modulus& modulus, size_t n, const uint64_t* a, const uint64_t* b, uint64_t* out) {
  const Modulus m = modulus;
  for (size_t k = 0; k < n; ++k)
    out[k] = m.sub(a[k], b[k]);
}

void sub_scale(const Modulus& modulus, size_t n, const uint64_t* a, const uint64_t* b, const Factor& factor,
               uint64_t* out) {
  const Modulus m = modulus;
  for (size_t k = 0; k < n; ++k)
    out[k] = m.mul(m.sub(a[k], b[k]), factor);
}

void centre(const Modulus& modulus, size_t n, const uint64_t* a, uint64_t from, uint64_t* out) {
  const Modulus m = modulus;
  const uint64_t from_mod_q = m.reduce(from);
  for (size_t k = 0; k < n; ++k) {
    const uint64_t negative = 0 - static_cast<uint64_t>(a[k] > from / 2);
    out[k] = m.sub(m.reduce(a[k]), from_mod_q & negative);
  }
}

void permute(unsigned log_n, uint64_t g, const uint64_t* a, uint64_t* out) {
  const size_t n = size_t{1} << log_n;
  for (size_t i = 0; i < n; ++i) {
    const size_t exponent = (2 * bit_reverse(i, log_n) + 1) * g & (2 * n - 1);
    out[i] = a[bit_reverse(exponent / 2, log_n)];
  }
}

constexpr RowFunctions kRows{"portable", forward,        inverse,       add,    sub,
                             sub_scale,  multiply_words, combine_words, centre, permute};

}  // namespace

const RowFunctions& rows_ref() {
  return kRows;
}

}  // namespace polykem::ckks
