// SPDX-License-Identifier: Apache-2.0
#include "ckks/src/chebyshev.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "ckks/src/error.hpp"
#include "ckks/src/evaluator.hpp"
#include "ckks/src/levels.hpp"

namespace polykem::ckks {

namespace {

constexpr double kRounding = 0x1p-45;  ///< 2 / (b - a) this near to a whole number, relatively, is one
constexpr double kMostDriftBits = 8;   ///< T_degree's scale may differ from the primes by so many bits

bool is_whole(double x) {
  return std::nearbyint(x) == x;
}

/// Returns 2 / (b - a), without a rounding of a whole number.
double factor_of(double a, double b) {
  const double factor = 2 / (b - a), whole = std::nearbyint(factor);
  if (!(std::isfinite(b - a) && a < b && std::isfinite(factor) && factor > 0))
    throw Error(Fault::kArgument, "the interval must be (a, b) with finite a < b");
  return std::abs(whole / factor - 1) < kRounding ? whole : factor;
}

bool present(Complex c) {
  return c != Complex(0);
}

void trim(std::vector<Complex>& c) {
  while (!c.empty() && !present(c.back()))
    c.pop_back();
}

std::vector<Complex> checked(std::span<const Complex> coefficients) {
  std::vector<Complex> c(coefficients.begin(), coefficients.end());
  if (!std::all_of(c.begin(), c.end(), [](Complex z) { return std::isfinite(z.real()) && std::isfinite(z.imag()); }))
    throw Error(Fault::kArgument, "coefficients must be finite numbers");
  trim(c);
  if (c.size() < 2)
    throw Error(Fault::kArgument, "coefficients above that of T_0 must not all be 0: a constant needs no ciphertext");
  return c;
}

/// Divides by T_m, where m is above half of the degree: 2 T_m T_i = T_(m+i) + T_(m-i). Leaves the remainder in c and
/// returns the quotient.
std::vector<Complex> divide(std::vector<Complex>& c, size_t m) {
  trim(c);
  std::vector<Complex> quotient(c.begin() + static_cast<std::ptrdiff_t>(m), c.end());
  c.resize(m);
  for (size_t i = 1; i < quotient.size(); ++i) {
    c[m - i] -= quotient[i];
    quotient[i] *= 2;
  }
  return quotient;
}

/// Returns the largest power of two below j, which is 2 or more.
size_t below(size_t j) {
  return std::bit_floor(j - 1);
}

}  // namespace

/// Counts the products of ciphertexts that need a relinearisation: one for each T_j, and for each node's sum.
class Chebyshev::KeySwitches {
 public:
  size_t of(const Node& root) {
    const size_t sums = sums_of(root);
    return sums + known_.size() - 1;
  }

 private:
  void know(size_t j) {
    if (!known_.insert(j).second) return;
    const size_t m = below(j);
    for (const size_t other : {m, j - m, 2 * m - j})
      know(std::max<size_t>(other, 1));
  }
  size_t sums_of(const Node& node) {
    size_t sums = node.products.empty() ? 0 : 1;
    for (const auto& [j, c] : node.terms)
      know(j);
    for (const Product& product : node.products) {
      know(product.m);
      sums += sums_of(product.quotient);
    }
    return sums;
  }
  std::set<size_t> known_{1};
};

/// Returns how to compute the polynomial of coefficients c, of a degree below 2^levels, in that many levels, with terms
/// T_j for j below `babies` and powers of two.
Chebyshev::Node Chebyshev::node(std::vector<Complex> c, size_t babies, unsigned levels) {
  Node out;
  const auto is_term = [&](size_t j) {
    return (j < babies || std::has_single_bit(j)) && static_cast<unsigned>(std::bit_width(j - 1)) < levels;
  };
  for (;;) {
    bool all_terms = true;
    size_t last = 0;
    for (size_t j = 1; j < c.size(); ++j)
      if (present(c[j])) {
        last = j;
        all_terms = all_terms && is_term(j);
      }
    if (all_terms) break;
    const size_t m = std::bit_floor(last);
    std::vector<Complex> quotient = divide(c, m);
    if (quotient.size() > 1)
      out.products.push_back({m, node(std::move(quotient), babies, levels - 1)});
    else
      out.terms.emplace_back(m, quotient[0]);
  }
  for (size_t j = 1; j < c.size(); ++j)
    if (present(c[j])) out.terms.emplace_back(j, c[j]);
  out.constant = c[0];
  return out;
}

Chebyshev::Chebyshev(std::span<const Complex> coefficients, double a, double b)
    : coefficients_(checked(coefficients)), a_(a), b_(b), factor_(factor_of(a, b)) {
  const auto bits = static_cast<unsigned>(std::bit_width(degree()));
  size_t fewest = SIZE_MAX;
  for (unsigned i = 0; i <= bits; ++i) {
    Node candidate = node(coefficients_, size_t{1} << i, bits);
    const size_t key_switches = KeySwitches().of(candidate);
    if (key_switches >= fewest) continue;
    fewest = key_switches;
    root_ = std::move(candidate);
  }
}

size_t Chebyshev::levels() const {
  return static_cast<size_t>(std::bit_width(degree())) + (is_whole(factor_) ? 0 : 1);
}

/// The Chebyshev polynomials of ciphertexts, computed when they are needed, and sums of them.
class Chebyshev::Evaluation {
 public:
  Evaluation(const Level& level, const SwitchingKey& key, Ciphertexts u) : level_(level), key_(key) {
    known_.emplace(1, std::move(u));
  }

