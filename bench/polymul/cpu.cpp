// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>

#include "../prim/bench.hpp"
#include "polymul.hpp"
#include "prim/polymul/ref/schoolbook.hpp"
#include "product.hpp"

namespace polykem::bench {
namespace {

const char* kind_name(Kind kind) {
  switch (kind) {
    case Kind::cyclic:
      return "Rq x Rq";
    case Kind::cyclic_ternary:
      return "Rq x ternary";
    default:
      return "S3 x S3";
  }
}

unsigned log_q(size_t n) {
  return n == 821 || n == 1229 ? 12 : n == 701 ? 13 : n == 1373 ? 14 : 11;
}

/// 64-byte aligned memory that ends with its scope.
using Words = std::unique_ptr<uint16_t, decltype(&std::free)>;
Words make_words(size_t bytes) {
  return {static_cast<uint16_t*>(std::aligned_alloc(64, (bytes + 127) / 64 * 64)), &std::free};
}

struct Operands {
  Words a, b, c, ws;
};

Operands make_operands(const Product& product) {
  const size_t words = product.n * product.lanes;
  Operands o = {make_words(2 * words), make_words(2 * words), make_words(2 * words),
                make_words(product.workspace_bytes)};
  fill_noise(o.a.get(), 2 * words);
  fill_noise(o.b.get(), 2 * words);
  for (size_t i = 0; i < words; ++i) {
    if (product.kind == Kind::s3) o.a.get()[i] %= 3;
    if (product.kind != Kind::cyclic) o.b.get()[i] %= 3;
    if (product.kind == Kind::cyclic_ternary) --o.b.get()[i];
  }
  return o;
}

bool is_right(const Product& product, const Operands& o) {
  const size_t n = product.n;
  std::vector<uint16_t> a(n), b(n), c(n);
  for (size_t item = 0; item < product.lanes; ++item) {
    for (size_t i = 0; i < n; ++i) {
      a[i] = o.a.get()[i * product.lanes + item];
      b[i] = o.b.get()[i * product.lanes + item];
    }
    poly_mul_cyclic(c.data(), a.data(), b.data(), n);
    const unsigned last = c[n - 1] % 3;
    for (size_t i = 0; i < n; ++i) {
      unsigned got = o.c.get()[i * product.lanes + item];
      unsigned want = c[i];
      if (product.kind == Kind::s3) {
        want = (want % 3 + 3 - last) % 3;
      } else {
        got &= (1u << log_q(n)) - 1;
        want &= (1u << log_q(n)) - 1;
      }
      if (got != want) return false;
    }
  }
  return true;
}

/// Core cycles of one call: the clock is measured beside every sample, because it moves by a tenth with the load.
template <class Call>
double clocked_cycles(const Call& call) {
  constexpr uint64_t kChain = 20000;
  std::vector<double> samples;
  double spent = 0;
  while (samples.size() < 15 || (spent < 2e8 && samples.size() < 301)) {
    uint64_t left = kChain;
    const uint64_t start = __rdtsc();
    asm volatile("1: dec %0\n jnz 1b" : "+r"(left));
    const uint64_t middle = __rdtsc();
    call();
    const uint64_t end = __rdtsc();
    samples.push_back(static_cast<double>(end - middle) * kChain / static_cast<double>(middle - start));
    spent += static_cast<double>(end - start);
  }
  std::nth_element(samples.begin(), samples.begin() + static_cast<long>(samples.size() / 4), samples.end());
  return samples[samples.size() / 4];
}

}  // namespace

PolymulReport polymul_on_cpu(const PolymulRequest& request, const PolymulProgress& progress) {
  PolymulReport report;
  report.time_unit = "cycles";
  for (Isa isa : {Isa::avx512, Isa::avx2}) {
    if (!cpu_has(isa)) continue;
    for (const Product& product : isa == Isa::avx2 ? products_avx2() : products_avx512()) {
      const auto& wanted = request.degrees;
      if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), product.n) == wanted.end()) continue;
      const Operands o = make_operands(product);
      const auto run = [&] { product.mul(o.c.get(), o.a.get(), o.b.get(), o.ws.get()); };
      run();
      if (!is_right(product, o)) {
        report.wrong = true;
        report.problem = std::string(product.name) + ", n = " + std::to_string(product.n) + ", " + isa_name(isa);
        return report;
      }
      ++report.checked;
      if (request.check_only) continue;
      const double cycles = clocked_cycles(run) / static_cast<double>(product.lanes);
      report.rows.push_back({isa_name(isa), product.name, kind_name(product.kind), "none", product.n, product.lanes,
                             cycles, product.floor_cycles, product.chosen});
      if (progress) progress(report.rows.back());
    }
  }
  if (report.checked == 0) report.problem = "this CPU has neither AVX2 nor AVX-512";
  return report;
}

}  // namespace polykem::bench
