// SPDX-License-Identifier: Apache-2.0
// Tests every call of the library, with every allocation, thread start and request for random numbers failing once.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "scenarios.hpp"

namespace polykem::test {
namespace {

/// The result of a call that makes an object or fails.
struct Made {
  polykem_context* context = nullptr;
  polykem_keyset* keyset = nullptr;
  const polykem_scheme* scheme = nullptr;
  Bytes keys, pk;
};

Scenario making(unsigned threads, polykem_status (*act)(Made&), bool needs_context = true,
                const char* set = "mlkem512") {
  auto made = std::make_shared<Made>();
  const auto begin = [made, threads, needs_context, set] {
    if (!needs_context) return;
    const polykem_config config{sizeof config, threads, nullptr};
    polykem_context_new(&config, &made->context);
    polykem_scheme_find(set, &made->scheme);
    polykem_scheme_info_t sizes{};
    sizes.struct_size = sizeof sizes;
    polykem_scheme_info(made->scheme, &sizes);
    made->keys = Bytes(64 * std::max(sizes.secret_key_bytes, sizes.public_key_bytes), 1);
    made->pk = Bytes(64 * sizes.public_key_bytes, 0);
  };
  return {.begin = begin,
          .act = [made, act] { return act(*made); },
          .check = [made, needs_context](polykem_status status) -> std::string {
            const bool is_made = needs_context ? made->keyset != nullptr : made->context != nullptr;
            return is_made == (status == POLYKEM_OK) ? "" : "an object without success, or the other way round";
          },
          .end =
              [made] {
                polykem_keyset_free(made->keyset);
                polykem_context_free(made->context);
                *made = {};
              },
          .allows = documented};
}

Scenario new_context(unsigned threads) {
  return making(
      threads, [](Made& m) { return polykem_context_new(nullptr, &m.context); }, false);
}

TEST(Calls, NewContext) {
  EXPECT_GT(sweep(Call::kMemory, [] { return new_context(1); }), 0);
  sweep(Call::kThread, [] { return new_context(1); });
  sweep(Call::kMapping, [] { return new_context(1); });
}

TEST(Calls, ImportPublicKeys) {
  const auto act = [](Made& m) {
    return polykem_keyset_import(m.context, m.scheme, POLYKEM_PUBLIC_KEYS, 64, m.keys.data(), &m.keyset);
  };
  EXPECT_GT(sweep(Call::kMemory, [=] { return making(1, act); }), 0);
}

TEST(Calls, ImportSecretKeys) {
  const auto act = [](Made& m) {
    return polykem_keyset_import(m.context, m.scheme, POLYKEM_SECRET_KEYS, 64, m.keys.data(), &m.keyset);
  };
  EXPECT_GT(sweep(Call::kMemory, [=] { return making(1, act); }), 0);
}

TEST(Calls, ImportSeeds) {
  const auto act = [](Made& m) {
    return polykem_keyset_import(m.context, m.scheme, POLYKEM_SECRET_SEEDS, 64, m.keys.data(), &m.keyset);
  };
  EXPECT_GT(sweep(Call::kMemory, [=] { return making(1, act); }), 0);
  EXPECT_GT(sweep(Call::kMemory, [=] { return making(3, act); }), 0);
}

TEST(Calls, GenerateKeySet) {
  const auto act = [](Made& m) { return polykem_keyset_generate(m.context, m.scheme, 64, m.pk.data(), &m.keyset); };
  for (const unsigned threads : {1u, 3u}) {
    EXPECT_GT(sweep(Call::kMemory, [=] { return making(threads, act); }), 0);
    EXPECT_GT(sweep(Call::kRandom, [=] { return making(threads, act); }), 0);
  }
  EXPECT_GT(sweep(Call::kThread, [=] { return making(3, act); }), 0);
}

/// Both components are expanded: from ML-KEM's key and a scalar, or from a seed.
TEST(Calls, KeySetsOfHybrids) {
  const auto import = [](Made& m) {
    return polykem_keyset_import(m.context, m.scheme, POLYKEM_SECRET_KEYS, 64, m.keys.data(), &m.keyset);
  };
  const auto generate = [](Made& m) {
    return polykem_keyset_generate(m.context, m.scheme, 64, m.pk.data(), &m.keyset);
  };
  for (const char* set : {"secp256r1mlkem768", "mlkem768x25519"}) {
    for (const auto act : {+import, +generate}) {
      EXPECT_GT(sweep(Call::kMemory, [=] { return making(3, act, true, set); }), 0);
      sweep(Call::kThread, [=] { return making(3, act, true, set); });
    }
    EXPECT_GT(sweep(Call::kRandom, [=] { return making(3, generate, true, set); }), 0);
  }
}

TEST(Calls, Profile) {
  EXPECT_GT(sweep(Call::kMemory, [] { return Watched::scenario({.count = 40}, &Watched::run_profiled); }), 0);
}

/// Calls that return a plain value, at their first use: they may return an empty result, but must not end the process.
TEST(Calls, NamesAndLists) {
  const auto names = [] {
    return Scenario{.act =
                        [] {
                          const polykem_scheme* scheme = nullptr;
                          const polykem_status status = polykem_scheme_find("ML-KEM-768", &scheme);
                          polykem_cpu_features();
                          const char* why = "";
                          EXPECT_GE(polykem_cpus(&why), 1U);
                          EXPECT_NE(why, nullptr);
                          polykem_limit(POLYKEM_MEMORY, &why);
                          polykem_limit(POLYKEM_THREADS, &why);
                          polykem_scheme_suggest("mlkem");
                          polykem_signature_suggest("mldsa");
                          polykem_crossover_note();
                          polykem_backend_info_t backend{};
                          backend.struct_size = sizeof backend;
                          for (size_t i = 0; i < polykem_backend_count(); ++i)
                            polykem_backend_info(i, &backend);
                          return status;
                        },
                    .allows = documented};
  };
  sweep(Call::kMemory, names);
}

using OneBatch = testing::TestWithParam<Watched::Shape>;

TEST_P(OneBatch, Run) {
  const auto run = [] { return Watched::scenario(GetParam(), &Watched::run); };
  EXPECT_GT(sweep(Call::kMemory, run), 0);
  const int random = sweep(Call::kRandom, run);
  const bool needs_random = GetParam().op != POLYKEM_DECAPS && GetParam().op != POLYKEM_VERIFY;
  EXPECT_EQ(random > 0, needs_random) << "decapsulation and verification need no random numbers";
  sweep(Call::kMapping, run);
  const int threads = sweep(Call::kThread, run);
  EXPECT_EQ(threads > 0, GetParam().threads > 1);
}

/// A submitted batch needs a thread, so it may fail if no thread can be started.
Scenario submission(polykem_status (Watched::*act)()) {
  Scenario scenario = Watched::scenario(OneBatch::GetParam(), act);
  scenario.allows = [](Call call, polykem_status status) {
    return documented(call == Call::kThread ? Call::kMemory : call, status);
  };
  return scenario;
}

TEST_P(OneBatch, Submit) {
  const auto submit = [] { return submission(&Watched::submit_and_wait); };
  EXPECT_GT(sweep(Call::kMemory, submit), 0);
  sweep(Call::kRandom, submit);
  EXPECT_GT(sweep(Call::kThread, submit), 0);
}

TEST_P(OneBatch, SubmitWithCallback) {
  const auto submit = [] { return submission(&Watched::submit_with_callback); };
  EXPECT_GT(sweep(Call::kMemory, submit), 0);
  EXPECT_GT(sweep(Call::kThread, submit), 0);
}

/// One of each kind; the others add sets and backends.
std::vector<Watched::Shape> shapes() {
  std::vector<Watched::Shape> result;
  for (const polykem_op op : {POLYKEM_KEYGEN, POLYKEM_ENCAPS, POLYKEM_DECAPS}) {
    result.push_back({.op = op});
    result.push_back({.op = op, .count = 70, .threads = 3, .with_item_status = true});
  }
  result.push_back({.op = POLYKEM_DECAPS, .count = 70, .threads = 3, .by_keyset = true});
  for (const polykem_op op : {POLYKEM_KEYGEN, POLYKEM_ENCAPS, POLYKEM_DECAPS})
    result.push_back({.scheme = "x25519mlkem768", .op = op, .count = 40, .threads = 2, .with_item_status = true});
  result.push_back({.scheme = "mlkem768p256", .op = POLYKEM_DECAPS, .count = 40, .threads = 2, .by_keyset = true});
  for (const polykem_op op : {POLYKEM_KEYGEN, POLYKEM_SIGN, POLYKEM_VERIFY})
    result.push_back({.scheme = "mldsa44", .op = op, .count = 20, .threads = 3, .with_item_status = true});
  result.push_back({.scheme = "mldsa44", .op = POLYKEM_SIGN, .count = 20, .threads = 2, .by_keyset = true});
  return result;
}

std::vector<Watched::Shape> other_shapes() {
  std::vector<Watched::Shape> result{{.op = POLYKEM_ENCAPS, .count = 200, .threads = 3, .by_keyset = true}};
  for (const polykem_op op : {POLYKEM_KEYGEN, POLYKEM_ENCAPS, POLYKEM_DECAPS}) {
    result.push_back({.op = op, .count = 200, .threads = 3});
    result.push_back({.op = op, .count = 40, .threads = 2, .backend = "ref"});
    result.push_back({.scheme = "ntruhps2048509", .op = op, .count = 70, .threads = 2});
    result.push_back({.scheme = "frodokem640shake", .op = op, .count = 20, .threads = 2});
    result.push_back({.scheme = "mlkem1024p384", .op = op, .count = 20, .threads = 2});
  }
  for (const polykem_op op : {POLYKEM_KEYGEN, POLYKEM_SIGN, POLYKEM_VERIFY}) {
    result.push_back({.scheme = "mldsa65", .op = op});
    result.push_back({.scheme = "mldsa87", .op = op, .count = 20, .threads = 2, .backend = "ref"});
  }
  result.push_back({.scheme = "mldsa87", .op = POLYKEM_VERIFY, .count = 20, .threads = 2, .by_keyset = true});
  return result;
}

std::string shape_name(const testing::TestParamInfo<Watched::Shape>& info) {
  return testing::PrintToString(info.param);
}

INSTANTIATE_TEST_SUITE_P(Calls, OneBatch, testing::ValuesIn(shapes()), shape_name);
INSTANTIATE_TEST_SUITE_P(Full, OneBatch, testing::ValuesIn(other_shapes()), shape_name);

}  // namespace
}  // namespace polykem::test
