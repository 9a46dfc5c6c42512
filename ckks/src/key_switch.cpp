// SPDX-License-Identifier: Apache-2.0
#include "ckks/src/key_switch.hpp"

#include <algorithm>

namespace polykem::ckks {

namespace {

/// Key switching of polynomials of `limbs` limbs, in steps. A row is that of a prime of Q that is left or of one of P.
/// Work goes by primes, then by polynomials, which share a prime's keys and tables.
class Switch {
 public:
  Switch(const Context& context, size_t limbs) : context_(context), limbs_(limbs) {}

  size_t rows() const { return limbs_ + context_.special(); }
  size_t raised_words() const { return context_.digits_at(limbs_) * n(); }
  size_t sum_words() const { return 2 * rows() * n(); }

  /// Computes the coefficients of one limb, scaled for the conversion of its digit. scaled: [limbs][N].
  void decompose(size_t limb, const uint64_t* c, uint64_t* scaled) const {
    const size_t digit = context_.digit_of(limb);
    context_.from_digit(digit, limbs_)
        .scaled_coefficients(limb - context_.digit_first(digit), c + limb * n(), scaled + limb * n());
  }

  /// Computes ModUp of all digits to one row. Within its digit it is the row that c has. raised: [digits][N].
  void raise(size_t row, const uint64_t* c, const uint64_t* scaled, uint64_t* raised) const {
    const size_t prime = prime_of(row);
    for (size_t digit = 0; digit < context_.digits_at(limbs_); ++digit, raised += n()) {
      if (row < limbs_ && context_.digit_of(row) == digit) {
        std::copy(c + row * n(), c + (row + 1) * n(), raised);
        continue;
      }
      context_.from_digit(digit, limbs_).convert(scaled + context_.digit_first(digit) * n(), n(), prime, raised);
      context_.ntt(prime).forward(raised);
    }
  }

  /// Computes the sums over the digits of ModUp(digit) times the key, at one row, then X -> X^g. sums: [2][rows][N].
  void multiply(const SwitchingKey& key, size_t row, const uint64_t* raised, uint64_t g, uint64_t* sums) const {
    const size_t prime = prime_of(row), digits = context_.digits_at(limbs_);
    Words unmoved(g == 1 ? 0 : n());
    const uint64_t *a[kMaxTerms], *b[kMaxTerms];
    for (size_t part = 0; part < 2; ++part) {
      for (size_t digit = 0; digit < digits; ++digit) {
        a[digit] = raised + digit * n();
        b[digit] = key.row(digit, part, prime);
      }
      uint64_t* const sum = sums + (part * rows() + row) * n();
      ckks::rows().multiply(context_.modulus(prime), n(), a, b, digits, g == 1 ? sum : unmoved.data());
      if (g != 1) ckks::rows().permute(context_.log_n(), g, unmoved.data(), sum);
    }
  }

  /// Divides the sums of all polynomials by P and adds the addends' X -> X^g. sums: [polynomials][2][rows][N]; the rows
  /// of P are overwritten.
  void mod_down(uint64_t* sums, uint64_t g, std::span<const Switched> polynomials) const {
    const size_t parts = 2 * polynomials.size();
    context_.for_each(context_.special() * parts, [&](size_t i) {
      uint64_t* const row = sums + (i % parts * rows() + limbs_ + i / parts) * n();
      context_.from_special().scaled_coefficients(i / parts, row, row);
    });
    context_.for_each(limbs_ * parts, [&](size_t i) {
      const size_t limb = i / parts, part = i % parts;
      const Switched& polynomial = polynomials[part / 2];
      divide(limb, sums + part * rows() * n(), polynomial.out[part % 2] + limb * n());
      if (polynomial.addends[part % 2] != nullptr)
        add(limb, g, polynomial.addends[part % 2], polynomial.out[part % 2] + limb * n());
    });
  }

 private:
  /// Computes a row of (sum - the conversion of its residues modulo P) / P.
  void divide(size_t limb, const uint64_t* sum, uint64_t* row) const {
    Words converted(n());
    context_.from_special().convert(sum + limbs_ * n(), n(), limb, converted.data());
    context_.ntt(limb).forward(converted.data());
    ckks::rows().sub_scale(context_.modulus(limb), n(), sum + limb * n(), converted.data(), context_.inverse_p(limb),
                           row);
  }
  void add(size_t limb, uint64_t g, const uint64_t* addend, uint64_t* row) const {
    Words moved(g == 1 ? 0 : n());
    if (g != 1) ckks::rows().permute(context_.log_n(), g, addend + limb * n(), moved.data());
    ckks::rows().add(context_.modulus(limb), n(), row, g == 1 ? addend + limb * n() : moved.data(), row);
  }
  size_t n() const { return context_.n(); }
  size_t prime_of(size_t row) const { return row < limbs_ ? row : context_.limbs() + row - limbs_; }

  const Context& context_;
  size_t limbs_;
};

/// The intermediate words of the polynomials that are computed together, and the most polynomials.
constexpr size_t kMaxWordsTogether = size_t{8} << 20, kMaxTogether = 16;

void switch_together(const Context& context, const SwitchingKey& key, size_t limbs, uint64_t g,
                     std::span<const Switched> polynomials) {
  const Switch steps(context, limbs);
  const size_t n = context.n(), count = polynomials.size();
  Words scaled(count * limbs * n), sums(count * steps.sum_words());
  context.for_each(limbs * count, [&](size_t i) {
    steps.decompose(i / count, polynomials[i % count].c, &scaled[i % count * limbs * n]);
  });
  context.for_each(steps.rows() * count, [&](size_t i) {
    const size_t row = i / count, item = i % count;
    Words raised(steps.raised_words());
    steps.raise(row, polynomials[item].c, &scaled[item * limbs * n], raised.data());
    steps.multiply(key, row, raised.data(), g, &sums[item * steps.sum_words()]);
  });
  steps.mod_down(sums.data(), g, polynomials);
}

}  // namespace

void key_switch(const Context& context, const SwitchingKey& key, size_t limbs, uint64_t g,
                std::span<const Switched> polynomials) {
  const size_t words = limbs * context.n() + Switch(context, limbs).sum_words();
  const size_t together = std::clamp(kMaxWordsTogether / words, size_t{1}, kMaxTogether);
  for (size_t first = 0; first < polynomials.size(); first += together)
    switch_together(context, key, limbs, g, polynomials.subspan(first, std::min(together, polynomials.size() - first)));
}

Raised::Raised(const Context& context, size_t limbs, const uint64_t* c) : context_(context), limbs_(limbs) {
  const Switch steps(context, limbs);
  Words scaled(limbs * context.n());
  context.for_each(limbs, [&](size_t limb) { steps.decompose(limb, c, scaled.data()); });
  rows_.resize(steps.rows() * steps.raised_words());
  context.for_each(steps.rows(),
                   [&](size_t row) { steps.raise(row, c, scaled.data(), &rows_[row * steps.raised_words()]); });
}

void Raised::key_switch(const SwitchingKey& key, uint64_t g, const Switched& polynomial) const {
  const Switch steps(context_, limbs_);
  Words sums(steps.sum_words());
  context_.for_each(steps.rows(),
                    [&](size_t row) { steps.multiply(key, row, &rows_[row * steps.raised_words()], g, sums.data()); });
  steps.mod_down(sums.data(), g, {&polynomial, 1});
}

}  // namespace polykem::ckks
