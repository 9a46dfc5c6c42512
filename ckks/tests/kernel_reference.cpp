// SPDX-License-Identifier: Apache-2.0
#include "kernel_reference.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <tuple>

namespace polykem::ckks::test {

namespace {

using cuda::inverse_mod;
using cuda::power_mod;
using cuda::reverse_bits;

/// The Miller-Rabin test, with bases that decide all 64-bit numbers.
bool is_prime(uint64_t n) {
  const int twos = std::countr_zero(n - 1);
  for (uint64_t base : {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37}) {
    if (n % base == 0) return n == base;
    uint64_t x = power_mod(base, (n - 1) >> twos, n);
    bool passes = x == 1 || x == n - 1;
    for (int i = 1; i < twos && !passes; ++i) {
      x = multiply_mod(x, x, n);
      passes = x == n - 1;
    }
    if (!passes) return false;
  }
  return true;
}

uint64_t primitive_root(uint64_t q, uint64_t order) {
  for (uint64_t base = 2;; ++base) {
    const uint64_t root = power_mod(base, (q - 1) / order, q);
    if (power_mod(root, order / 2, q) == q - 1) return root;
  }
}

/// Returns the powers psi^i for all i < N. Checks call it on several threads.
const Residues& powers(uint64_t psi, uint64_t q, int log_n) {
  static std::mutex mutex;
  static std::map<std::tuple<uint64_t, uint64_t, int>, Residues> known;
  const std::lock_guard lock(mutex);
  Residues& table = known[{psi, q, log_n}];
  for (uint64_t power = 1; table.size() >> log_n == 0; power = multiply_mod(power, psi, q))
    table.push_back(power);
  return table;
}

uint64_t add_mod(uint64_t a, uint64_t b, uint64_t q) {
  return a + b < q ? a + b : a + b - q;
}

}  // namespace

std::vector<PrimeRoot> make_primes(int count, int bits, int log_n) {
  const uint64_t order = uint64_t{2} << log_n;
  std::vector<PrimeRoot> primes;
  for (uint64_t q = (uint64_t{1} << bits) - order + 1; primes.size() < static_cast<size_t>(count); q -= order) {
    if (is_prime(q)) primes.push_back({q, primitive_root(q, order)});
  }
  return primes;
}

void reference_ntt(Residues& a, const PrimeRoot& prime) {
  const auto [q, psi] = prime;
  const int log_n = std::countr_zero(a.size());
  const Residues& factors = powers(psi, q, log_n);
  for (size_t groups = 1, length = a.size() / 2; length > 0; groups *= 2, length /= 2) {
    for (size_t g = 0; g < groups; ++g) {
      const uint64_t w = factors[reverse_bits(static_cast<uint32_t>(groups + g), log_n)];
      for (size_t j = 2 * g * length; j < (2 * g + 1) * length; ++j) {
        const uint64_t t = multiply_mod(a[j + length], w, q);
        a[j + length] = add_mod(a[j], q - t, q);
        a[j] = add_mod(a[j], t, q);
      }
    }
  }
}

void reference_intt(Residues& a, const PrimeRoot& prime) {
  const auto [q, psi] = prime;
  const int log_n = std::countr_zero(a.size());
  const Residues& factors = powers(inverse_mod(psi, q), q, log_n);
  for (size_t groups = a.size() / 2, length = 1; groups > 0; groups /= 2, length *= 2) {
    for (size_t g = 0; g < groups; ++g) {
      const uint64_t w = factors[reverse_bits(static_cast<uint32_t>(groups + g), log_n)];
      for (size_t j = 2 * g * length; j < (2 * g + 1) * length; ++j) {
        const uint64_t sum = add_mod(a[j], a[j + length], q), difference = add_mod(a[j], q - a[j + length], q);
        a[j] = sum;
        a[j + length] = multiply_mod(difference, w, q);
      }
    }
  }
  const uint64_t scale = inverse_mod(a.size(), q);
  for (uint64_t& x : a)
    x = multiply_mod(x, scale, q);
}

uint64_t evaluate(const Residues& a, uint32_t i, const PrimeRoot& prime) {
  const int log_n = std::countr_zero(a.size());
  const uint64_t point = power_mod(prime.psi, 2 * reverse_bits(i, log_n) + 1, prime.q);
  uint64_t value = 0;
  for (size_t k = a.size(); k-- > 0;)
    value = add_mod(multiply_mod(value, point, prime.q), a[k], prime.q);
  return value;
}

Residues reference_automorphism(const Residues& a, uint64_t exponent, uint64_t q) {
  const size_t n = a.size();
  Residues result(n);
  for (size_t k = 0; k < n; ++k) {
    const size_t to = k * exponent % (2 * n);
    result[to % n] = to < n || a[k] == 0 ? a[k] : q - a[k];
  }
  return result;
}

Residues make_residues(size_t count, uint64_t q, Fill fill, std::mt19937_64& random) {
  Residues values(count, fill == Fill::kMax ? q - 1 : 0);
  if (fill == Fill::kSingle) values[random() % count] = q - 1;
  if (fill == Fill::kRandom) std::generate(values.begin(), values.end(), [&] { return random() % q; });
  return values;
}

}  // namespace polykem::ckks::test
