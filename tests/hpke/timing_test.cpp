// SPDX-License-Identifier: Apache-2.0
// Tests whether the time of libcrypto's X25519 depends on the secret key. As in dudect, it times one secret key
// (class 1) and random ones (class 0) in random order, and applies Welch's t-test.
#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <random>

#include "support/timing.hpp"

namespace polykem::hpke::test {
namespace {

using polykem::test::cycles, polykem::test::expect_verdict, polykem::test::Times, polykem::test::Verdict;

constexpr std::size_t kMeasurements = 60'000, kBytes = 32;

using Scalar = std::array<std::uint8_t, kBytes>;
using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using KeyContext = std::unique_ptr<EVP_PKEY_CTX, decltype(&EVP_PKEY_CTX_free)>;

Key secret_key(const Scalar& scalar) {
  return {EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, nullptr, scalar.data(), kBytes), EVP_PKEY_free};
}

/// Times a call, for which the test prepares a secret key in the same way for both classes.
Times times_of(const std::function<std::uint64_t(const Scalar&)>& cycles_with) {
  static std::uint64_t measurement = 0;  // each draws another order
  std::mt19937_64 random(++measurement);
  Times times;
  Scalar fixed{}, scalar{};  // the fixed one has the fewest bits that are set
  for (std::size_t i = 0; i < kMeasurements; ++i) {
    const std::size_t chosen = random() % 2;
    std::generate(scalar.begin(), scalar.end(), [&] { return static_cast<std::uint8_t>(random()); });
    if (chosen == 1) scalar = fixed;
    times.add(chosen, static_cast<double>(cycles_with(scalar)));
  }
  return times;
}

class Timing : public ::testing::Test {
 protected:
  /// Returns the cycles of X25519 with the peer, followed by `then`, which gets the scalar.
  template <class Then>
  std::uint64_t shared_secret(const Scalar& scalar, const Then& then) {
    const Key own = secret_key(scalar);
    const KeyContext context(EVP_PKEY_CTX_new(own.get(), nullptr), EVP_PKEY_CTX_free);
    EXPECT_EQ(EVP_PKEY_derive_init(context.get()), 1);
    EXPECT_EQ(EVP_PKEY_derive_set_peer(context.get(), peer_.get()), 1);
    Scalar secret;
    std::size_t bytes = kBytes;
    int done = 0;
    const std::uint64_t taken = cycles([&] {
      done = EVP_PKEY_derive(context.get(), secret.data(), &bytes);
      then(scalar);
    });
    EXPECT_EQ(done, 1);
    return taken;
  }

 private:
  Key peer_ = secret_key({1, 2, 3});
};

TEST_F(Timing, LibcryptosX25519TakesTheSameTimeForAllScalars) {
  expect_verdict(Verdict::kEqual, [&] {
    return times_of([&](const Scalar& scalar) { return shared_secret(scalar, [](const Scalar&) {}); });
  });
}

TEST_F(Timing, LibcryptosPublicKeysTakeTheSameTimeForAllScalars) {
  expect_verdict(Verdict::kEqual, [] {
    return times_of([](const Scalar& scalar) {
      Key key(nullptr, EVP_PKEY_free);
      return cycles([&] { key = secret_key(scalar); });
    });
  });
}

/// Tests the test with a leak: a few cycles for each bit of the scalar that is set.
TEST_F(Timing, ADependenceIsFound) {
  volatile std::uint32_t work = 0;
  const auto leak = [&](const Scalar& secret) {
    for (std::size_t bit = 0; bit < 8 * kBytes; ++bit)
      if (((secret[bit / 8] >> (bit % 8)) & 1) != 0) work = work + 1;
  };
  expect_verdict(Verdict::kDiffer,
                 [&] { return times_of([&](const Scalar& scalar) { return shared_secret(scalar, leak); }); });
}

}  // namespace
}  // namespace polykem::hpke::test
