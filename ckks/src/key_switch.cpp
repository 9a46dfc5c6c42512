// SPDX-License-Identifier: Apache-2.0
#include "ckks/src/key_switch.hpp"

namespace polykem::ckks {

namespace {

/// Returns a polynomial's digits: its coefficients modulo each prime, scaled for the conversion of its digit.
std::vector<uint64_t> decompose(const Context& context, size_t limbs, const uint64_t* c) {
  const size_t n = context.n();
  std::vector<uint64_t> scaled(c, c + limbs * n);
  context.for_each(limbs, [&](size_t limb) {
    size_t digit = 0;
    while (limb >= context.digit_first(digit) + context.digit_size(digit, limbs))
      ++digit;
    uint64_t* const row = &scaled[limb * n];
    context.ntt(limb).inverse(row);
    context.from_digit(digit, limbs).scale(limb - context.digit_first(digit), row, n);
  });
  return scaled;
}

/// Computes ModUp of one digit to one prime, a row. Within the digit it is the row that c has.
void mod_up(const Context& context, size_t limbs, size_t digit, size_t prime, const uint64_t* c, const uint64_t* scaled,
            uint64_t* out) {
  const size_t n = context.n(), first = context.digit_first(digit);
  if (prime >= first && prime < first + context.digit_size(digit, limbs)) {
    std::copy(c + prime * n, c + (prime + 1) * n, out);
    return;
  }
  context.from_digit(digit, limbs).convert(scaled + first * n, n, prime, out);
  context.ntt(prime).forward(out);
}

/// Computes the sum over the digits of ModUp(digit) times the key, at one prime.
void key_product(const Context& context, const SwitchingKey& key, size_t limbs, size_t prime, const uint64_t* c,
                 const uint64_t* scaled, uint64_t* out0, uint64_t* out1) {
  const size_t n = context.n();
  const Modulus& m = context.modulus(prime);
  std::vector<uint64_t> row(n);
  for (size_t digit = 0; digit < context.digits_at(limbs); ++digit) {
    mod_up(context, limbs, digit, prime, c, scaled, row.data());
    const uint64_t* const b = key.row(digit, 0, prime);
    const uint64_t* const a = key.row(digit, 1, prime);
    for (size_t k = 0; k < n; ++k) {
      out0[k] = m.reduce(Wide{row[k]} * b[k] + out0[k]);
      out1[k] = m.reduce(Wide{row[k]} * a[k] + out1[k]);
    }
  }
}

/// Divides by P. sum has `limbs` rows of Q and then those of P, which are overwritten.
void mod_down(const Context& context, size_t limbs, uint64_t* sum, uint64_t* out) {
  const size_t n = context.n();
  uint64_t* const special = sum + limbs * n;
  context.for_each(context.special(), [&](size_t i) {
    context.ntt(context.limbs() + i).inverse(special + i * n);
    context.from_special().scale(i, special + i * n, n);
  });
  context.for_each(limbs, [&](size_t limb) {
    const Modulus& m = context.modulus(limb);
    uint64_t* const row = out + limb * n;
    context.from_special().convert(special, n, limb, row);
    context.ntt(limb).forward(row);
    for (size_t k = 0; k < n; ++k)
      row[k] = m.mul(m.sub(sum[limb * n + k], row[k]), context.inverse_p(limb));
  });
}

}  // namespace

void key_switch(const Context& context, const SwitchingKey& key, size_t limbs, const uint64_t* c, uint64_t g,
                uint64_t* out0, uint64_t* out1) {
  const size_t n = context.n(), rows = limbs + context.special();
  const std::vector<uint64_t> scaled = decompose(context, limbs, c);
  std::vector<uint64_t> sum0(rows * n), sum1(rows * n);
  context.for_each(rows, [&](size_t row) {
    const size_t prime = row < limbs ? row : context.limbs() + row - limbs;
    key_product(context, key, limbs, prime, c, scaled.data(), &sum0[row * n], &sum1[row * n]);
    if (g == 1) return;
    for (std::vector<uint64_t>* const sum : {&sum0, &sum1}) {
      const std::vector<uint64_t> before(&(*sum)[row * n], &(*sum)[row * n] + n);
      permute(context, g, before.data(), &(*sum)[row * n]);
    }
  });
  mod_down(context, limbs, sum0.data(), out0);
  mod_down(context, limbs, sum1.data(), out1);
}

void permute(const Context& context, uint64_t g, const uint64_t* row, uint64_t* out) {
  const size_t mask = 2 * context.n() - 1;
  for (size_t i = 0; i < context.n(); ++i) {
    const size_t exponent = (2 * context.reversed(i) + 1) * g & mask;
    out[i] = row[context.reversed(exponent / 2)];
  }
}

}  // namespace polykem::ckks
