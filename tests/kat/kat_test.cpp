// SPDX-License-Identifier: Apache-2.0
// Every known-answer file of tests/data on every backend of this machine, at batch counts around the lane widths. Every
// file must hold the number of cases that is written here, and the driver fails a case that it does not run.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "common/context.hpp"
#include "common/exit_codes.hpp"
#include "kat/formats.hpp"
#include "kat/runner.hpp"
#include "support/known_answer_files.hpp"

namespace polykem::cli {
namespace {

constexpr const char* kData = POLYKEM_TEST_DATA;

std::vector<std::string> backends() {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < polykem_backend_count(); ++i) {
    polykem_backend_info_t info{};
    info.struct_size = sizeof info;
    polykem_backend_info(i, &info);
    if (info.available != 0 && std::string(info.name) != "rtl") names.emplace_back(info.name);  // tests/rtl
  }
  return names;
}

bool is_frodo(const std::string& name) {
  return name.find("frodokem") != std::string::npos;
}

/// Returns the backends that compute a file or a set; amx leaves all but FrodoKEM and NTRU to avx512.
std::string computes(const std::string& backend, const std::string& what) {
  return backend == "amx" && !is_frodo(what) && what.find("ntru") == std::string::npos ? "avx512" : backend;
}

/// FrodoKEM's sets but the smallest differ from those in sizes only.
bool is_large(const std::string& name) {
  return is_frodo(name) && name.find("640") == std::string::npos;
}

/// Batch counts around the lane widths. On `ref` batches are loops, and FrodoKEM takes tens of milliseconds per item
/// there, milliseconds elsewhere.
std::vector<std::size_t> batches(const std::string& file, const std::string& backend) {
  if (backend == "ref") return is_frodo(file) ? std::vector<std::size_t>{5} : std::vector<std::size_t>{1, 7};
#ifdef POLYKEM_SMALL_BATCHES  // under a sanitizer or emulator a thousand items take long and run no other code than 64
  if (is_frodo(file)) return {7};
  if (kCases.count(file) != 0) return {7, 64};
  return {1, 7, 8, 9, 15, 16, 17, 64};
#else
  if (is_frodo(file)) return is_large(file) ? std::vector<std::size_t>{1, 7, 8} : std::vector<std::size_t>{1, 7, 8, 64};
  if (kCases.count(file) != 0) return {1, 7, 8, 64, 1000};
  return {1, 7, 8, 9, 15, 16, 17, 64, 1000};
#endif
}

void ignore_ticks(std::size_t) {}

void expect_all_passed(const Tally& tally) {
  EXPECT_EQ(tally.failed, 0u);
  for (const std::string& message : tally.messages)
    ADD_FAILURE() << message;
}

std::string identifier(std::string text) {
  for (char& c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return text;
}

struct Place {
  std::string what, backend;  // a file or a set
};

void PrintTo(const Place& place, std::ostream* out) {
  *out << place.what << " on " << place.backend;
}

/// Sets that only `make test-full` runs.
bool is_slow(const Place& place) {
  return place.backend == "ref" && is_large(place.what);
}

bool is_slow_accumulated(const Place& place) {
  return is_large(place.what) || (place.backend == "ref" && place.what.starts_with("efrodokem"));
}

std::vector<Place> places(const std::vector<std::string>& all) {
  std::vector<Place> out;
  for (const std::string& backend : backends()) {
    for (const std::string& what : all) {
      if (computes(backend, what) == backend) out.push_back({what, backend});
    }
  }
  return out;
}

/// Returns those for which `property` is `wanted`.
std::vector<Place> select(std::vector<Place> all, bool (*property)(const Place&), bool wanted) {
  std::erase_if(all, [&](const Place& place) { return property(place) != wanted; });
  return all;
}

std::string test_name(const testing::TestParamInfo<Place>& info) {
  const std::string& what = info.param.what;
  return identifier(what.substr(0, what.rfind(".json"))) + "_" + identifier(info.param.backend);
}

class KnownAnswerFile : public testing::TestWithParam<Place> {};

TEST_P(KnownAnswerFile, EveryCaseAtEveryBatchCount) {
  const auto& [file, backend] = GetParam();
  const Context context(2, backend);
  KnownAnswers answers = load(kData, file);
  std::size_t cases = 0, checks = 0;
  for (Suite& suite : answers.suites) {
    const polykem_scheme* handle = find_set(suite.scheme);
    ASSERT_NE(handle, nullptr) << suite.scheme;
    const Scheme scheme(handle);
    if (context.backend(scheme).empty()) GTEST_SKIP() << backend << " does not run " << suite.scheme;
    ASSERT_EQ(context.backend(scheme), backend);
    fit_suite(suite, scheme);
    Tally tally;
    for (const std::size_t batch : batches(file, backend)) {
      SCOPED_TRACE(batch);
      tally = run_suite(context, scheme, suite, {batch, false}, ignore_ticks);
      expect_all_passed(tally);
    }
    cases += tally.cases;
    checks += tally.run;
    if (is_slow(GetParam())) continue;  // the engine's key sets are the same for the smallest
    for (const std::size_t batch :
         is_frodo(file) ? std::vector<std::size_t>{10} : std::vector<std::size_t>{3, 17, 40}) {
      SCOPED_TRACE("with key sets, batches of " + std::to_string(batch));
      expect_all_passed(run_suite(context, scheme, suite, {batch, true}, ignore_ticks));
    }
  }
  EXPECT_EQ(cases, expected_cases(file));
  std::printf("%s: %zu cases, %zu checks on %s\n", file.c_str(), cases, checks, backend.c_str());
}

const std::vector<Place> kFiles = places(known_answer_files(kData));

INSTANTIATE_TEST_SUITE_P(All, KnownAnswerFile, testing::ValuesIn(select(kFiles, is_slow, false)), test_name);
INSTANTIATE_TEST_SUITE_P(Full, KnownAnswerFile, testing::ValuesIn(select(kFiles, is_slow, true)), test_name);

std::vector<std::string> sets() {
  std::vector<std::string> names;
  for (const Scheme& scheme : Scheme::all())
    names.emplace_back(scheme.name());
  return names;
}

/// accumulated.json: rounds fed from one SHAKE128 stream, all outputs hashed together.
class Accumulated : public testing::TestWithParam<Place> {};

TEST_P(Accumulated, HashesOfEveryMode) {
  const auto& [set, backend] = GetParam();
  const Context context(2, backend);
  const Scheme scheme = Scheme::find(set);
  if (context.backend(scheme).empty()) GTEST_SKIP() << backend << " does not run " << set;
  ASSERT_EQ(context.backend(scheme), backend);
  std::size_t cases = 0;
  for (const AccumulatedSet& of_set : load(kData, kAccumulated).accumulated) {
    if (find_set(of_set.scheme) != find_set(set)) continue;  // some go by an alias
    for (const AccumulatedCase& wanted : of_set.cases) {
      expect_all_passed(run_accumulated(context, scheme, wanted, 0, ignore_ticks));
      ++cases;
    }
  }
  EXPECT_GE(cases, 1u);
  std::printf("%s: %zu accumulated hashes on %s\n", set.c_str(), cases, backend.c_str());
}

const std::vector<Place> kSets = places(sets());

INSTANTIATE_TEST_SUITE_P(All, Accumulated, testing::ValuesIn(select(kSets, is_slow_accumulated, false)), test_name);
INSTANTIATE_TEST_SUITE_P(Full, Accumulated, testing::ValuesIn(select(kSets, is_slow_accumulated, true)), test_name);

TEST(Coverage, EverySetHasAFileAndEveryFileOfTheTableIsThere) {
  const std::vector<std::string> all = known_answer_files(kData);
  const auto has = [&](const std::string& name) { return std::find(all.begin(), all.end(), name) != all.end(); };
  for (const std::string& set : sets())
    EXPECT_TRUE(has(set + ".json") || has(set + ".json.gz")) << set;
  for (const auto& [file, cases] : kCases)
    EXPECT_TRUE(has(file)) << file;
}

TEST(Coverage, EveryCpuBackendRunsEverySet) {
  for (const std::string& backend : backends()) {
    if (backend == "cuda") continue;
    const Context context(1, backend);
    for (const Scheme& scheme : Scheme::all())
      EXPECT_EQ(context.backend(scheme), computes(backend, scheme.name())) << scheme.name();
  }
}

/// Checks that the driver fails for wrong answers.
class Driver : public testing::Test {
 protected:
  Tally run(const Suite& suite, bool key_sets = false) {
    return run_suite(context_, scheme_, suite, {0, key_sets}, ignore_ticks);
  }
  const Context context_{1, "ref"};
  const Scheme scheme_ = Scheme::find("ntruhps2048509");
  Suite suite_ = load(kData, "ntruhps2048509.json").suites.at(0);
};

TEST_F(Driver, FailsACaseThatWasNotRun) {
  ++suite_.cases;
  const Tally tally = run(suite_);
  EXPECT_EQ(tally.failed, 1u);
  EXPECT_EQ(tally.cases, 10u);
  ASSERT_EQ(tally.messages.size(), 1u);
  EXPECT_EQ(tally.messages[0], "case 10 of 11 was not run");
}

TEST_F(Driver, FailsWhatIsNotRefused) {
  for (const polykem_status want : {POLYKEM_ERR_PUBLIC_KEY, POLYKEM_ERR_SIZE}) {
    suite_.checks[1].want = want;
    EXPECT_EQ(run(suite_).failed, 1u) << polykem_status_text(want);
  }
}

TEST_F(Driver, TurnsAWrongLengthIntoAnExpectedRefusal) {
  suite_.checks[1].pk.pop_back();
  EXPECT_THROW(fit_suite(suite_, scheme_), CliError);
  suite_.checks[1].want = POLYKEM_ERR_PUBLIC_KEY;
  fit_suite(suite_, scheme_);
  EXPECT_EQ(suite_.checks[1].want, POLYKEM_ERR_SIZE);
  EXPECT_EQ(run(suite_).failed, 0u);
  EXPECT_EQ(run(suite_, true).failed, 0u);
}

TEST_F(Driver, FindsAWrongAnswerOfEveryOperation) {
  suite_.checks[0].want_sk[3] ^= 1;
  suite_.checks[1].want_ct[3] ^= 1;
  suite_.checks[2].want_ss[3] ^= 1;
  EXPECT_EQ(run(suite_).failed, 3u);
}

}  // namespace
}  // namespace polykem::cli
