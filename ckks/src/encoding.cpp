// SPDX-License-Identifier: Apache-2.0
#include "ckks/src/encoding.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "ckks/src/error.hpp"

namespace polykem::ckks {

namespace {

using Slots = SecretVector<Complex>;

/// Returns exp(i pi a / b).
Complex root(size_t a, size_t b) {
  return std::polar(1.0, std::numbers::pi * static_cast<double>(a) / static_cast<double>(b));
}

/// Computes z_k = sum over j of a_j exp(+-2 pi i j k / size), in place; `size` is a power of two.
void fourier(Slots& a, bool inverse) {
  const size_t size = a.size();
  const auto bits = static_cast<unsigned>(std::countr_zero(size));
  for (size_t i = 0; i < size; ++i)
    if (const size_t j = bit_reverse(i, bits); i < j) std::swap(a[i], a[j]);
  std::vector<Complex> roots(size / 2 + 1);
  for (size_t i = 0; i < roots.size(); ++i)
    roots[i] = inverse ? std::conj(root(2 * i, size)) : root(2 * i, size);
  for (size_t length = 2; length <= size; length *= 2) {
    for (size_t start = 0; start < size; start += length) {
      for (size_t j = 0; j < length / 2; ++j) {
        const Complex low = a[start + j], high = a[start + j + length / 2] * roots[j * (size / length)];
        a[start + j] = low + high;
        a[start + j + length / 2] = low - high;
      }
    }
  }
}

/// Returns the places of the slots. Slot j is the value at zeta^(5^j), which has this place among the odd powers
/// zeta^(2k + 1), k = 0..2 slots - 1.
std::vector<size_t> places(size_t slots) {
  std::vector<size_t> out(slots);
  size_t power = 1;
  for (size_t& place : out) {
    place = power / 2;
    power = power * 5 % (4 * slots);
  }
  return out;
}

/// Returns the 2 slots coefficients of the real polynomial that has these values.
SecretVector<double> interpolate(std::span<const Complex> values) {
  const size_t slots = values.size(), size = 2 * slots;
  Slots a(size);
  const std::vector<size_t> place = places(slots);
  for (size_t j = 0; j < slots; ++j) {
    a[place[j]] = values[j];
    a[size - 1 - place[j]] = std::conj(values[j]);
  }
  fourier(a, true);
  SecretVector<double> out(size);
  for (size_t k = 0; k < size; ++k)
    out[k] = (a[k] * std::conj(root(k, size))).real() / static_cast<double>(size);
  return out;
}

void evaluate(std::span<const double> coefficients, std::span<Complex> values) {
  const size_t slots = values.size(), size = 2 * slots;
  Slots a(size);
  for (size_t k = 0; k < size; ++k)
    a[k] = coefficients[k] * root(k, size);
  fourier(a, false);
  const std::vector<size_t> place = places(slots);
  for (size_t j = 0; j < slots; ++j)
    values[j] = a[place[j]];
}

/// Returns the integer nearest to x, modulo q.
uint64_t residue(const Modulus& m, double x) {
  if (std::abs(x) < 0x1p62) return m.from_signed(std::llround(x));
  int exponent;
  const double mantissa = std::frexp(x, &exponent);  // x = mantissa 2^exponent, a mantissa of 53 bits
  const uint64_t whole = m.from_signed(static_cast<int64_t>(std::ldexp(mantissa, 53)));
  return m.mul(whole, m.pow(2, static_cast<uint64_t>(exponent - 53)));
}

void check_slots(const Context& context, size_t slots) {
  if (!std::has_single_bit(slots) || slots > context.n() / 2)
    throw Error(Fault::kArgument,
                "a message has a power of two of slots, at most " + std::to_string(context.n() / 2) + " here");
}

/// Converts residues modulo each prime to digits of mixed radix: x = d_0 + q_0 (d_1 + q_1 (d_2 + ...)) [Garner].
class MixedRadix {
 public:
  MixedRadix(const Context& context, size_t limbs) : context_(context), limbs_(limbs), digits_(limbs) {
    for (size_t i = 0; i < limbs; ++i) {
      const Modulus& m = context.modulus(i);
      inverses_.emplace_back();
      for (size_t j = 0; j < i; ++j)
        inverses_.back().push_back(m.factor(m.inverse(m.reduce(context.modulus(j).value()))));
    }
  }

  /// Returns the number nearest to 0 that has these residues, as a floating-point number.
  double centred(const uint64_t* residues, size_t stride) {
    for (size_t i = 0; i < limbs_; ++i) {
      const Modulus& m = context_.modulus(i);
      uint64_t digit = residues[i * stride];
      for (size_t j = 0; j < i; ++j)
        digit = m.mul(m.sub(digit, m.reduce(digits_[j])), inverses_[i][j]);
      digits_[i] = digit;
    }
    const bool negative = above_half();
    if (negative) complement();
    const double size = value();
    return negative ? -size : size;
  }

