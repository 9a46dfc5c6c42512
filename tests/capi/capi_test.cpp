// SPDX-License-Identifier: Apache-2.0
// Tests the C API: its promises, and its errors for wrong arguments.
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <set>
#include <sstream>

#include "support/batch.hpp"

namespace polykem::test {
namespace {

/// Decapsulation of the exchange's ciphertexts.
polykem_request decaps_of(const Exchange& x, const polykem_scheme* set, Bytes& ss) {
  polykem_request request = make_request(POLYKEM_DECAPS, set, ss.size() / 32);
  request.sk = x.sk.data();
  request.ct = x.ct.data();
  request.ss_out = ss.data();
  return request;
}

class Api : public testing::Test {
 protected:
  Context context_ = make_context();
  const polykem_scheme* set_ = scheme("ntruhps2048509");
  polykem_scheme_info_t sizes_ = info(set_);
};

TEST_F(Api, FindsSetsByNameTitleAndAnySpelling) {
  for (const char* name : {"ntruhps4096821", "NTRU-HPS-4096-821", "ntru_hps_4096_821", "NtruHps4096821"}) {
    EXPECT_EQ(scheme(name), scheme("ntruhps4096821")) << name;
  }
  const polykem_scheme* found = nullptr;
  EXPECT_EQ(polykem_scheme_find("ntruhps4096822", &found), POLYKEM_ERR_UNKNOWN_SCHEME);
  EXPECT_EQ(found, nullptr);
  EXPECT_STREQ(polykem_scheme_suggest("ntruhps4096822"), "ntruhps4096821");
  EXPECT_STREQ(polykem_scheme_suggest("hrss-702"), "ntruhrss701");
  EXPECT_EQ(polykem_scheme_find(nullptr, &found), POLYKEM_ERR_ARGUMENT);
  EXPECT_EQ(polykem_scheme_at(polykem_scheme_count()), nullptr);
}

TEST(Schemes, LacIsForResearchOnlyAndItsVectorFilesNamesAreAliases) {
  for (const auto& name : scheme_names())
    EXPECT_EQ(info(scheme(name)).research, name.starts_with("lac") ? 1 : 0) << name;
  EXPECT_EQ(scheme("lac128_r2"), scheme("lac128"));
  EXPECT_EQ(scheme("LAC-256-R2"), scheme("lac256"));
  EXPECT_NE(scheme("lac192_r2_ctrfix"), scheme("lac192"));
}

TEST(Schemes, ListTheirAliases) {
  for (const auto& name : scheme_names()) {
    const polykem_scheme_info_t set = info(scheme(name));
    for (size_t i = 0; i < set.alias_count; ++i)
      EXPECT_EQ(scheme(set.aliases[i]), scheme(name)) << set.aliases[i];
  }
  const polykem_scheme_info_t xwing = info(scheme("X-Wing"));
  ASSERT_EQ(xwing.alias_count, 1U);
  EXPECT_STREQ(xwing.aliases[0], "X-Wing");
  EXPECT_STREQ(polykem_signature_suggest("ML-DSA-66"), "mldsa65");
}

TEST_F(Api, SizesAreThoseOfTheSpecification) {
  EXPECT_EQ(sizes_.public_key_bytes, 699u);
  EXPECT_EQ(sizes_.secret_key_bytes, 935u);
  EXPECT_EQ(sizes_.ciphertext_bytes, 699u);
  EXPECT_EQ(sizes_.shared_secret_bytes, 32u);
  EXPECT_EQ(sizes_.keygen_coin_bytes, 2413u + 32u);
}

TEST_F(Api, EveryStatusHasItsOwnText) {
  const std::set<int> statuses = {POLYKEM_OK,
                                  POLYKEM_ERR_ARGUMENT,
                                  POLYKEM_ERR_UNKNOWN_SCHEME,
                                  POLYKEM_ERR_UNKNOWN_BACKEND,
                                  POLYKEM_ERR_BACKEND_UNAVAILABLE,
                                  POLYKEM_ERR_OUT_OF_MEMORY,
                                  POLYKEM_ERR_RANDOM,
                                  POLYKEM_ERR_ITEMS,
                                  POLYKEM_ERR_PUBLIC_KEY,
                                  POLYKEM_ERR_SECRET_KEY,
                                  POLYKEM_ERR_SIZE,
                                  POLYKEM_ERR_BUSY,
                                  POLYKEM_ERR_RANGE,
                                  POLYKEM_ERR_INTERNAL,
                                  POLYKEM_ERR_CIPHERTEXT,
                                  POLYKEM_ERR_SIGNATURE};
  std::set<std::string> texts;
  for (int s = 0; s < 64; ++s) {
    const std::string text = polykem_status_text(static_cast<polykem_status>(s));
    EXPECT_EQ(text != "unknown status", statuses.contains(s)) << s << " has the text '" << text << "'";
    if (statuses.contains(s)) texts.insert(text);
  }
  EXPECT_EQ(texts.size(), statuses.size());
}

TEST_F(Api, RefusesWrongArgumentsAndWritesNothing) {
  Bytes pk(sizes_.public_key_bytes, 0xaa), sk(sizes_.secret_key_bytes, 0xaa), ct(sizes_.ciphertext_bytes, 0xaa),
      ss(32, 0xaa);
  auto* c = context_.get();
  EXPECT_EQ(polykem_keygen(nullptr, set_, 1, pk.data(), sk.data()), POLYKEM_ERR_ARGUMENT);
  EXPECT_EQ(polykem_keygen(c, nullptr, 1, pk.data(), sk.data()), POLYKEM_ERR_ARGUMENT);
  EXPECT_EQ(polykem_keygen(c, set_, 0, pk.data(), sk.data()), POLYKEM_ERR_ARGUMENT);
  EXPECT_EQ(polykem_keygen(c, set_, SIZE_MAX, pk.data(), sk.data()), POLYKEM_ERR_ARGUMENT);
  EXPECT_EQ(polykem_keygen(c, set_, 1, nullptr, sk.data()), POLYKEM_ERR_ARGUMENT);
  EXPECT_EQ(polykem_keygen(c, set_, 1, pk.data(), nullptr), POLYKEM_ERR_ARGUMENT);
  EXPECT_EQ(polykem_encaps(c, set_, 1, POLYKEM_KEY_PER_ITEM, nullptr, ct.data(), ss.data(), nullptr),
            POLYKEM_ERR_ARGUMENT);
  EXPECT_EQ(polykem_encaps(c, set_, 1, static_cast<polykem_key_mode>(2), pk.data(), ct.data(), ss.data(), nullptr),
            POLYKEM_ERR_ARGUMENT);
  EXPECT_EQ(polykem_decaps(c, set_, 1, POLYKEM_KEY_PER_ITEM, sk.data(), nullptr, ss.data(), nullptr),
            POLYKEM_ERR_ARGUMENT);
  auto request = make_request(POLYKEM_KEYGEN, set_, 1);
  request.pk_out = pk.data();
  request.sk_out = sk.data();
  request.struct_size = 8;
  EXPECT_EQ(polykem_run(c, &request), POLYKEM_ERR_ARGUMENT);
  request.struct_size = sizeof request;
  request.op = static_cast<polykem_op>(3);
  EXPECT_EQ(polykem_run(c, &request), POLYKEM_ERR_ARGUMENT);
  EXPECT_EQ(polykem_run(c, nullptr), POLYKEM_ERR_ARGUMENT);
  EXPECT_EQ(polykem_submit(c, &request, nullptr, nullptr, nullptr), POLYKEM_ERR_ARGUMENT);
  EXPECT_EQ(polykem_job_poll(nullptr), POLYKEM_ERR_ARGUMENT);
  for (const Bytes* untouched : {&pk, &sk, &ct, &ss}) {
    EXPECT_TRUE(std::all_of(untouched->begin(), untouched->end(), [](uint8_t b) { return b == 0xaa; }));
  }
  polykem_context_free(nullptr);
  polykem_job_free(nullptr);
  polykem_keyset_free(nullptr);
}

TEST_F(Api, RefusesEnumValuesOutOfRangeOnBothSides) {
  const Exchange x(context_.get(), set_, 1);
  Bytes ss(32);
  for (const int value : {-1, 2, 1 << 30}) {
    polykem_request r = decaps_of(x, set_, ss);
    ASSERT_EQ(polykem_run(context_.get(), &r), POLYKEM_OK);
    r.key_mode = static_cast<polykem_key_mode>(value);
    EXPECT_EQ(polykem_run(context_.get(), &r), POLYKEM_ERR_ARGUMENT) << value;
    r = decaps_of(x, set_, ss);
    r.secret_form = static_cast<polykem_secret_form>(value);
    EXPECT_EQ(polykem_run(context_.get(), &r), POLYKEM_ERR_ARGUMENT) << value;
    r = decaps_of(x, set_, ss);
    r.op = static_cast<polykem_op>(value == 2 ? 3 : value);
    EXPECT_EQ(polykem_run(context_.get(), &r), POLYKEM_ERR_ARGUMENT) << value;
    polykem_keyset* keys = nullptr;
    const auto kind = static_cast<polykem_key_kind>(value == 2 ? 3 : value);
    EXPECT_EQ(polykem_keyset_import(context_.get(), set_, kind, 1, x.sk.data(), &keys), POLYKEM_ERR_ARGUMENT);
    size_t items = 0;
    int measured = 0;
    const auto op = static_cast<polykem_op>(value == 2 ? 3 : value);
    EXPECT_EQ(polykem_crossover(set_, op, &items, &measured), POLYKEM_ERR_ARGUMENT);
  }
}

/// Structs of callers that were compiled with an older or newer header.
TEST_F(Api, StructsMayBeShorterOrLonger) {
  const Exchange x(context_.get(), set_, 1);
  Bytes ss(32);
  struct Longer {
    polykem_request known;
    uint64_t unknown;
  } longer{decaps_of(x, set_, ss), 0};
  longer.known.struct_size = sizeof longer;
  EXPECT_EQ(polykem_run(context_.get(), &longer.known), POLYKEM_OK) << "a field that is not used";
  longer.unknown = 1;
  EXPECT_EQ(polykem_run(context_.get(), &longer.known), POLYKEM_ERR_ARGUMENT) << "a field that would be overlooked";
  polykem_request shorter = decaps_of(x, set_, ss);
  shorter.struct_size = offsetof(polykem_request, secret_form);
  shorter.secret_form = static_cast<polykem_secret_form>(77);  // beyond the end
  EXPECT_EQ(polykem_run(context_.get(), &shorter), POLYKEM_OK);
  for (const size_t size : {size_t{0}, size_t{8}, SIZE_MAX}) {
    shorter.struct_size = size;
    EXPECT_EQ(polykem_run(context_.get(), &shorter), POLYKEM_ERR_ARGUMENT) << size;
  }
  polykem_scheme_info_t info{};
  info.struct_size = offsetof(polykem_scheme_info_t, secret_seed_bytes);
  info.secret_seed_bytes = 77;
  EXPECT_EQ(polykem_scheme_info(set_, &info), POLYKEM_OK);
  EXPECT_EQ(info.public_key_bytes, 699u);
  EXPECT_EQ(info.secret_seed_bytes, 77u) << "not the caller's memory as the library knows it";
  EXPECT_EQ(info.struct_size, offsetof(polykem_scheme_info_t, secret_seed_bytes));
  info.struct_size = 0;
  EXPECT_EQ(polykem_scheme_info(set_, &info), POLYKEM_ERR_ARGUMENT);
}

TEST_F(Api, SharedKeyMeansTheSameAsThatKeyForEveryItem) {
  const size_t count = 19;
  const Exchange one(context_.get(), set_, 1);
  Bytes ct(count * sizes_.ciphertext_bytes), sender(count * 32), shared(count * 32), per_item(count * 32);
  ASSERT_EQ(
      polykem_encaps(context_.get(), set_, count, POLYKEM_KEY_SHARED, one.pk.data(), ct.data(), sender.data(), nullptr),
      POLYKEM_OK);
  ASSERT_EQ(
      polykem_decaps(context_.get(), set_, count, POLYKEM_KEY_SHARED, one.sk.data(), ct.data(), shared.data(), nullptr),
      POLYKEM_OK);
  Bytes repeated;
  for (size_t i = 0; i < count; ++i)
    repeated.insert(repeated.end(), one.sk.begin(), one.sk.end());
  ASSERT_EQ(polykem_decaps(context_.get(), set_, count, POLYKEM_KEY_PER_ITEM, repeated.data(), ct.data(),
                           per_item.data(), nullptr),
            POLYKEM_OK);
  EXPECT_EQ(shared, sender);
  EXPECT_EQ(per_item, sender);
}

TEST_F(Api, RandomisedCallsGiveDifferentKeysAndSecrets) {
  const size_t count = 40;
  Bytes pk(count * sizes_.public_key_bytes), sk(count * sizes_.secret_key_bytes);
  ASSERT_EQ(polykem_keygen(context_.get(), set_, count, pk.data(), sk.data()), POLYKEM_OK);
  std::set<std::string> keys;
  for (size_t i = 0; i < count; ++i) {
    keys.emplace(reinterpret_cast<const char*>(&pk[i * sizes_.public_key_bytes]), sizes_.public_key_bytes);
  }
  EXPECT_EQ(keys.size(), count);
}

TEST_F(Api, KeySetsRefuseACountWhoseBytesOverflow) {
  Bytes sk(sizes_.secret_key_bytes), pk(sizes_.public_key_bytes);
  const size_t wraps = SIZE_MAX / sizes_.secret_key_bytes + 1;  // to less than the bytes of one key
  for (const size_t count : {wraps, SIZE_MAX}) {
    polykem_keyset* set = nullptr;
    EXPECT_EQ(polykem_keyset_import(context_.get(), set_, POLYKEM_SECRET_KEYS, count, sk.data(), &set),
              POLYKEM_ERR_ARGUMENT);
    EXPECT_EQ(polykem_keyset_generate(context_.get(), set_, count, pk.data(), &set), POLYKEM_ERR_ARGUMENT);
  }
}

/// Of each kind of record of a hybrid: to 2^63, 2^64, and just beyond. The arrays are of one item.
TEST(Schemes, HybridsRefuseACountWhoseBytesOverflow) {
  const Context context = make_context();
  for (const char* name : {"x25519mlkem768", "secp256r1mlkem768", "secp384r1mlkem1024"}) {
    const auto* set = scheme(name);
    const auto sizes = info(set);
    Bytes pk(sizes.public_key_bytes), sk(sizes.secret_key_bytes), ct(sizes.ciphertext_bytes),
        ss(sizes.shared_secret_bytes);
    for (const size_t record : {pk.size(), sk.size(), ct.size(), ss.size(), size_t{sizes.keygen_coin_bytes}}) {
      for (const size_t count : {SIZE_MAX / record, SIZE_MAX / record + 1, SIZE_MAX / 2 / record + 1, SIZE_MAX}) {
        auto* c = context.get();
        polykem_keyset* keys = nullptr;
        EXPECT_EQ(polykem_keygen(c, set, count, pk.data(), sk.data()), POLYKEM_ERR_ARGUMENT);
        for (const auto mode : {POLYKEM_KEY_PER_ITEM, POLYKEM_KEY_SHARED}) {
          EXPECT_EQ(polykem_encaps(c, set, count, mode, pk.data(), ct.data(), ss.data(), nullptr),
                    POLYKEM_ERR_ARGUMENT);
          EXPECT_EQ(polykem_decaps(c, set, count, mode, sk.data(), ct.data(), ss.data(), nullptr),
                    POLYKEM_ERR_ARGUMENT);
        }
        EXPECT_EQ(polykem_keyset_generate(c, set, count, pk.data(), &keys), POLYKEM_ERR_ARGUMENT);
        EXPECT_EQ(polykem_keyset_import(c, set, POLYKEM_PUBLIC_KEYS, count, pk.data(), &keys), POLYKEM_ERR_ARGUMENT);
        EXPECT_EQ(polykem_keyset_import(c, set, POLYKEM_SECRET_KEYS, count, sk.data(), &keys), POLYKEM_ERR_ARGUMENT);
        EXPECT_EQ(keys, nullptr);
      }
    }
  }
}

TEST_F(Api, KeySetsSelectKeysAsDocumented) {
  const size_t count = 5;
  const Exchange all(context_.get(), set_, count);
  polykem_keyset* set = nullptr;
  ASSERT_EQ(polykem_keyset_import(context_.get(), set_, POLYKEM_SECRET_KEYS, count, all.sk.data(), &set), POLYKEM_OK);
  EXPECT_EQ(polykem_keyset_size(set), count);
  const std::vector<size_t> order{4, 0, 3, 3, 1, 2};
  Bytes ct, expected;
  for (const size_t k : order) {
    ct.insert(ct.end(), &all.ct[k * sizes_.ciphertext_bytes],
              &all.ct[k * sizes_.ciphertext_bytes] + sizes_.ciphertext_bytes);
    expected.insert(expected.end(), &all.sender[k * 32], &all.sender[k * 32] + 32);
  }
  Bytes ss(order.size() * 32);
  auto request = make_request(POLYKEM_DECAPS, set_, order.size());
  request.keyset = set;
  request.key_index = order.data();
  request.ct = ct.data();
  request.ss_out = ss.data();
  ASSERT_EQ(polykem_run(context_.get(), &request), POLYKEM_OK);
  EXPECT_EQ(ss, expected);

  request.key_index = nullptr;
  EXPECT_EQ(polykem_run(context_.get(), &request), POLYKEM_ERR_RANGE) << "six items, five keys";
  request.count = count;
  request.ct = all.ct.data();
  ss.resize(count * 32);
  ASSERT_EQ(polykem_run(context_.get(), &request), POLYKEM_OK);
  EXPECT_EQ(ss, all.sender);

  const std::vector<size_t> outside{0, 1, 5, 0, 0};
  request.key_index = outside.data();
  EXPECT_EQ(polykem_run(context_.get(), &request), POLYKEM_ERR_RANGE);
  request.key_index = nullptr;
  request.sk = all.sk.data();
  EXPECT_EQ(polykem_run(context_.get(), &request), POLYKEM_ERR_ARGUMENT) << "a key set and keys";
  request.sk = nullptr;
  request.op = POLYKEM_ENCAPS;
  EXPECT_EQ(polykem_run(context_.get(), &request), POLYKEM_ERR_ARGUMENT) << "secret keys cannot encapsulate";
  request.op = POLYKEM_DECAPS;
  request.scheme = scheme("ntruhrss701");
  EXPECT_EQ(polykem_run(context_.get(), &request), POLYKEM_ERR_ARGUMENT) << "keys of another set";
  polykem_keyset_free(set);
}

TEST_F(Api, GeneratedKeySetsDecapsulate) {
  const size_t count = 33;
  Bytes pk(count * sizes_.public_key_bytes), ct(count * sizes_.ciphertext_bytes), sender(count * 32),
      receiver(count * 32);
  polykem_keyset* set = nullptr;
  ASSERT_EQ(polykem_keyset_generate(context_.get(), set_, count, pk.data(), &set), POLYKEM_OK);
  ASSERT_EQ(
      polykem_encaps(context_.get(), set_, count, POLYKEM_KEY_PER_ITEM, pk.data(), ct.data(), sender.data(), nullptr),
      POLYKEM_OK);
  auto request = make_request(POLYKEM_DECAPS, set_, count);
  request.keyset = set;
  request.ct = ct.data();
  request.ss_out = receiver.data();
  ASSERT_EQ(polykem_run(context_.get(), &request), POLYKEM_OK);
  EXPECT_EQ(receiver, sender);
  polykem_keyset_free(set);
}

/// Runs `body` with an environment variable set.
template <class F>
void with_environment(const char* name, const char* value, F&& body) {
  setenv(name, value, 1);
  body();
  unsetenv(name);
}

TEST(Backends, TheEnvironmentForcesOneAndItTakesEffect) {
  const auto* set = scheme("frodokem640aes");
  for (const auto& name : available_backends()) {
    with_environment("POLYKEM_BACKEND", name.c_str(), [&] {
      polykem_context* context = nullptr;
      ASSERT_EQ(polykem_context_new(nullptr, &context), POLYKEM_OK);
      EXPECT_STREQ(polykem_context_backend(context, set), name.c_str());
      polykem_context_free(context);
    });
  }
  with_environment("POLYKEM_BACKEND", "abacus", [] {
    polykem_context* context = nullptr;
    EXPECT_EQ(polykem_context_new(nullptr, &context), POLYKEM_ERR_UNKNOWN_BACKEND);
    EXPECT_EQ(context, nullptr);
  });
}

TEST(Backends, AmxLeavesToAvx512WhatItHasNotItself) {
  const auto all = available_backends();
  if (std::find(all.begin(), all.end(), "amx") == all.end()) GTEST_SKIP() << "this machine has no AMX";
  const Context context = make_context("amx");
  EXPECT_STREQ(polykem_context_backend(context.get(), scheme("frodokem640aes")), "amx");
  EXPECT_STREQ(polykem_context_backend(context.get(), scheme("mlkem768")), "avx512");
  const Exchange exchange(context.get(), scheme("mlkem768"), 3);
  EXPECT_EQ(exchange.sender, exchange.receiver);
  EXPECT_STREQ(polykem_context_backend(make_context().get(), scheme("mlkem768")), "avx512");
}

/// Parts of a batch with one key share A, which amx generates only once with SHAKE.
TEST(Backends, PartsOfABatchWithOneKeyGiveWhatRefGives) {
  constexpr size_t kCount = 70;
  for (const char* name : {"efrodokem640shake", "efrodokem640aes"}) {
    const auto* set = scheme(name);
    const auto sizes = info(set);
    const Exchange made(make_context().get(), set, 1);
    Bytes coins(kCount * sizes.encaps_coin_bytes);
    for (size_t i = 0; i < coins.size(); ++i)
      coins[i] = static_cast<uint8_t>(i * 37 >> 3);
    std::vector<Bytes> results;
    for (const auto& backend : available_backends()) {
      Bytes ct(kCount * sizes.ciphertext_bytes), ss(kCount * sizes.shared_secret_bytes);
      polykem_request r = make_request(POLYKEM_ENCAPS, set, kCount);
      r.key_mode = POLYKEM_KEY_SHARED;
      r.coins = coins.data();
      r.pk = made.pk.data();
      r.ct_out = ct.data();
      r.ss_out = ss.data();
      ASSERT_EQ(polykem_run(make_context(backend.c_str()).get(), &r), POLYKEM_OK);
      ct.insert(ct.end(), ss.begin(), ss.end());
      results.push_back(std::move(ct));
    }
    for (const Bytes& result : results)
      EXPECT_TRUE(result == results.back()) << name;
  }
}

TEST(Backends, TheConfigurationOutranksTheEnvironment) {
  with_environment("POLYKEM_BACKEND", "abacus", [] {
    const Context context = make_context("ref");
    EXPECT_STREQ(polykem_context_backend(context.get(), scheme("ntruhps2048509")), "ref");
  });
}

/// POLYKEM_CPU_MASK is read once a process, so CTest runs these tests again with it set.
TEST(Backends, AMaskedCpuFeatureTakesItsBackendsAway) {
  const char* mask = std::getenv("POLYKEM_CPU_MASK");
  if (mask == nullptr) GTEST_SKIP() << "runs where POLYKEM_CPU_MASK is set";
  for (const auto& name : available_backends()) {
    EXPECT_NE(name, "amx");
    if (std::string(mask) == "sha3" || std::string(mask) == "aes") {
      EXPECT_NE(name, "neon-sha3");
    }
    if (std::string(mask) == "amx-int8") continue;
    EXPECT_NE(name, "avx512");
    if (std::string(mask) == "avx2") {
      EXPECT_NE(name, "avx2");
    }
  }
  const std::string features = " " + std::string(polykem_cpu_features()) + " ";
  EXPECT_EQ(features.find(" " + std::string(mask) + " "), std::string::npos);
}

TEST(Backends, AreListedBestFirstAndRefIsAlwaysThere) {
  polykem_backend_info_t backend{};
  backend.struct_size = sizeof backend;
  ASSERT_EQ(polykem_backend_info(polykem_backend_count() - 1, &backend), POLYKEM_OK);
  EXPECT_STREQ(backend.name, "ref");
  EXPECT_TRUE(backend.available);
  EXPECT_EQ(polykem_backend_info(polykem_backend_count(), &backend), POLYKEM_ERR_RANGE);
  const Context context = make_context();
  EXPECT_EQ(available_backends().front(), polykem_context_backend(context.get(), scheme("frodokem640aes")));
}

TEST(Backends, SayWhatIsMissingWithoutOpeningAnything) {
  EXPECT_EQ(polykem_backend_missing("ref"), nullptr);
  EXPECT_STREQ(polykem_backend_missing("avx3"), "there is no such backend");
  EXPECT_NE(polykem_backend_missing(nullptr), nullptr);
  for (const std::string& name : available_backends())
    EXPECT_EQ(polykem_backend_missing(name.c_str()), nullptr) << name;
}

std::vector<polykem_step_record> profile_of(const polykem_context* context, const polykem_scheme* set, size_t count) {
  auto* const profiled = const_cast<polykem_context*>(context);
  EXPECT_EQ(polykem_profile_enable(profiled, 1), POLYKEM_OK);
  const Exchange exchange(profiled, set, count);
  size_t size = 0;
  EXPECT_EQ(polykem_profile_read(profiled, nullptr, 0, &size), POLYKEM_OK);
  std::vector<polykem_step_record> records(size);
  if (size == 0) return records;
  records.front().struct_size = sizeof(polykem_step_record);
  EXPECT_EQ(polykem_profile_read(profiled, records.data(), size, &size), POLYKEM_OK);
  return records;
}

/// Adds the names in "a+b+c" to `stages`.
void add_stages(const char* names, std::multiset<std::string>& stages) {
  std::istringstream in(names);
  for (std::string name; std::getline(in, name, '+');)
    stages.insert(name);
}

/// Returns a batch size whose chunks fill a backend's lanes, or a few items for ref, which has none, and slow sets.
size_t items_of_a_full_plan(const std::string& backend, const std::string& set) {
  if (backend == "ref") return 2;
  return set.find("frodokem") == std::string::npos ? 64 : 3;
}

TEST(Profile, RecordsExactlyTheDeclaredPlan) {
  for (const auto& backend : available_backends()) {
    for (const auto& name : scheme_names()) {
      const Context context = make_context(backend.c_str());
      const auto* set = scheme(name);
      if (!computes(backend, name)) continue;
      const size_t count = items_of_a_full_plan(backend, name);
      const auto records = profile_of(context.get(), set, count);
      size_t at = 0;
      for (const auto op : {POLYKEM_KEYGEN, POLYKEM_ENCAPS, POLYKEM_DECAPS}) {
        const char *step, *stages;
        for (size_t i = 0; polykem_plan_step(context.get(), set, op, i, &step, &stages) == POLYKEM_OK; ++i, ++at) {
          ASSERT_LT(at, records.size());
          EXPECT_EQ(records[at].op, op);
          EXPECT_STREQ(records[at].step, step);
          EXPECT_STREQ(records[at].stages, stages);
          EXPECT_EQ(records[at].items, count);
          EXPECT_GE(records[at].calls, 1u);
        }
      }
      EXPECT_EQ(at, records.size());
    }
  }
}

TEST(Profile, AFewItemsCoverEveryStageOnce) {
  for (const auto& backend : available_backends()) {
    for (const auto& name : scheme_names()) {
      const Context context = make_context(backend.c_str());
      const auto* set = scheme(name);
      if (polykem_context_backend(context.get(), set) == nullptr) continue;
      for (const size_t count : {size_t{1}, backend == "ref" ? size_t{2} : size_t{3}}) {
        const auto records = profile_of(context.get(), set, count);
        for (const auto op : {POLYKEM_KEYGEN, POLYKEM_ENCAPS, POLYKEM_DECAPS}) {
          std::multiset<std::string> recorded, declared;
          for (const auto& record : records) {
            if (record.op != op) continue;
            add_stages(record.stages, recorded);
            EXPECT_EQ(record.items, count) << name << " " << record.step;
          }
          const char *step, *stages;
          for (size_t i = 0; polykem_plan_step(context.get(), set, op, i, &step, &stages) == POLYKEM_OK; ++i)
            add_stages(stages, declared);
          EXPECT_EQ(recorded, declared) << name << " on " << backend << ", " << count << " items";
        }
      }
    }
  }
}

TEST(Profile, IsEmptyUntilEnabled) {
  const Context context = make_context();
  const Exchange exchange(context.get(), scheme("ntruhps2048509"), 1);
  size_t size = 9;
  ASSERT_EQ(polykem_profile_read(context.get(), nullptr, 0, &size), POLYKEM_OK);
  EXPECT_EQ(size, 0u);
}

}  // namespace
}  // namespace polykem::test
