// SPDX-License-Identifier: Apache-2.0
// Tests whether the time of an operation of the library, as this CPU computes it, depends on secrets: of keygen, for
// one secret and random ones; of decaps, for ciphertexts that fit and others; of sign, for one private key and random
// ones.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <random>
#include <string>

#include "polykem/polykem.h"
#include "support/bytes.hpp"
#include "support/timing.hpp"

namespace polykem::test {

namespace {

constexpr size_t kMeasurements = 100'000, kPool = 64;

/// One parameter set on the best backend of this CPU, one item at a time.
struct Operations {
  explicit Operations(const std::string& set) {
    polykem_config config{};
    config.struct_size = sizeof config;
    config.threads = 1;
    EXPECT_EQ(polykem_context_new(&config, &context), POLYKEM_OK);
    const bool is_kem = polykem_scheme_find(set.c_str(), &scheme) == POLYKEM_OK;
    EXPECT_TRUE(is_kem || polykem_signature_find(set.c_str(), &scheme) == POLYKEM_OK) << set;
    info.struct_size = sizeof info;
    EXPECT_EQ(polykem_scheme_info(scheme, &info), POLYKEM_OK);
  }
  ~Operations() { polykem_context_free(context); }
  Operations(const Operations&) = delete;
  Operations& operator=(const Operations&) = delete;

  polykem_request request(polykem_op op) const {
    polykem_request r{};
    r.struct_size = sizeof r;
    r.op = op;
    r.scheme = scheme;
    r.count = 1;
    return r;
  }
  void run(const polykem_request& r) const { EXPECT_EQ(polykem_run(context, &r), POLYKEM_OK); }

  void keygen(const Bytes& coins, Bytes& pk, Bytes& sk) const {
    pk.resize(info.public_key_bytes);
    sk.resize(info.secret_key_bytes);
    polykem_request r = request(POLYKEM_KEYGEN);
    r.coins = coins.data();
    r.pk_out = pk.data();
    r.sk_out = sk.data();
    run(r);
  }
  Bytes encaps(const Bytes& pk, uint64_t seed) const {
    const Bytes coins = pattern(info.encaps_coin_bytes, seed);
    Bytes ct(info.ciphertext_bytes), ss(info.shared_secret_bytes);
    polykem_request r = request(POLYKEM_ENCAPS);
    r.coins = coins.data();
    r.pk = pk.data();
    r.ct_out = ct.data();
    r.ss_out = ss.data();
    run(r);
    return ct;
  }

