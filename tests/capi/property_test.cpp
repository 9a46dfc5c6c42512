// SPDX-License-Identifier: Apache-2.0
// Tests properties that hold for every set on every backend and all inputs.
#include <algorithm>
#include <cstring>
#include <functional>
#include <span>

#include "prim/keccak/keccak.hpp"
#include "schemes/lac/sha256/sha256.hpp"
#include "support/batch.hpp"
#include "support/memory.hpp"

namespace polykem::test {
namespace {

struct Case {
  std::string set, backend;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.set << " on " << c.backend;
}

class Property : public testing::TestWithParam<Case> {
 protected:
  /// Fewer items of the sets that take long.
  size_t items(size_t count) const { return sizes_.ciphertext_bytes > 5000 ? count / 8 + 1 : count; }

  Context context_ = make_context(GetParam().backend.c_str(), 2);
  const polykem_scheme* set_ = scheme(GetParam().set);
  polykem_scheme_info_t sizes_ = info(set_);
  const size_t secret_bytes_ = sizes_.shared_secret_bytes;
};

TEST_P(Property, RoundTripWithAKeyPerItem) {
  const Exchange exchange(context_.get(), set_, items(130), 11);
  EXPECT_EQ(exchange.sender, exchange.receiver);
}

Bytes shake(Shake::Strength strength, size_t bytes, std::span<const uint8_t> first, std::span<const uint8_t> second) {
  Bytes out(bytes);
  Shake shake(strength);
  shake.absorb(first);
  shake.absorb(second);
  shake.squeeze(out);
  return out;
}

/// The secret of a ciphertext that does not decapsulate: [NTRU20, Decapsulate], [FIPS203, Alg 18, L7],
/// [KYBER21, Alg 9], [FRODO21, Decaps], [SABER20, Saber.KEM.Decaps], [LAC19, LAC.CCA.Dec].
Bytes rejection_secret(const polykem_scheme_info_t& set, const Bytes& sk, const Bytes& ct) {
  const std::string name = set.name;
  const auto z = std::span(sk).last(32);
  Bytes hash(32);
  if (name.rfind("ntru", 0) == 0) {
    sha3_256(hash.data(), z, ct);
    return hash;
  }
  if (name.rfind("mlkem", 0) == 0) return shake(Shake::Strength::kShake256, 32, z, ct);
  if (name.rfind("kyber", 0) == 0) {
    sha3_256(hash.data(), ct);
    return shake(Shake::Strength::kShake256, 32, z, hash);
  }
  if (name.find("saber") != std::string::npos) {
    sha3_256(hash.data(), ct);
    const Bytes ct_hash = hash;
    sha3_256(hash.data(), z, ct_hash);
    return hash;
  }
  if (name.rfind("lac", 0) == 0) {  // LAC has no PRF key: it hashes its secret polynomial [LAC19, LAC.CCA.Dec]
    Bytes text(32);
    sha256_portable({text.data(), 32}, {sk.data(), 0}, set.public_key_at, 1);
    text.insert(text.end(), ct.begin(), ct.end());
    sha256_portable({hash.data(), 32}, {text.data(), 0}, text.size(), 1);
    return hash;
  }
  const auto strength = name.find("640") != std::string::npos ? Shake::Strength::kShake128 : Shake::Strength::kShake256;
  return shake(strength, set.shared_secret_bytes, ct, std::span(sk).first(set.shared_secret_bytes));
}

/// HRSS accepts every ternary m, so a flip that moves m / (x - 1) within {-1, 0, 1} gives another valid ciphertext: it
/// takes the two low bits of a coefficient near the end, because x^i - x^(n-1) over x - 1 is the run x^i + ... +
/// x^(n-2).
bool may_stay_valid(const std::string& set, size_t bit) {
  if (set.rfind("ntruhrss", 0) != 0) return false;
  const size_t n = set == "ntruhrss701" ? 701 : 1373, logq = set == "ntruhrss701" ? 13 : 14;
  return bit / logq + 64 > n && bit % logq < 2;
}

/// Sets of a single KEM; tests/schemes/hybrid_test.cpp has the hybrids.
class Rejection : public Property {};

TEST_P(Rejection, AnyFlippedCiphertextBitYieldsTheRejectionSecret) {
  const Exchange one(context_.get(), set_, 1, 21);
  const size_t bits = 8 * sizes_.ciphertext_bytes;
  const size_t stride = bits / items(400) + 1;
  Bytes ct, expected;
  for (size_t bit = 0; bit < bits; bit += bit + 16 < bits ? stride : 1) {
    if (may_stay_valid(GetParam().set, bit)) continue;
    Bytes changed = one.ct;
    changed[bit / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
    const Bytes secret = rejection_secret(sizes_, one.sk, changed);
    ct.insert(ct.end(), changed.begin(), changed.end());
    expected.insert(expected.end(), secret.begin(), secret.end());
  }
  Bytes ss(expected.size());
  ASSERT_EQ(polykem_decaps(context_.get(), set_, ss.size() / secret_bytes_, POLYKEM_KEY_SHARED, one.sk.data(),
                           ct.data(), ss.data(), nullptr),
            POLYKEM_OK);
  EXPECT_TRUE(ss == expected);
}

TEST_P(Property, ASecretKeyHoldsThePublicKeyWhereTheSetSays) {
  const Exchange one(context_.get(), set_, 1, 5);
  const auto held = std::search(one.sk.begin(), one.sk.end(), one.pk.begin(), one.pk.end());
  EXPECT_EQ(held == one.sk.end() ? SIZE_MAX : static_cast<size_t>(held - one.sk.begin()), sizes_.public_key_at);
}

TEST_P(Property, ItemsDoNotTouchEachOther) {
  const size_t count = items(70);
  const Exchange all(context_.get(), set_, count, 31);
  Bytes ct = all.ct;
  for (size_t i = 0; i < count; i += 3)
    ct[i * sizes_.ciphertext_bytes + sizes_.ciphertext_bytes / 2 + i] ^= 1;
  Bytes ss(count * secret_bytes_);
  ASSERT_EQ(
      polykem_decaps(context_.get(), set_, count, POLYKEM_KEY_PER_ITEM, all.sk.data(), ct.data(), ss.data(), nullptr),
      POLYKEM_OK);
  for (size_t i = 0; i < count; ++i) {
    EXPECT_EQ(std::memcmp(&ss[i * secret_bytes_], &all.sender[i * secret_bytes_], secret_bytes_) == 0, i % 3 != 0) << i;
  }
}

TEST_P(Property, AKeyOfAnotherItemDoesNotDecapsulate) {
  const size_t count = items(40);
  const Exchange all(context_.get(), set_, count, 41);
  Bytes rotated(all.sk.begin() + static_cast<ptrdiff_t>(sizes_.secret_key_bytes), all.sk.end());
  rotated.insert(rotated.end(), all.sk.begin(), all.sk.begin() + static_cast<ptrdiff_t>(sizes_.secret_key_bytes));
  Bytes ss(count * secret_bytes_);
  ASSERT_EQ(polykem_decaps(context_.get(), set_, count, POLYKEM_KEY_PER_ITEM, rotated.data(), all.ct.data(), ss.data(),
                           nullptr),
            POLYKEM_OK);
  for (size_t i = 0; i < count; ++i)
    EXPECT_NE(0, std::memcmp(&ss[i * secret_bytes_], &all.sender[i * secret_bytes_], secret_bytes_)) << i;
}

TEST_P(Property, EqualCoinsGiveEqualResultsWhereverTheyStandInTheBatch) {
  const size_t count = items(67);
  const Exchange all(context_.get(), set_, count, 51);
  const Bytes coins = pattern(count * sizes_.keygen_coin_bytes, 51);
  for (const size_t item : {size_t{0}, std::min<size_t>(31, count / 2), std::min<size_t>(32, count / 3), count - 1}) {
    Bytes pk(sizes_.public_key_bytes), sk(sizes_.secret_key_bytes);
    auto request = make_request(POLYKEM_KEYGEN, set_, 1);
    request.coins = &coins[item * sizes_.keygen_coin_bytes];
    request.pk_out = pk.data();
    request.sk_out = sk.data();
    ASSERT_EQ(polykem_run(context_.get(), &request), POLYKEM_OK);
    EXPECT_EQ(0, std::memcmp(pk.data(), &all.pk[item * pk.size()], pk.size()));
    EXPECT_EQ(0, std::memcmp(sk.data(), &all.sk[item * sk.size()], sk.size()));
  }
}

/// The outputs and statuses of a batch.
struct Outcome {
  polykem_status status;
  std::vector<polykem_status> items;
  Bytes ct, ss;
  bool operator==(const Outcome&) const = default;
};

Outcome decaps(polykem_context* context, const polykem_scheme* set, size_t count, const Bytes& sk, const Bytes& ct) {
  Outcome out{POLYKEM_OK, std::vector<polykem_status>(count), {}, Bytes(count * info(set).shared_secret_bytes)};
  out.status =
      polykem_decaps(context, set, count, POLYKEM_KEY_PER_ITEM, sk.data(), ct.data(), out.ss.data(), out.items.data());
  return out;
}

Outcome encaps(polykem_context* context, const polykem_scheme* set, size_t count, const Bytes& pk, const Bytes& coins) {
  const auto sizes = info(set);
  Outcome out{POLYKEM_OK, std::vector<polykem_status>(count), Bytes(count * sizes.ciphertext_bytes),
              Bytes(count * sizes.shared_secret_bytes)};
  auto request = make_request(POLYKEM_ENCAPS, set, count);
  request.pk = pk.data();
  request.coins = coins.data();
  request.ct_out = out.ct.data();
  request.ss_out = out.ss.data();
  request.item_status = out.items.data();
  out.status = polykem_run(context, &request);
  return out;
}

/// ML-KEM's secret keys hold a hash of the public key, without which they are refused. [FIPS203, 7.3]
void repair_hashes(const polykem_scheme_info_t& set, Bytes& sk) {
  if (set.secret_seed_bytes == 0) return;
  for (size_t at = set.secret_key_bytes; at <= sk.size(); at += set.secret_key_bytes) {
    uint8_t* hash = &sk[at - 64];
    sha3_256(hash, std::span(hash - set.public_key_bytes, set.public_key_bytes));
  }
}

/// Arbitrary keys, ciphertexts and coins: filled with one byte, or pseudorandom.
struct Garbage {
  static constexpr int kRandom = -1;

  Garbage(const polykem_scheme_info_t& set, size_t count, int fill, uint64_t seed) {
    const auto filled = [&](size_t bytes) {
      seed += 1;
      return fill == kRandom ? pattern(count * bytes, seed) : Bytes(count * bytes, static_cast<uint8_t>(fill));
    };
    sk = filled(set.secret_key_bytes);
    pk = filled(set.public_key_bytes);
    ct = filled(set.ciphertext_bytes);
    encaps_coins = filled(set.encaps_coin_bytes);
    repair_hashes(set, sk);
  }
  Bytes sk, pk, ct, encaps_coins;
};

/// `ref` computes once, and every other backend must have the same results.
class Differential : public testing::TestWithParam<std::string> {
 protected:
  /// Calls `outcome(context)` for `ref` and for every other backend of the set, which must agree.
  template <class F>
  void expect_agreement(F&& outcome, unsigned threads = 2) {
    const Context reference = make_context("ref", 2);
    const auto expected = outcome(reference.get());
    for (const auto& backend : available_backends()) {
      const Context context = make_context(backend.c_str(), threads);
      if (backend == "ref" || !computes(backend, info(set_).name)) continue;
      EXPECT_TRUE(outcome(context.get()) == expected) << backend;
    }
  }

  /// Fewer items of the sets that take long.
  size_t items(size_t count) const { return sizes_.ciphertext_bytes > 5000 ? count / 8 + 1 : count; }

  const polykem_scheme* set_ = scheme(GetParam());
  polykem_scheme_info_t sizes_ = info(set_);
};

TEST_P(Differential, AgreesWithTheReferenceOnRandomAndExtremeInputs) {
  for (const size_t count : {size_t{1}, size_t{5}, items(33), items(96)}) {
    SCOPED_TRACE(count);
    expect_agreement([&](polykem_context* context) {
      const Exchange made(context, set_, count, 61 + count);
      return std::vector{made.pk, made.sk, made.ct, made.sender, made.receiver};
    });
    for (const int fill : {0x00, 0xff, 0x55, Garbage::kRandom}) {
      SCOPED_TRACE(fill);
      const Garbage garbage(sizes_, count, fill, count);
      expect_agreement([&](polykem_context* context) {
        return std::pair(decaps(context, set_, count, garbage.sk, garbage.ct),
                         encaps(context, set_, count, garbage.pk, garbage.encaps_coins));
      });
    }
  }
}

/// Keys of one chunk may share an inversion: one whose coins are zero, so that f or g may have no inverse, must not
/// show in the others.
class SharedInversions : public Differential {};

TEST_P(SharedInversions, AgreeWithTheReferenceOnManyKeysSomeOfThemZero) {
  const size_t count = items(150), bytes = sizes_.keygen_coin_bytes;
  Bytes coins = pattern(count * bytes, 81);
  for (size_t i = 3; i < count; i += 7)
    std::fill_n(&coins[i * bytes], i % 2 == 0 ? bytes : bytes / 2, uint8_t{0});
  const auto keygen = [&](polykem_context* context) {
    Bytes keys(count * (sizes_.public_key_bytes + sizes_.secret_key_bytes));
    auto request = make_request(POLYKEM_KEYGEN, set_, count);
    request.coins = coins.data();
    request.pk_out = keys.data();
    request.sk_out = &keys[count * sizes_.public_key_bytes];
    EXPECT_EQ(polykem_run(context, &request), POLYKEM_OK);
    return keys;
  };
  expect_agreement(keygen, 1);  // on one thread a chunk is as large as it gets
}

class MemoryUse : public Property {};

/// The engine's own memory does not grow with the batch. A copy of the ciphertexts, 6 MB at least, would show.
TEST_P(MemoryUse, ALargeBatchNeedsLittleMemoryBeyondItsBuffers) {
  const bool on_gpu = GetParam().backend == "cuda";
  const size_t count = on_gpu ? 131072 : 6'000'000 / sizes_.ciphertext_bytes + 1;
  // A first batch lets every thread take its workspace, or opens all GPUs of a host, for which the driver takes memory.
  const size_t opening = on_gpu ? count / 2 : 128;
  const Exchange one(context_.get(), set_, 1, 71);
  Bytes ct, ss(count * secret_bytes_, 1);
  for (ct.reserve(count * sizes_.ciphertext_bytes); ct.size() < count * sizes_.ciphertext_bytes;)
    ct.insert(ct.end(), one.ct.begin(), one.ct.end());
  const auto decaps = [&](size_t items) {
    return polykem_decaps(context_.get(), set_, items, POLYKEM_KEY_SHARED, one.sk.data(), ct.data(), ss.data(),
                          nullptr);
  };
  ASSERT_EQ(decaps(opening), POLYKEM_OK);
  const MemoryRise rise;
  if (!rise.measures()) GTEST_SKIP() << MemoryRise::kWhyNot;
  ASSERT_EQ(decaps(count), POLYKEM_OK);
  EXPECT_LT(rise.kilobytes(), 4u * 1024) << "kB";
}

TEST(MemoryRise, SeesWhatIsTaken) {
  const MemoryRise rise;
  if (!rise.measures()) GTEST_SKIP() << MemoryRise::kWhyNot;
  const Bytes taken(8 << 20, 1);
  EXPECT_GE(rise.kilobytes(), 8u * 1024 - 256);
}

bool is(const std::string& set, std::initializer_list<const char*> of) {
  return std::find(of.begin(), of.end(), set) != of.end();
}

/// FrodoKEM takes its parameters at run time: a set of each modulus, with and without a salt, with AES and with SHAKE,
/// runs all its code. LAC's mended sets leave out one step. The known answers are of every set on every backend.
bool adds_code(const std::string& set) {
  if (set.ends_with("_ctrfix")) return false;
  return set.find("frodokem") == std::string::npos ||
         is(set, {"efrodokem640aes", "frodokem640shake", "frodokem976aes"});
}

/// Sets that only `make test-full` runs: those that add no code, and those that are slow on `ref`.
bool is_quick(const Case& c) {
  return adds_code(c.set) && (c.backend != "ref" || !is(c.set, {"ntruhps40961229", "ntruhrss1373", "frodokem976aes"}));
}

template <class Keep>
std::vector<Case> cases(Keep&& keep) {
  std::vector<Case> all;
  for (const auto& backend : available_backends()) {
    for (const auto& name : scheme_names()) {
      const Case one{name, backend};
      if (computes(backend, name) && keep(one)) all.push_back(one);
    }
  }
  return all;
}

template <class Keep>
std::vector<std::string> sets(Keep&& keep) {
  auto names = scheme_names();
  std::erase_if(names, [&](const std::string& name) { return !keep(name); });
  return names;
}

/// On `ref` six megabytes of ciphertexts take seconds.
bool is_quick_for_memory(const Case& c) {
  return is_quick(c) && (c.backend != "ref" || is(c.set, {"ntruhps2048509", "mlkem512"}));
}

bool is_hybrid(const Case& c) {
  return std::string(info(scheme(c.set)).family) == "hybrid";
}

bool is_ntru(const std::string& set) {
  return set.starts_with("ntru");
}

std::string case_name(const testing::TestParamInfo<Case>& info) {
  return test_name({info.param.set, info.param.backend});
}

const auto kSetName = [](const auto& info) { return info.param; };

INSTANTIATE_TEST_SUITE_P(All, Property, testing::ValuesIn(cases(is_quick)), case_name);
INSTANTIATE_TEST_SUITE_P(Full, Property, testing::ValuesIn(cases(std::not_fn(is_quick))), case_name);
INSTANTIATE_TEST_SUITE_P(All, Rejection,
                         testing::ValuesIn(cases([](const Case& c) { return is_quick(c) && !is_hybrid(c); })),
                         case_name);
INSTANTIATE_TEST_SUITE_P(Full, Rejection,
                         testing::ValuesIn(cases([](const Case& c) { return !is_quick(c) && !is_hybrid(c); })),
                         case_name);
INSTANTIATE_TEST_SUITE_P(All, MemoryUse, testing::ValuesIn(cases(is_quick_for_memory)), case_name);
INSTANTIATE_TEST_SUITE_P(Full, MemoryUse, testing::ValuesIn(cases(std::not_fn(is_quick_for_memory))), case_name);
INSTANTIATE_TEST_SUITE_P(All, Differential, testing::ValuesIn(sets(adds_code)), kSetName);
INSTANTIATE_TEST_SUITE_P(Full, Differential, testing::ValuesIn(sets(std::not_fn(adds_code))), kSetName);
INSTANTIATE_TEST_SUITE_P(All, SharedInversions, testing::ValuesIn(sets(is_ntru)), kSetName);

}  // namespace
}  // namespace polykem::test
