// SPDX-License-Identifier: Apache-2.0
// Measures the cycles of this CPU for one operation of each set of the hardware core, on one thread with one item a
// call, with `ref` and with the backend that the library chooses.
//   polykem_bench_hw_core > FILE        JSON; hw/synth/software.py puts the core's cycles beside them
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <polykem/polykem.hpp>
#include <string>
#include <vector>

namespace {

constexpr int kRuns = 301;

double seconds(auto&& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Returns the length of a cycle of this CPU's clock, from a chain of additions of a cycle each.
double cycle_seconds() {
  constexpr uint64_t kChain = 40000;
  return seconds([] {
           uint64_t x = 3;
           for (uint64_t i = 0; i < kChain / 8; ++i) {
#if defined(__x86_64__)
             asm volatile(
                 "add %0, %0\n\tadd %0, %0\n\tadd %0, %0\n\tadd %0, %0\n\t"
                 "add %0, %0\n\tadd %0, %0\n\tadd %0, %0\n\tadd %0, %0"
                 : "+r"(x)
                 :
                 : "cc");
#else
             asm volatile(
                 "add %0, %0, %0\n\tadd %0, %0, %0\n\tadd %0, %0, %0\n\tadd %0, %0, %0\n\t"
                 "add %0, %0, %0\n\tadd %0, %0, %0\n\tadd %0, %0, %0\n\tadd %0, %0, %0"
                 : "+r"(x));
#endif
           }
         }) /
         kChain;
}

/// Returns the median cycles of `body` over several runs. The clock changes, so it is measured with each run.
double cycles(auto&& body) {
  std::vector<double> found;
  for (int run = 0; run < kRuns; ++run) {
    const double spent = seconds(body);
    found.push_back(spent / cycle_seconds());
  }
  std::nth_element(found.begin(), found.begin() + kRuns / 2, found.end());
  return found[kRuns / 2];
}

void measure(const polykem::Context& context, const std::string& set, bool last) {
  const polykem::Scheme scheme = polykem::Scheme::find(set);
  // as for the core, seeds are given
  const polykem::Bytes keygen_coins(scheme.info().keygen_coin_bytes, 7),
      encaps_coins(scheme.info().encaps_coin_bytes, 9);
  const auto keys = context.keygen(scheme, 1, keygen_coins);
  const auto sent = context.encaps(scheme, 1, polykem::KeyMode::kPerItem, keys.pk, encaps_coins);
  const double keygen = cycles([&] { context.keygen(scheme, 1, keygen_coins); });
  const double encaps = cycles([&] { context.encaps(scheme, 1, polykem::KeyMode::kPerItem, keys.pk, encaps_coins); });
  const double decaps = cycles([&] { context.decaps(scheme, 1, polykem::KeyMode::kPerItem, keys.sk, sent.ct); });
  std::printf(R"(    {"set": "%s", "backend": "%s", "keygen": %.0f, "encaps": %.0f, "decaps": %.0f}%s)"
              "\n",
              set.c_str(), context.backend(scheme).c_str(), keygen, encaps, decaps, last ? "" : ",");
}

}  // namespace

int main() {
  std::printf("{\n  \"rows\": [\n");
  for (const std::string backend : {"ref", ""}) {
    const polykem::Context context(1, backend);
    for (const std::string set : {"mlkem512", "mlkem768", "mlkem1024", "kyber512", "kyber768", "kyber1024"})
      measure(context, set, backend.empty() && set == "kyber1024");
  }
  std::printf("  ]\n}\n");
  return 0;
}
