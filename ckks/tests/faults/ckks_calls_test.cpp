// SPDX-License-Identifier: Apache-2.0
// Runs CKKS with every allocation, every start of a thread and every call for entropy failing once.
#include <gtest/gtest.h>
#include <polykem/ckks.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "tests/faults/sweep.hpp"

namespace polykem::test {
namespace {

/// Runs from parameters to a decrypted square, rotated by a slot, a product with a matrix and a polynomial.
struct Circuit {
  explicit Circuit(unsigned threads) : threads(threads) {}
  ~Circuit() {
    for (polykem_ckks_ciphertexts* const batch : {sum, product, square, turned, lower, moved, values_of})
      polykem_ckks_ciphertexts_free(batch);
    for (polykem_ckks_switching_key* const key : {square_key, turn_key})
      polykem_ckks_switching_key_free(key);
    polykem_ckks_transform_free(matrix);
    polykem_ckks_chebyshev_free(polynomial);
    polykem_ckks_plaintexts_free(plain);
    polykem_ckks_plaintexts_free(result);
    polykem_ckks_public_key_free(key);
    polykem_ckks_secret_key_free(secret);
    polykem_ckks_context_free(context);
  }
  Circuit(const Circuit&) = delete;
  Circuit& operator=(const Circuit&) = delete;

  polykem_ckks_status open() {
    uint64_t q[3], p[2];
    polykem_ckks_status status = polykem_ckks_find_primes(4, 50, 3, nullptr, 0, q);
    if (status == POLYKEM_CKKS_OK) status = polykem_ckks_find_primes(4, 60, 2, q, 3, p);
    if (status != POLYKEM_CKKS_OK) return status;
    const polykem_ckks_parameters parameters{sizeof parameters, 4, 3, q, nullptr, 2, p, nullptr, 2, threads, 1};
    return polykem_ckks_context_new(&parameters, &context);
  }

  /// Stops at the first failure.
  polykem_ckks_status run() {
    polykem_ckks_status status = open();
    const auto then = [&](auto call, auto... arguments) {
      if (status == POLYKEM_CKKS_OK) status = call(context, arguments...);
    };
    then(polykem_ckks_secret_key_generate, &secret);
    then(polykem_ckks_public_key_generate, secret, &key);
    then(polykem_ckks_relinearisation_key_generate, secret, &square_key);
    then(polykem_ckks_automorphism_key_generate, secret, polykem_ckks_rotation_element(context, 1), &turn_key);
    then(polykem_ckks_encode, kValues, size_t{1}, size_t{4}, size_t{3}, 0x1p49, &plain);
    then(polykem_ckks_encrypt, key, plain, &sum);
    then(polykem_ckks_combine, POLYKEM_CKKS_MUL, sum, sum, &product);
    then(polykem_ckks_relinearise, product, square_key, &square);
    then(polykem_ckks_automorphism, square, polykem_ckks_rotation_element(context, 1), turn_key, &turned);
    then(polykem_ckks_rescale, turned, &lower);
    then(polykem_ckks_transform_new, kNumbers, size_t{1}, kValues, size_t{4}, size_t{3}, size_t{1}, &matrix);
    then(polykem_ckks_transform_apply, matrix, sum, turn_keys(), size_t{1}, &moved);
    if (status == POLYKEM_CKKS_OK) status = polykem_ckks_chebyshev_new(kValues, 3, -1, 1, &polynomial);
    then(polykem_ckks_chebyshev_apply, polynomial, sum, square_key, size_t{1}, &values_of);
    then(polykem_ckks_decrypt, secret, lower, &result);
    then(polykem_ckks_decode, result, values, size_t{4});
    return status;
  }

  std::string problem(polykem_ckks_status status) const {
    for (size_t i = 0; i < 4; ++i) {
      const double z = kValues[2 * ((i + 1) % 4)];
      if (status == POLYKEM_CKKS_OK && std::abs(values[2 * i] - z * z) > 0x1p-10) return "another result";
      if (status != POLYKEM_CKKS_OK && values[2 * i] != 7) return "a failed call wrote its output";
    }
    return "";
  }

  const polykem_ckks_switching_key* const* turn_keys() const { return &turn_key; }

  static constexpr long kNumbers[1] = {1};
  static constexpr double kValues[8] = {1, 0, 2, 0, 3, 0, 4, 0};
  unsigned threads;
  double values[8] = {7, 7, 7, 7, 7, 7, 7, 7};
  polykem_ckks_context* context = nullptr;
  polykem_ckks_secret_key* secret = nullptr;
  polykem_ckks_public_key* key = nullptr;
  polykem_ckks_switching_key *square_key = nullptr, *turn_key = nullptr;
  polykem_ckks_plaintexts *plain = nullptr, *result = nullptr;
  polykem_ckks_ciphertexts *sum = nullptr, *product = nullptr, *square = nullptr, *turned = nullptr, *lower = nullptr;
  polykem_ckks_ciphertexts *moved = nullptr, *values_of = nullptr;
  polykem_ckks_transform* matrix = nullptr;
  polykem_ckks_chebyshev* polynomial = nullptr;
};

/// Statuses that both libraries have must be equal.
polykem_status common(polykem_ckks_status status) {
  static_assert(static_cast<int>(POLYKEM_CKKS_ERR_OUT_OF_MEMORY) == POLYKEM_ERR_OUT_OF_MEMORY);
  static_assert(static_cast<int>(POLYKEM_CKKS_ERR_RANDOM) == POLYKEM_ERR_RANDOM);
  return static_cast<polykem_status>(status);
}

Scenario scenario(unsigned threads) {
  auto held = std::make_shared<std::unique_ptr<Circuit>>();
  return {.begin = [held, threads] { *held = std::make_unique<Circuit>(threads); },
          .act = [held] { return common((*held)->run()); },
          .check = [held](polykem_status status) -> std::string {
            return (*held)->problem(static_cast<polykem_ckks_status>(status));
          },
          .end = [held] { held->reset(); },
          .allows = documented};
}

TEST(CkksCalls, Allocations) {
  EXPECT_GT(sweep(Call::kMemory, [] { return scenario(1); }), 100);
}

TEST(CkksCalls, AllocationsWithThreads) {
  EXPECT_GT(sweep(Call::kMemory, [] { return scenario(3); }), 100);
}

TEST(CkksCalls, Threads) {
  EXPECT_GT(sweep(Call::kThread, [] { return scenario(3); }), 10);
}

TEST(CkksCalls, Entropy) {
  EXPECT_GE(sweep(Call::kRandom, [] { return scenario(1); }), 10);
}

}  // namespace
}  // namespace polykem::test
