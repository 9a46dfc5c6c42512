// SPDX-License-Identifier: Apache-2.0
// Every known-answer file of tests/data on the CUDA backend, through the driver of `polykem kat`: NIST's, ACVP's,
// Wycheproof's, CCTV's, and the accumulated hashes. Exit code 77: there is no usable GPU; it prints why.
//   polykem_gpu_vectors DATA_FOLDER
// POLYKEM_GPU_FAMILIES: only these sets, see selection.hpp. A set that the module lacks is a failure.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <iterator>
#include <string>
#include <string_view>

#include "common/context.hpp"
#include "kat/formats.hpp"
#include "kat/runner.hpp"
#include "selection.hpp"
#include "state.hpp"
#include "support/known_answer_files.hpp"

namespace polykem::cli {
namespace {

int failures = 0;

void fail(const std::string& what) {
  ++failures;
  std::fprintf(stderr, "FAILED: %s\n", what.c_str());
}

void report(const Tally& tally, const std::string& what) {
  for (const std::string& message : tally.messages)
    fail(what + ": " + message);
  if (tally.failed > tally.messages.size()) fail(what + ": " + std::to_string(tally.failed) + " checks failed");
}

/// Hybrids whose curves are computed on CPUs.
constexpr std::string_view kNotOnGpus[] = {"secp256r1mlkem768", "secp384r1mlkem1024", "mlkem768p256", "mlkem1024p384"};

bool wanted(const Scheme& scheme) {
  const bool on_gpus = std::find(std::begin(kNotOnGpus), std::end(kNotOnGpus), scheme.name()) == std::end(kNotOnGpus);
  return on_gpus && test::selected(scheme.info().family, scheme.name());
}

/// Returns false, which is a failure, if the module has no operations for the set.
bool runs(const Context& gpu, const Scheme& scheme) {
  if (gpu.backend(scheme) == "cuda") return true;
  fail("the module has no operations for " + std::string(scheme.name()));
  return false;
}

/// A file's cases in batches that hold one, less than a warp's, more than that, and all with repetitions; then with the
/// keys in key sets.
void check_file(const Context& gpu, const std::string& data, const std::string& file) {
  KnownAnswers answers = load(data, file);
  std::size_t cases = 0, checks = 0;
  for (Suite& suite : answers.suites) {
    const polykem_scheme* handle = find_set(suite.scheme);
    if (handle == nullptr) return fail(file + ": no set " + suite.scheme);
    const Scheme scheme(handle);
    if (!wanted(scheme)) {
      cases += suite.cases;
      continue;
    }
    if (!runs(gpu, scheme)) return;
    fit_suite(suite, scheme);
    const bool large = scheme.public_key_bytes() > 5000;
    for (const std::size_t batch : {1, 7, 64, large ? 301 : 1000}) {
      const Tally tally = run_suite(gpu, scheme, suite, {batch, false}, [](std::size_t) {});
      report(tally, file + " in batches of " + std::to_string(batch));
      cases += batch == 1 ? tally.cases : 0;
      checks += tally.run;
    }
    const Tally tally = run_suite(gpu, scheme, suite, {33, true}, [](std::size_t) {});
    report(tally, file + " with key sets");
    checks += tally.run;
  }
  if (cases != expected_cases(file))
    fail(file + ": " + std::to_string(cases) + " cases instead of " + std::to_string(expected_cases(file)));
  if (checks > 0) std::printf("%s: %zu checks\n", file.c_str(), checks);
}

void check_accumulated(const Context& gpu, const std::string& data) {
  for (const AccumulatedSet& of_set : load(data, kAccumulated).accumulated) {
    const polykem_scheme* handle = find_set(of_set.scheme);
    if (handle == nullptr) continue;  // the file also has sets that are not in this library
    const Scheme scheme(handle);
    if (!wanted(scheme) || !runs(gpu, scheme)) continue;
    for (const AccumulatedCase& hash : of_set.cases) {
      report(run_accumulated(gpu, scheme, hash, 0, [](std::size_t) {}), kAccumulated);
      std::printf("%s: accumulated hash of %s\n", of_set.scheme.c_str(), hash.mode.c_str());
    }
  }
}

int run(const std::string& data) {
  const Context gpu(0, "cuda");
  for (const std::string& file : known_answer_files(data))
    check_file(gpu, data, file);
  check_accumulated(gpu, data);
  if (test::fallbacks() != 0) fail("the device failed and the CPU took over");
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace polykem::cli

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s DATA_FOLDER\n", argv[0]);
    return 2;
  }
  const std::string problem = polykem::test::why_no_gpu();
  if (!problem.empty()) {
    std::fprintf(stderr, "skipped: %s\n", problem.c_str());
    return 77;
  }
  try {
    return polykem::cli::run(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "FAILED: %s\n", error.what());
    return 1;
  }
}
