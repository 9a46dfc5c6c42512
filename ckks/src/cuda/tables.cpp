// SPDX-License-Identifier: Apache-2.0
#include "ckks/src/cuda/tables.hpp"

#include <bit>

namespace polykem::ckks::cuda {

__extension__ using uint128 = unsigned __int128;

uint64_t multiply_mod(uint64_t a, uint64_t b, uint64_t q) {
  if ((a | b) >> 32 == 0) return a * b % q;
  return static_cast<uint64_t>(uint128{a} * b % q);
}

uint64_t power_mod(uint64_t base, uint64_t exponent, uint64_t q) {
  uint64_t result = 1 % q;
  for (; exponent != 0; exponent >>= 1) {
    if (exponent & 1) result = multiply_mod(result, base, q);
    base = multiply_mod(base, base, q);
  }
  return result;
}

uint64_t inverse_mod(uint64_t a, uint64_t q) {
  return power_mod(a % q, q - 2, q);
}

uint32_t reverse_bits(uint32_t x, int bits) {
  uint32_t reversed = 0;
  for (int bit = 0; bit < bits; ++bit)
    reversed |= (x >> bit & 1) << (bits - 1 - bit);
  return reversed;
}

template <class Word>
Factor<Word> make_factor(uint64_t value, uint64_t q) {
  return {static_cast<Word>(value), static_cast<Word>((uint128{value} << (8 * sizeof(Word))) / q)};
}

template <class Word>
size_t factor_place(uint32_t node, int log_n) {
  const int log_groups = log_n - kLogRun<Word>, depth = std::bit_width(node) - 1 - log_groups;
  if (depth < 0) return node;
  const size_t groups = size_t{1} << log_groups, below = (size_t{1} << depth) - 1, number = below + 1 + (node & below);
  const size_t group = (node >> depth) - groups;
  if (sizeof(Word) == 8 || depth == 0) return groups * number + group;
  return groups * (number & ~size_t{1}) + 2 * group + (number & 1);
}

namespace {

uint64_t floor_2_64_by(uint64_t q) {
  return static_cast<uint64_t>((uint128{1} << 64) / q);
}

template <class Word>
Prime<Word> make_prime(uint64_t q, uint64_t n) {
  Prime<Word> prime{};
  prime.q = static_cast<Word>(q);
  prime.reciprocal = floor_2_64_by(q);
  prime.inverse_n = make_factor<Word>(inverse_mod(n, q), q);
  if constexpr (sizeof(Word) == 4) {
    prime.inverse = 1;
    for (int bits = 1; bits < 32; bits *= 2)  // Newton's iteration doubles the bits that are right
      prime.inverse *= 2 - prime.q * prime.inverse;
  } else {
    prime.two_64 = make_factor<Word>(static_cast<uint64_t>((uint128{1} << 64) % q), q);
    prime.shift = static_cast<uint64_t>(std::bit_width(q)) - 2;
    prime.barrett = static_cast<uint64_t>((uint128{1} << (64 + prime.shift)) / q);
  }
  return prime;
}

}  // namespace

template <class Word>
HostTables<Word> make_tables(int log_n, const std::vector<PrimeRoot>& primes) {
  const size_t n = size_t{1} << log_n;
  HostTables<Word> tables{log_n, {}, {}, {}};
  tables.forward.resize(primes.size() * n);
  tables.inverse.resize(primes.size() * n);
  for (size_t p = 0; p < primes.size(); ++p) {
    const auto [q, psi] = primes[p];
    tables.primes.push_back(make_prime<Word>(q, n));
    const uint64_t psi_inverse = inverse_mod(psi, q);
    uint64_t power = 1, inverse_power = 1;
    for (uint32_t exponent = 0; exponent < n; ++exponent) {  // node i has psi to the reversed i
      const size_t place = p * n + factor_place<Word>(reverse_bits(exponent, log_n), log_n);
      tables.forward[place] = make_factor<Word>(power, q);
      tables.inverse[place] = make_factor<Word>(inverse_power, q);
      power = multiply_mod(power, psi, q);
      inverse_power = multiply_mod(inverse_power, psi_inverse, q);
    }
    const uint64_t root = tables.inverse[p * n + 1].value, inverse_n = tables.primes[p].inverse_n.value;
    tables.inverse[p * n] = make_factor<Word>(multiply_mod(root, inverse_n, q), q);
  }
  return tables;
}

template Factor<uint32_t> make_factor<uint32_t>(uint64_t, uint64_t);
template Factor<uint64_t> make_factor<uint64_t>(uint64_t, uint64_t);
template size_t factor_place<uint32_t>(uint32_t, int);
template size_t factor_place<uint64_t>(uint32_t, int);
template HostTables<uint32_t> make_tables<uint32_t>(int, const std::vector<PrimeRoot>&);
template HostTables<uint64_t> make_tables<uint64_t>(int, const std::vector<PrimeRoot>&);

}  // namespace polykem::ckks::cuda
