// SPDX-License-Identifier: Apache-2.0
// Runs operations with different secrets between marks that trace_plugin.c recognises, in the same memory. Prints a
// name for each run; runs with the same name must have the same trace. Public values stay the same. If a matrix is
// sampled from the key by rejection (ML-KEM, LAC), the key stays the same, and key generation is left out.
#include <polykem/polykem.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "support/bytes.hpp"

namespace {

using polykem::test::Bytes;
using polykem::test::Noise;
constexpr unsigned kRuns = 3;

inline void mark() {
  asm volatile("hint #100" : : : "memory");
}

void check(polykem_status status) {
  if (status == POLYKEM_OK) return;
  std::fprintf(stderr, "%s\n", polykem_status_text(status));
  std::exit(1);
}

class Set {
 public:
  Set(polykem_context* context, const char* name, size_t items) : context_(context), items_(items), name_(name) {
    info_.struct_size = sizeof info_;
    check(polykem_scheme_find(name, &scheme_));
    check(polykem_scheme_info(scheme_, &info_));
    keygen_coins_.resize(items * info_.keygen_coin_bytes);
    encaps_coins_.resize(items * info_.encaps_coin_bytes);
    pk_.resize(items * info_.public_key_bytes);
    sk_.resize(items * info_.secret_key_bytes);
    ct_.resize(items * info_.ciphertext_bytes);
    ss_.resize(items * info_.shared_secret_bytes);
  }

  void trace() {
    if (const std::string family = info_.family; family != "mlkem" && family != "lac") {
      runs(
          "keygen", [&](unsigned run) { Noise(run).fill(keygen_coins_); }, [&] { keygen(); });
    }
    Noise(7).fill(keygen_coins_);
    keygen();
    runs(
        "encaps", [&](unsigned run) { Noise(run).fill(encaps_coins_); }, [&] { encaps(); });
    const Bytes sent = ct_;
    runs(
        "decaps", [&](unsigned run) { spoil(sent, run); }, [&] { decaps(); });
  }

 private:
  /// Runs from 1 on have ciphertexts that are rejected.
  void spoil(const Bytes& sent, unsigned run) {
    ct_ = sent;
    for (size_t i = 0; run > 0 && i < items_; ++i)
      ct_[i * info_.ciphertext_bytes + run * 11 % info_.ciphertext_bytes] ^= static_cast<uint8_t>(run);
  }

  template <class Prepare, class Run>
  void runs(const char* operation, const Prepare& prepare, const Run& run) {
    prepare(0);
    run();  // allocates
    for (unsigned i = 0; i < kRuns; ++i) {
      prepare(i);
      mark();
      run();
      mark();
      std::printf("%s %s of %zu\n", name_, operation, items_);
    }
  }

  polykem_request request(polykem_op op) const {
    polykem_request r{};
    r.struct_size = sizeof r;
    r.op = op;
    r.scheme = scheme_;
    r.count = items_;
    return r;
  }
  void keygen() {
    polykem_request r = request(POLYKEM_KEYGEN);
    r.coins = keygen_coins_.data();
    r.pk_out = pk_.data();
    r.sk_out = sk_.data();
    check(polykem_run(context_, &r));
  }
  void encaps() {
    polykem_request r = request(POLYKEM_ENCAPS);
    r.coins = encaps_coins_.data();
    r.pk = pk_.data();
    r.ct_out = ct_.data();
    r.ss_out = ss_.data();
    check(polykem_run(context_, &r));
  }
  void decaps() {
    polykem_request r = request(POLYKEM_DECAPS);
    r.sk = sk_.data();
    r.ct = ct_.data();
    r.ss_out = ss_.data();
    check(polykem_run(context_, &r));
  }

  polykem_context* context_;
  size_t items_;
  const char* name_;
  const polykem_scheme* scheme_ = nullptr;
  polykem_scheme_info_t info_{};
  Bytes keygen_coins_, encaps_coins_, pk_, sk_, ct_, ss_;
};

volatile uint8_t table[64];
volatile unsigned secrets[kRuns] = {0, 1, 2};

[[gnu::noinline]] void leak_by_address(unsigned secret) {
  (void)table[secret * 16];
}
[[gnu::noinline]] void leak_by_branch(unsigned secret) {
  if (secret == 1) table[0] = 1;
}

/// Planted leaks, which must be found: a secret decides an address, a secret decides a branch.
void plant_leak(const char* name, void (*leak)(unsigned)) {
  for (const volatile unsigned& secret : secrets) {
    const unsigned value = secret;
    mark();
    leak(value);
    mark();
    std::printf("planted %s\n", name);
  }
}

}  // namespace

/// trace BACKEND ITEMS SET...
int main(int count, char** words) {
  if (count < 4) return 2;
  polykem_config config{};
  config.struct_size = sizeof config;
  config.threads = 1;
  config.backend = words[1];
  polykem_context* context = nullptr;
  check(polykem_context_new(&config, &context));
  for (int i = 3; i < count; ++i)
    Set(context, words[i], static_cast<size_t>(std::strtoul(words[2], nullptr, 10))).trace();
  polykem_context_free(context);
  plant_leak("address", leak_by_address);
  plant_leak("branch", leak_by_branch);
  return 0;
}