  polykem_context* context = nullptr;
  const polykem_scheme* scheme = nullptr;
  polykem_scheme_info_t info{};
};

/// Times `call` with inputs of two classes, drawn in random order and copied to one place.
Times times_of(const std::array<std::vector<Bytes>, 2>& inputs, size_t measurements,
               const std::function<void(const Bytes&)>& call) {
  std::mt19937_64 random(1);
  Bytes input = inputs[0][0];
  Times times;
  for (size_t i = 0; i < measurements; ++i) {
    const size_t chosen = random() % 2;
    const Bytes& source = inputs[chosen][random() % inputs[chosen].size()];
    std::memcpy(input.data(), source.data(), input.size());
    times.add(chosen, static_cast<double>(cycles([&] { call(input); })));
  }
  return times;
}

/// Returns ciphertexts of one key, and others for which decapsulation gives a rejection's secret.
std::array<std::vector<Bytes>, 2> ciphertexts(const Operations& set, const Bytes& pk) {
  std::array<std::vector<Bytes>, 2> out;
  for (size_t i = 0; i < kPool; ++i) {
    out[0].push_back(set.encaps(pk, i + 1));
    out[1].push_back(set.encaps(pk, kPool + i + 1));
    out[1].back()[i * 7 % set.info.ciphertext_bytes] ^= 1;
  }
  return out;
}

class Timing : public ::testing::TestWithParam<const char*> {};

TEST_P(Timing, DecapsulationTakesTheSameTimeForRejectedCiphertexts) {
  const Operations set(GetParam());
  Bytes pk, sk, ss(set.info.shared_secret_bytes);
  set.keygen(pattern(set.info.keygen_coin_bytes, 1), pk, sk);
  polykem_request r = set.request(POLYKEM_DECAPS);
  r.sk = sk.data();
  r.ss_out = ss.data();
  const Times times = times_of(ciphertexts(set, pk), kMeasurements, [&](const Bytes& ct) {
    r.ct = ct.data();
    set.run(r);
  });
  EXPECT_LT(times.difference(), kLeak);
}

INSTANTIATE_TEST_SUITE_P(Sets, Timing,
                         testing::Values("mlkem768", "ntruhps2048509", "saber", "lac128", "efrodokem640aes"),
                         [](const auto& info) { return std::string(info.param); });

/// Sets whose key generation rejects no public samples, which would take time.
class KeygenTiming : public Timing {};

TEST_P(KeygenTiming, TakesTheSameTimeForAllSecrets) {
  const Operations set(GetParam());
  std::array<std::vector<Bytes>, 2> coins;
  coins[1].push_back(pattern(set.info.keygen_coin_bytes, kPool + 1));
  for (size_t i = 0; i < kPool; ++i)
    coins[0].push_back(pattern(set.info.keygen_coin_bytes, i + 1));
  Bytes pk, sk;
  const Times times = times_of(coins, kMeasurements, [&](const Bytes& chosen) { set.keygen(chosen, pk, sk); });
  EXPECT_LT(times.difference(), kLeak);
}

INSTANTIATE_TEST_SUITE_P(Sets, KeygenTiming, testing::Values("ntruhps2048509", "saber", "efrodokem640aes"),
                         [](const auto& info) { return std::string(info.param); });

/// ML-DSA's attempts are public and random: a drawn nonce makes them so for each key alike.
TEST(SignatureTiming, TakesTheSameTimeForAllPrivateKeys) {
  const Operations set("mldsa44");
  std::array<std::vector<Bytes>, 2> keys;
  for (size_t i = 0; i < kPool; ++i) {
    Bytes pk, sk;
    set.keygen(pattern(set.info.keygen_coin_bytes, i + 1), pk, sk);
    keys[i == 0 ? 1 : 0].push_back(sk);
  }
  const Bytes text(32, 1);
  polykem_messages messages{};
  messages.struct_size = sizeof messages;
  messages.strings = {text.data(), nullptr, text.size(), 0};
  Bytes signature(set.info.signature_bytes);
  polykem_request r = set.request(POLYKEM_SIGN);
  r.messages = &messages;
  r.sig_out = signature.data();
  const Times times = times_of(keys, kMeasurements, [&](const Bytes& sk) {
    r.sk = sk.data();
    set.run(r);
  });
  EXPECT_LT(times.difference(), kLeak);
}

/// Tests the test with a leak: some cycles for each bit that is set in the first byte of a shared secret.
TEST(TimingLeak, IsFound) {
  const Operations set("mlkem768");
  Bytes pk, sk, ss(set.info.shared_secret_bytes);
  set.keygen(pattern(set.info.keygen_coin_bytes, 1), pk, sk);
  std::array<std::vector<Bytes>, 2> inputs = ciphertexts(set, pk);
  inputs[1].resize(1);  // one secret
  polykem_request r = set.request(POLYKEM_DECAPS);
  r.sk = sk.data();
  r.ss_out = ss.data();
  volatile uint32_t work = 0;
  const Times times = times_of(inputs, kMeasurements, [&](const Bytes& ct) {
    r.ct = ct.data();
    set.run(r);
    for (uint8_t byte : ss)
      for (; byte != 0; byte = static_cast<uint8_t>(byte & (byte - 1)))
        work = work + 1;
  });
  EXPECT_GT(times.difference(), kLeak);
}

}  // namespace
}  // namespace polykem::test
