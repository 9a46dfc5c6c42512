// SPDX-License-Identifier: Apache-2.0
// Tests whether the time of an operation of the library, as this CPU computes it, depends on secrets: of keygen, for
// one secret and random ones; of decaps, for ciphertexts that fit and others; of sign, for one private key and random
// ones. Each test says which difference it would find. Leaks planted in each operation must be found.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "polykem/polykem.h"
#include "support/bytes.hpp"
#include "support/timing.hpp"

namespace polykem::test {

namespace {

constexpr size_t kMeasurements = 100'000, kPool = 64;

using Classes = std::array<std::vector<Bytes>, 2>;

int bits_set(const Bytes& bytes) {
  int count = 0;
  for (const uint8_t byte : bytes)
    count += std::popcount(byte);
  return count;
}

/// Puts the input with the fewest bits set, of those in class 0, into class 1.
void move_lightest(Classes& inputs) {
  const auto lightest = std::min_element(inputs[0].begin(), inputs[0].end(),
                                         [](const Bytes& a, const Bytes& b) { return bits_set(a) < bits_set(b); });
  inputs[1] = {*lightest};
  inputs[0].erase(lightest);
}

/// A leak: takes some cycles for each bit that is set.
void work_for_bits(const Bytes& secret) {
  static volatile uint32_t work = 0;
  for (uint8_t byte : secret)
    for (; byte != 0; byte = static_cast<uint8_t>(byte & (byte - 1)))
      work = work + 1;
}

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
Times times_of(const Classes& inputs, const std::function<void(const Bytes&)>& call) {
  static uint64_t measurement = 0;  // each draws another order
  std::mt19937_64 random(++measurement);
  Bytes input = inputs[0][0];
  Times times;
  for (size_t i = 0; i < kMeasurements; ++i) {
    const size_t chosen = random() % 2;
    const Bytes& source = inputs[chosen][random() % inputs[chosen].size()];
    std::memcpy(input.data(), source.data(), input.size());
    times.add(chosen, static_cast<double>(cycles([&] { call(input); })));
  }
  return times;
}

/// Returns ciphertexts of one key, and others for which decapsulation gives a rejection's secret.
Classes ciphertexts(const Operations& set, const Bytes& pk) {
  Classes out;
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
  const Classes inputs = ciphertexts(set, pk);
  expect_verdict(Verdict::kEqual, [&] {
    return times_of(inputs, [&](const Bytes& ct) {
      r.ct = ct.data();
      set.run(r);
    });
  });
}

INSTANTIATE_TEST_SUITE_P(Sets, Timing,
                         testing::Values("mlkem768", "ntruhps2048509", "saber", "lac128", "efrodokem640aes"),
                         [](const auto& info) { return std::string(info.param); });

/// Sets whose key generation rejects no public samples, which would take time.
class KeygenTiming : public Timing {};

Classes key_coins(const Operations& set) {
  Classes coins;
  for (size_t i = 0; i <= kPool; ++i)
    coins[0].push_back(pattern(set.info.keygen_coin_bytes, i + 1));
  move_lightest(coins);
  return coins;
}

TEST_P(KeygenTiming, TakesTheSameTimeForAllSecrets) {
  const Operations set(GetParam());
  Bytes pk, sk;
  const Classes inputs = key_coins(set);
  expect_verdict(Verdict::kEqual,
                 [&] { return times_of(inputs, [&](const Bytes& coins) { set.keygen(coins, pk, sk); }); });
}

INSTANTIATE_TEST_SUITE_P(Sets, KeygenTiming, testing::Values("ntruhps2048509", "saber", "efrodokem640aes"),
                         [](const auto& info) { return std::string(info.param); });

/// Signatures by ML-DSA whose first attempt succeeds, since the number of attempts is public. All keys have the matrix
/// of the first: for the time it does not matter that this does not fit their public keys.
class Signatures {
 public:
  Signatures() {
    Bytes pk;
    set_.keygen(pattern(set_.info.keygen_coin_bytes, 1), pk, first_key_);
    messages_.struct_size = sizeof messages_;
    messages_.strings = {text_.data(), nullptr, text_.size(), 0};
    for (size_t i = 0; i < 20; ++i)
      one_attempt_ = std::min(one_attempt_, least_time(with_coins(first_key_, i)));
  }

