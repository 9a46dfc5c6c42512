// SPDX-License-Identifier: Apache-2.0
// Measures SHA-256, BCH codes, and whole operations of LAC in batches beside the cycles that its authors published.
#include <cstring>
#include <string>

#include "bench.hpp"
#include "schemes/lac/bch/bch.hpp"
#include "schemes/lac/sha256/sha256.hpp"
#include "schemes/registry.hpp"

namespace polykem::bench {

namespace {

void bench_sha256(Isa isa) {
  const bool narrow = isa == Isa::kAvx2;
  auto* text = aligned<uint8_t>(16 * 1024);
  for (const size_t bytes : {size_t{32}, size_t{744}}) {
    const auto row = [&](const char* how, Sha256 sha256) {
      const std::string name = "sha256 " + std::string(how) + ", " + std::to_string(bytes) + " bytes of 16";
      report(name.c_str(), isa, cycles([&] { sha256({text, 1024}, {text, 1024}, bytes, 16); }) / 16, 0);
    };
    row("lanes", narrow ? sha256_avx2 : sha256_avx512);
    row("best", narrow ? sha256_dispatch_avx2 : sha256_dispatch_avx512);
  }
}

void bench_bch(Isa isa) {
  for (const BchFunctions* bch :
       {isa == Isa::kAvx2 ? &kBch8Avx2 : &kBch8Avx512, isa == Isa::kAvx2 ? &kBch16Avx2 : &kBch16Avx512}) {
    uint8_t code[kBchMessageBytes + kBchMaxParityBytes] = {1}, message[kBchMessageBytes];
    const std::string t = ", t = " + std::to_string(bch->errors);
    report(("bch encode" + t).c_str(), isa, cycles([&] { bch->encode(code + kBchMessageBytes, code); }), 0);
    report(("bch decode" + t).c_str(), isa, cycles([&] { bch->decode(message, code); }), 0);
  }
}

/// Published cycles on an i7-4770S with AVX2 and a constant-time decoder: keygen, encaps, decaps.
struct Published {
  const char* set;
  double cycles[kOpsPerSet];
};
constexpr Published kPublished[] = {
    {"lac128", {59584, 89055, 140221}}, {"lac192", {119246, 137653, 320135}}, {"lac256", {135780, 207938, 359209}}};

/// Measures a batch of 16 items, each with its own key. The last column is a quarter of the published cycles.
void bench_operations(Isa isa) {
  constexpr size_t kItems = 16;
  auto* coins = aligned<uint8_t>(kItems * 32);
  fill_noise(coins, kItems * 32);
  for (const Published& published : kPublished) {
    const Scheme& set = *find_scheme(published.set);
    const SchemeBackend& backend = *cpu_backend(set, isa_name(isa));
    auto* pk = aligned<uint8_t>(kItems * set.public_key_bytes);
    auto* sk = aligned<uint8_t>(kItems * set.secret_key_bytes);
    auto* ct = aligned<uint8_t>(kItems * set.ciphertext_bytes);
    auto* ss = aligned<uint8_t>(kItems * 32);
    auto* received = aligned<uint8_t>(kItems * 32);
    for (const Op op : {Op::kKeygen, Op::kEncaps, Op::kDecaps}) {
      Batch batch;
      batch.count = kItems;
      batch.coins = op == Op::kDecaps ? nullptr : coins;
      batch.pk = op == Op::kEncaps ? pk : nullptr;
      batch.sk = op == Op::kDecaps ? sk : nullptr;
      batch.ct = op == Op::kDecaps ? ct : nullptr;
      batch.pk_out = op == Op::kKeygen ? pk : nullptr;
      batch.sk_out = op == Op::kKeygen ? sk : nullptr;
      batch.ct_out = op == Op::kEncaps ? ct : nullptr;
      batch.ss_out = op == Op::kEncaps ? ss : received;
      const Operation& operation = backend.op(op);
      auto* workspace = aligned<std::byte>(operation.workspace_bytes(kItems));
      const double item = cycles([&] { operation.run(operation.context, batch, workspace, nullptr); }) / kItems;
      const char* names[kOpsPerSet] = {"keygen", "encaps", "decaps"};
      const auto which = static_cast<size_t>(op);
      report((std::string(set.name) + " " + names[which]).c_str(), isa, item, published.cycles[which] / 4);
    }
    if (std::memcmp(ss, received, kItems * 32) != 0) std::printf("%s: wrong secrets\n", set.name);
  }
}

}  // namespace

void bench_lac(Isa isa) {
  bench_sha256(isa);
  bench_bch(isa);
  bench_operations(isa);
}

}  // namespace polykem::bench
