// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <random>

#include "ckks/src/encoding.hpp"
#include "ckks/src/error.hpp"
#include "ckks/src/evaluator.hpp"
#include "ckks/src/keys.hpp"
#include "ckks/src/primes.hpp"

namespace polykem::ckks::test {

/// Makes parameters with a first prime of `first_bits`, `levels` primes of `bits`, and special primes of 60 bits for
/// two digits.
inline Params make_params(unsigned log_n, unsigned first_bits, unsigned bits, size_t levels) {
  Params params{.log_n = log_n, .q = {}, .p = {}, .q_roots = {}, .p_roots = {}, .digits = 2, .threads = 1};
  params.q = find_primes(log_n, first_bits, 1, {});
  for (const uint64_t q : find_primes(log_n, bits, levels, params.q))
    params.q.push_back(q);
  const size_t digit = (params.q.size() + 1) / 2;
  params.p = find_primes(log_n, 60, (digit * std::max(bits, first_bits) + 59) / 60, params.q);
  return params;
}

/// A context and its keys, and messages of random numbers in the square from -1 - i to 1 + i.
struct User {
  explicit User(const Params& params, uint32_t seed = 1)
      : context(params),
        random(seed),
        secret(make_secret_key(context, drbg)),
        key(make_public_key(context, secret, drbg)),
        square_key(make_relinearisation_key(context, secret, drbg)) {}

  std::vector<Complex> message(size_t slots) {
    std::uniform_real_distribution<double> number(-1, 1);
    std::vector<Complex> out(slots);
    for (Complex& z : out)
      z = {number(random), number(random)};
    return out;
  }
  Ciphertexts encrypted(const std::vector<Complex>& messages, size_t slots, double scale) {
    return encrypt(context, key, encode(context, messages, slots, context.limbs(), scale), drbg);
  }
  std::vector<Complex> decrypted(const Ciphertexts& ciphertexts) const {
    const Plaintexts plain = decrypt(context, secret, ciphertexts);
    std::vector<Complex> out(plain.count * plain.slots);
    for (size_t item = 0; item < plain.count; ++item)
      decode(context, plain, item, std::span(out).subspan(item * plain.slots, plain.slots));
    return out;
  }

  Context context;
  Drbg drbg;
  std::mt19937_64 random;
  SecretKey secret;
  PublicKey key;
  SwitchingKey square_key;
};

inline double largest_difference(const std::vector<Complex>& a, const std::vector<Complex>& b) {
  EXPECT_EQ(a.size(), b.size());
  double max_difference = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    max_difference = std::max(max_difference, std::abs(a[i] - b[i]));
  return max_difference;
}

/// Returns the fault that a call throws; Fault::kInternal if none.
template <typename Call>
Fault fault_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_GT(std::string(error.what()).size(), 20U) << "a message that says what to do";
    return error.fault();
  }
  ADD_FAILURE() << "nothing was thrown";
  return Fault::kInternal;
}

}  // namespace polykem::ckks::test