  /// Returns inputs of sign(): one key in class 1, others in class 0.
  Classes inputs() {
    Classes out;
    for (size_t key = 0; key < kInputs; ++key) {
      Bytes pk, sk;
      set_.keygen(pattern(set_.info.keygen_coin_bytes, key + 2), pk, sk);
      std::memcpy(sk.data(), first_key_.data(), kSeedBytes);
      out[0].push_back(of_one_attempt(sk, key));
      out[1].push_back(of_one_attempt(first_key_, kInputs + key));
    }
    return out;
  }

  /// input: a private key and the coins of a signature.
  void sign(const Bytes& input) {
    polykem_request r = set_.request(POLYKEM_SIGN);
    r.messages = &messages_;
    r.sk = input.data();
    r.coins = input.data() + set_.info.secret_key_bytes;
    r.sig_out = signature_.data();
    set_.run(r);
  }

  const Operations& set() const { return set_; }

 private:
  static constexpr size_t kInputs = 1000;  ///< in each class; fewer would show the public challenges' times
  static constexpr size_t kSeedBytes = 32;

  Bytes with_coins(const Bytes& sk, uint64_t seed) const {
    const Bytes coins = pattern(set_.info.sign_coin_bytes, seed);
    Bytes out = sk;
    out.insert(out.end(), coins.begin(), coins.end());
    return out;
  }
  Bytes of_one_attempt(const Bytes& sk, uint64_t number) {
    constexpr size_t kTries = 1000;  // one in four succeeds
    for (size_t i = 0; i < kTries; ++i) {
      const Bytes input = with_coins(sk, number * kTries + i);
      if (static_cast<double>(least_time(input)) < 1.2 * static_cast<double>(one_attempt_)) return input;
    }
    ADD_FAILURE() << "a private key takes longer than others for one attempt";
    return with_coins(sk, 0);
  }
  uint64_t least_time(const Bytes& input) {
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < 4; ++i)
      least = std::min(least, cycles([&] { sign(input); }));
    return least;
  }

  const Operations set_{"mldsa44"};
  const Bytes text_ = Bytes(32, 1);
  polykem_messages messages_{};
  Bytes first_key_, signature_ = Bytes(set_.info.signature_bytes);
  uint64_t one_attempt_ = UINT64_MAX;
};

TEST(SignatureTiming, TakesTheSameTimeForAllPrivateKeys) {
  Signatures signatures;
  const Classes inputs = signatures.inputs();
  expect_verdict(Verdict::kEqual,
                 [&] { return times_of(inputs, [&](const Bytes& input) { signatures.sign(input); }); });
}

TEST(TimingLeak, OfASharedSecretIsFound) {
  const Operations set("mlkem768");
  Bytes pk, sk, ss(set.info.shared_secret_bytes);
  set.keygen(pattern(set.info.keygen_coin_bytes, 1), pk, sk);
  polykem_request r = set.request(POLYKEM_DECAPS);
  r.sk = sk.data();
  r.ss_out = ss.data();
  const auto decaps = [&](const Bytes& ct) {
    r.ct = ct.data();
    set.run(r);
  };
  Classes inputs = ciphertexts(set, pk);
  const auto ones = [&](const Bytes& ct) {
    decaps(ct);
    return bits_set(ss);
  };
  inputs[1] = {*std::min_element(inputs[0].begin(), inputs[0].end(),
                                 [&](const Bytes& a, const Bytes& b) { return ones(a) < ones(b); })};
  expect_verdict(Verdict::kDiffer, [&] {
    return times_of(inputs, [&](const Bytes& ct) {
      decaps(ct);
      work_for_bits(ss);
    });
  });
}

TEST(TimingLeak, OfKeyCoinsIsFound) {
  const Operations set("saber");
  Bytes pk, sk;
  const Classes inputs = key_coins(set);
  expect_verdict(Verdict::kDiffer, [&] {
    return times_of(inputs, [&](const Bytes& coins) {
      set.keygen(coins, pk, sk);
      work_for_bits(coins);
    });
  });
}

TEST(TimingLeak, OfAPrivateKeyIsFound) {
  Signatures signatures;
  Classes inputs = signatures.inputs();
  const auto secret_half = [&](const Bytes& input) {
    return Bytes(input.begin() + 128, input.begin() + 896);
  };  // s1, s2
  const auto lighter = [&](const Bytes& a, const Bytes& b) {
    return bits_set(secret_half(a)) < bits_set(secret_half(b));
  };
  inputs[1] = {*std::min_element(inputs[0].begin(), inputs[0].end(), lighter)};
  expect_verdict(Verdict::kDiffer, [&] {
    return times_of(inputs, [&](const Bytes& input) {
      signatures.sign(input);
      work_for_bits(secret_half(input));
    });
  });
}

}  // namespace
}  // namespace polykem::test
