// SPDX-License-Identifier: Apache-2.0
// Core cycles per item of every way to multiply NTRU polynomials on this CPU: ring degree by ring degree, instruction
// set by instruction set. Every product is checked against the schoolbook before it is timed.
//   polykem_bench_polymul [--n N] [--json FILE]
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "../prim/bench.hpp"
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

/// One record of the JSON array; false if the product is wrong.
bool measure(const Product& product, Isa isa, std::string& json) {
  const Operands o = make_operands(product);
  const auto run = [&] { product.mul(o.c.get(), o.a.get(), o.b.get(), o.ws.get()); };
  run();
  if (!is_right(product, o)) {
    std::printf("%s, n = %zu, %s: WRONG RESULT\n", product.name, product.n, isa_name(isa));
    return false;
  }
  const double per_item = clocked_cycles(run) / static_cast<double>(product.lanes);
  std::printf("%5zu  %-7s %-13s %-38s %9.0f %9.0f %8zu\n", product.n, isa_name(isa), kind_name(product.kind),
              product.name, per_item, product.floor_cycles, product.workspace_bytes / 1024);
  char record[512];
  std::snprintf(record, sizeof record,
                "%s  {\"n\": %zu, \"isa\": \"%s\", \"kind\": \"%s\", \"name\": \"%s\", \"lanes\": %zu, "
                "\"cycles_per_item\": %.1f, \"floor_cycles\": %.1f, \"workspace_bytes\": %zu}",
                json.empty() ? "" : ",\n", product.n, isa_name(isa), kind_name(product.kind), product.name,
                product.lanes, per_item, product.floor_cycles, product.workspace_bytes);
  json += record;
  return true;
}

}  // namespace
}  // namespace polykem::bench

int main(int argc, char** argv) {
  using namespace polykem::bench;
  size_t only = 0;
  const char* file = nullptr;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--n") == 0) only = std::strtoul(argv[i + 1], nullptr, 10);
    if (std::strcmp(argv[i], "--json") == 0) file = argv[i + 1];
  }
  std::printf("core cycles per item\n");
  std::printf("%5s  %-7s %-13s %-38s %9s %9s %8s\n", "n", "isa", "kind", "product", "cycles", "floor", "ws KiB");
  std::string json;
  bool right = true;
  for (Isa isa : {Isa::avx512, Isa::avx2}) {
    if (!cpu_has(isa)) {
      std::printf("%s: this CPU lacks it\n", isa_name(isa));
      continue;
    }
    for (const Product& product : isa == Isa::avx2 ? products_avx2() : products_avx512()) {
      if (only == 0 || product.n == only) right = measure(product, isa, json) && right;
    }
  }
  if (file != nullptr) {
    std::FILE* out = std::fopen(file, "w");
    if (out == nullptr) {
      std::fprintf(stderr, "cannot write %s\n", file);
      return 1;
    }
    std::fprintf(out, "[\n%s\n]\n", json.c_str());
    std::fclose(out);
  }
  return right ? 0 : 1;
}