  Ciphertexts value(const Node& node, size_t limbs, double scale) {
    const size_t before = limbs + level_.step();
    const double wanted = scale * level_.divisor(before);
    std::optional<Ciphertexts> total;
    for (const Product& product : node.products) {
      const Ciphertexts& t = chebyshev(product.m);
      add_product(total, t, value(product.quotient, before, wanted / t.scale), before);
    }
    return sum(std::move(total), node.terms, node.constant, before, wanted);
  }

 private:
  /// Returns T_j = 2 T_m T_n - T_(m - n), where m is the largest power of two below j, and m + n = j.
  const Ciphertexts& chebyshev(size_t j) {
    if (const auto known = known_.find(j); known != known_.end()) return known->second;
    const size_t m = below(j);
    const Ciphertexts &x = chebyshev(m), &y = chebyshev(j - m);
    const size_t before = std::min(x.limbs, y.limbs);
    std::optional<Ciphertexts> total;
    add_product(total, x, add(level_.context(), y, y), before);
    std::vector<std::pair<size_t, Complex>> terms;
    if (2 * m != j) terms.emplace_back(2 * m - j, -1);
    const Complex constant = terms.empty() ? -1 : 0;
    return known_.emplace(j, sum(std::move(total), terms, constant, before, x.scale * y.scale)).first->second;
  }

  void add_product(std::optional<Ciphertexts>& total, const Ciphertexts& x, const Ciphertexts& y, size_t limbs) {
    Ciphertexts of_x, of_y;
    Ciphertexts xy = mul(level_.context(), level_.kept(x, limbs, of_x), level_.kept(y, limbs, of_y));
    total = total ? add(level_.context(), *total, xy) : std::move(xy);
  }

  /// Returns the sum of `products`, which are not relinearised, of c T_j over terms, and the constant. They are added
  /// up with `before` limbs at the scale `wanted`, so that there are one relinearisation and one rescaling for all.
  Ciphertexts sum(std::optional<Ciphertexts> products, const std::vector<std::pair<size_t, Complex>>& terms,
                  Complex constant, size_t before, double wanted) {
    const Context& context = level_.context();
    std::optional<Ciphertexts> total;
    if (products) total = relinearise(context, *products, key_);
    for (const auto& [j, c] : terms) {
      Ciphertexts room;
      const Ciphertexts& t = level_.kept(chebyshev(j), before, room);
      Ciphertexts ct = mul_plain(context, t, level_.constant(c, t, wanted / t.scale));
      total = total ? add(context, *total, ct) : std::move(ct);
    }
    Ciphertexts out = level_.rescaled(*total);
    return present(constant) ? add_plain(context, out, level_.constant(constant, out, out.scale)) : out;
  }

  const Level& level_;
  const SwitchingKey& key_;
  std::map<size_t, Ciphertexts> known_;
};

Ciphertexts Chebyshev::apply(const Context& context, const Ciphertexts& x, const SwitchingKey& key,
                             size_t limbs_per_level) const {
  check_set(context, x);
  const Level level(context, limbs_per_level);
  level.need(x, levels(), "the polynomial");
  const double drift = std::log2(x.scale) - std::log2(level.divisor(x.limbs));
  // T_j has the scale of x, times its ratio to the primes j - 1 times.
  if (std::abs(drift) * static_cast<double>(degree()) > kMostDriftBits)
    throw Error(Fault::kScales, "the ciphertexts' scale, " + power_of_two(std::log2(x.scale)) +
                                    ", is too far from the primes that a level drops, " +
                                    power_of_two(std::log2(level.divisor(x.limbs))) + ", for a polynomial of degree " +
                                    std::to_string(degree()) + ": align them, or encrypt at that scale");
  Ciphertexts u = x;
  if (factor_ != 1) {
    // A whole number is exact at the scale 1, which takes no level.
    u = mul_plain(context, x, level.constant(factor_, x, is_whole(factor_) ? 1 : level.divisor(x.limbs)));
    if (!is_whole(factor_)) u = level.rescaled(u);
  }
  if (a_ + b_ != 0) u = sub_plain(context, u, level.constant((a_ + b_) / (b_ - a_), u, u.scale));
  return Evaluation(level, key, std::move(u)).value(root_, x.limbs - limbs_per_level * levels(), x.scale);
}

}  // namespace polykem::ckks