 private:
  /// Returns whether x > (Q - 1) / 2, whose digits are (q_i - 1) / 2.
  bool above_half() const {
    for (size_t i = limbs_; i-- > 0;) {
      const uint64_t half = context_.modulus(i).value() / 2;
      if (digits_[i] != half) return digits_[i] > half;
    }
    return false;
  }
  /// Replaces x by Q - x: Q - 1 has the digits q_i - 1, and one is added at the end.
  void complement() {
    uint64_t carry = 1;
    for (size_t i = 0; i < limbs_; ++i) {
      const uint64_t q = context_.modulus(i).value(), digit = q - 1 - digits_[i] + carry;
      carry = digit == q;
      digits_[i] = carry ? 0 : digit;
    }
  }
  double value() const {
    long double x = 0;
    for (size_t i = limbs_; i-- > 0;)
      x = x * static_cast<long double>(context_.modulus(i).value()) + static_cast<long double>(digits_[i]);
    return static_cast<double>(x);
  }

  const Context& context_;
  size_t limbs_;
  std::vector<std::vector<Factor>> inverses_;  ///< [i][j < i]: 1 / q_j mod q_i
  SecretVector<uint64_t> digits_;
};

}  // namespace

Plaintexts encode(const Context& context, std::span<const Complex> values, size_t slots, size_t limbs, double scale) {
  check_slots(context, slots);
  if (limbs == 0 || limbs > context.limbs())
    throw Error(Fault::kLevels, "a plaintext has 1 to " + std::to_string(context.limbs()) + " limbs here");
  if (!(scale >= 1) || !std::isfinite(scale)) throw Error(Fault::kArgument, "a scale is a number from 1 on");
  context.check_scale(scale, limbs);
  if (values.empty() || values.size() % slots != 0)
    throw Error(Fault::kArgument, "the values are not a whole number of messages");
  const size_t n = context.n(), gap = n / 2 / slots;
  Plaintexts out{.count = values.size() / slots,
                 .limbs = limbs,
                 .scale = scale,
                 .slots = slots,
                 .n = n,
                 .set = context.q_id(),
                 .words = {}};
  out.words.resize(out.count * limbs * n);
  const double bound = std::exp2(std::min(context.limb_bits(limbs) - 1, 1000.0));
  context.for_each(out.count, [&](size_t item) {
    const SecretVector<double> m = interpolate(values.subspan(item * slots, slots));
    for (size_t k = 0; k < m.size(); ++k) {
      const double x = m[k] * scale;
      if (!(std::abs(x) < bound))
        throw Error(Fault::kArgument,
                    "message " + std::to_string(item) + " is not finite, or too large for its scale and limbs");
      for (size_t limb = 0; limb < limbs; ++limb)
        out.row(item, limb)[k * gap] = residue(context.modulus(limb), x);
    }
    for (size_t limb = 0; limb < limbs; ++limb)
      context.ntt(limb).forward(out.row(item, limb));
  });
  return out;
}

SecretVector<double> coefficients(const Context& context, const Plaintexts& plaintext, size_t item) {
  const size_t n = context.n(), limbs = plaintext.limbs;
  SecretVector<uint64_t> rows(plaintext.row(item, 0), plaintext.row(item, 0) + limbs * n);
  for (size_t limb = 0; limb < limbs; ++limb)
    context.ntt(limb).inverse(&rows[limb * n]);
  MixedRadix radix(context, limbs);
  SecretVector<double> out(n);
  for (size_t k = 0; k < n; ++k)
    out[k] = radix.centred(&rows[k], n) / plaintext.scale;
  return out;
}

/// Throws Error(decryption) if the coefficients are spread over the modulus Q, as those of a wrong decryption are: a
/// quarter of them above Q / 4. Then their squares add up to more than (Q / 2)^2, and so some number is above Q / 2
/// over the scale.
void check_size(const Context& context, const Plaintexts& plaintext, const SecretVector<double>& coefficients) {
  const double bound = std::exp2(std::min(context.limb_bits(plaintext.limbs) - 2, 1000.0)) / plaintext.scale;
  const auto large =
      std::count_if(coefficients.begin(), coefficients.end(), [bound](double x) { return !(std::abs(x) <= bound); });
  if (static_cast<size_t>(large) < coefficients.size() / 4) return;
  throw Error(Fault::kDecryption, "nothing is left of the numbers: their coefficients are spread over the modulus, " +
                                      power_of_two(context.limb_bits(plaintext.limbs)) +
                                      ". Decrypt with the key of the ciphertexts; or compute with smaller numbers, a "
                                      "smaller scale, or more limbs");
}

void decode(const Context& context, const Plaintexts& plaintext, size_t item, std::span<Complex> values) {
  check_slots(context, plaintext.slots);
  const SecretVector<double> all = coefficients(context, plaintext, item);
  check_size(context, plaintext, all);
  const size_t slots = plaintext.slots, gap = context.n() / 2 / slots;
  SecretVector<double> m(2 * slots);
  for (size_t k = 0; k < m.size(); ++k)
    m[k] = all[k * gap];
  evaluate(m, values.first(slots));
}

}  // namespace polykem::ckks
