// SPDX-License-Identifier: Apache-2.0
#include "ckks/src/primes.hpp"

#include <algorithm>
#include <bit>

#include "ckks/src/modulus.hpp"

namespace polykem::ckks {

namespace {

/// Returns whether the odd n passes Miller and Rabin's test to this base.
bool passes(const Modulus& n, uint64_t base) {
  const uint64_t less = n.value() - 1;
  const int twos = std::countr_zero(less);
  uint64_t x = n.reduce(base);
  if (x == 0) return true;
  x = n.pow(x, less >> twos);
  if (x == 1 || x == less) return true;
  for (int i = 1; i < twos; ++i) {
    x = n.mul(x, x);
    if (x == less) return true;
  }
  return false;
}

}  // namespace

bool is_prime(uint64_t n) {
  if (n < 4) return n == 2 || n == 3;
  if (n % 2 == 0 || n >> 61 != 0) return false;
  const Modulus modulus(n);
  for (const uint64_t base : {2, 325, 9375, 28178, 450775, 9780504, 1795265022})
    if (!passes(modulus, base)) return false;
  return true;
}

std::vector<uint64_t> find_primes(unsigned log_n, unsigned bits, size_t count, const std::vector<uint64_t>& taken) {
  const uint64_t step = uint64_t{2} << log_n, middle = uint64_t{1} << bits;
  std::vector<uint64_t> primes;
  if (bits <= log_n) return primes;  // 2^bits + 1 is not 1 mod 2N
  const auto take = [&](uint64_t q) {
    if (primes.size() < count && is_prime(q) && std::find(taken.begin(), taken.end(), q) == taken.end())
      primes.push_back(q);
  };
  for (uint64_t far = 0; far < middle / 2 && primes.size() < count; far += step) {
    if (far != 0) take(middle - far + 1);
    if (bits < kMaxPrimeBits) take(middle + far + 1);
  }
  return primes;
}

uint64_t min_root(unsigned log_n, uint64_t q) {
  const Modulus modulus(q);
  uint64_t root = 0;
  for (uint64_t x = 2; root == 0; ++x) {
    const uint64_t candidate = modulus.pow(x, (q - 1) >> (log_n + 1));
    if (is_root(log_n, q, candidate)) root = candidate;
  }
  // The other roots are its odd powers.
  const uint64_t square = modulus.mul(root, root);
  uint64_t smallest = root;
  for (size_t i = 1; i < size_t{1} << log_n; ++i) {
    root = modulus.mul(root, square);
    smallest = std::min(smallest, root);
  }
  return smallest;
}

bool is_root(unsigned log_n, uint64_t q, uint64_t root) {
  return root < q && Modulus(q).pow(root, uint64_t{1} << log_n) == q - 1;
}

}  // namespace polykem::ckks
