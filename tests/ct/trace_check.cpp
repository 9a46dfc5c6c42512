// SPDX-License-Identifier: Apache-2.0
// The constant-time check of code that valgrind cannot execute: runs an operation with the CPU's single-step flag set,
// with different secrets, and compares the sequences of instruction addresses. A branch that depends on a secret
// appears as a difference. (Addresses of data are not compared; the same templates' AVX2 form has that check, see
// docs/side_channels.md.)
//
// ML-KEM, Kyber and LAC sample the public matrix or polynomial with rejections, so there only the secrets may differ
// between two traces: encaps and decaps keep the public key. A key pair's public and secret parts come from one seed;
// keygen of ML-KEM and Kyber tries seeds until two of them reject alike.
//
//   trace_check SET keygen|encaps|decaps|leak [COUNT [shared]]     backend: POLYKEM_BACKEND; shared: one key for all
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "polykem/polykem.h"
#include "support/bytes.hpp"

namespace {

constexpr int kSkip = 77;
using polykem::test::Bytes;
using polykem::test::pattern;

void require(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "trace_check: %s\n", what.c_str());
  std::exit(2);
}

/// An exchange of `count` items from coins that `seed` determines.
struct Exchange {
  polykem_context* context = nullptr;
  const polykem_scheme* scheme = nullptr;
  polykem_scheme_info_t info{};
  size_t count = 0;
  bool shared = false;
  Bytes keygen_coins, encaps_coins, pk, sk, ct, ss, received;

  polykem_request request(polykem_op op) const {
    polykem_request r{};
    r.struct_size = sizeof r;
    r.op = op;
    r.scheme = scheme;
    r.count = op == POLYKEM_KEYGEN ? keys() : count;
    r.key_mode = shared ? POLYKEM_KEY_SHARED : POLYKEM_KEY_PER_ITEM;
    return r;
  }
  size_t keys() const { return shared ? 1 : count; }
  void run(const polykem_request& r) const { require(polykem_run(context, &r) == POLYKEM_OK, "the operation failed"); }

  void prepare(uint64_t seed, bool own_keys) {
    keygen_coins = pattern(keys() * info.keygen_coin_bytes, own_keys ? seed : 0);
    encaps_coins = pattern(count * info.encaps_coin_bytes, seed + 1000);
    pk.resize(keys() * info.public_key_bytes);
    sk.resize(keys() * info.secret_key_bytes);
    ct.resize(count * info.ciphertext_bytes);
    ss.resize(count * info.shared_secret_bytes);
    received.resize(ss.size());
    keygen();
    encaps();
    decaps();
    require(ss == received, "the exchange failed");
    // For odd seeds every third ciphertext is rejected: acceptance and rejection must take the same path.
    if (seed % 2 == 1) {
      for (size_t i = 0; i < count; i += 3)
        ct[i * info.ciphertext_bytes + info.ciphertext_bytes / 2 + i] ^= 1;
    }
    if (!own_keys) replace_secrets(seed);
  }
  /// Puts the secrets of other keys around the public keys: ML-KEM's has s before it, its hash and z after it [FIPS203,
  /// Alg 16], LAC's s before it.
  void replace_secrets(uint64_t seed) {
    if (std::strcmp(info.family, "hybrid") == 0) return replace_scalars(seed);
    const size_t hash = std::strcmp(info.family, "mlkem") == 0 ? 32 : 0;
    const Bytes public_keys = pk, secret_keys = sk;
    keygen_coins = pattern(keys() * info.keygen_coin_bytes, seed + 2000);
    keygen();
    for (size_t i = 0; i < keys(); ++i) {
      const size_t at = i * info.secret_key_bytes + info.public_key_at;
      std::memcpy(&sk[at], &secret_keys[at], info.public_key_bytes + hash);
    }
    pk = public_keys;
  }
  /// In TLS's hybrids, the curve's secret is behind ML-KEM's key, which stays the same, or before it.
  void replace_scalars(uint64_t seed) {
    const bool first = std::strncmp(info.name, "secp", 4) == 0;
    const size_t bytes = std::strcmp(info.name, "secp384r1mlkem1024") == 0 ? 48 : 32;
    const Bytes scalars = pattern(keys() * bytes, seed + 3000);
    for (size_t i = 0; i < keys(); ++i)
      std::memcpy(&sk[i * info.secret_key_bytes + (first ? 0 : info.secret_key_bytes - bytes)], &scalars[i * bytes],
                  bytes);
  }
  void keygen() {
    polykem_request r = request(POLYKEM_KEYGEN);
    r.coins = keygen_coins.data();
    r.pk_out = pk.data();
    r.sk_out = sk.data();
    run(r);
  }
  void encaps() {
    polykem_request r = request(POLYKEM_ENCAPS);
    r.coins = encaps_coins.data();
    r.pk = pk.data();
    r.ct_out = ct.data();
    r.ss_out = ss.data();
    run(r);
  }
  void decaps() {
    polykem_request r = request(POLYKEM_DECAPS);
    r.sk = sk.data();
    r.ct = ct.data();
    r.ss_out = received.data();
    run(r);
  }
  /// A planted leak, which the check must find.
  void leak() {
    volatile unsigned branches = 0;
    for (const uint8_t byte : ss) {
      if (byte & 1) branches = branches + 1;
    }
  }
};

struct Trace {
  uint64_t instructions = 0, hash = 14695981039346656037u;
  bool operator==(const Trace& other) const { return instructions == other.instructions && hash == other.hash; }
};

Trace trace;

/// Called before every instruction while the trap flag is set.
void on_step(int, siginfo_t*, void* context) {
  const auto address = static_cast<uint64_t>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
  trace.hash = (trace.hash ^ address) * 1099511628211u;
  trace.instructions += 1;
}

inline void set_trap_flag() {
  asm volatile("pushfq\n\torq $0x100, (%%rsp)\n\tpopfq" ::: "cc", "memory");
}
inline void clear_trap_flag() {
  asm volatile("pushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq" ::: "cc", "memory");
}

/// Returns the trace of `operation` on an exchange that `seed` determines, wholly or except for the public keys. It
/// runs in a new copy of this process, so that the allocator starts from the same state each time.
Trace trace_of(Exchange exchange, uint64_t seed, bool own_keys, const std::function<void(Exchange&)>& operation) {
  int channel[2];
  require(pipe(channel) == 0, "no pipe");
  const pid_t child = fork();
  require(child >= 0, "cannot fork");
  if (child == 0) {
    struct sigaction action {};
    action.sa_sigaction = on_step;
    action.sa_flags = SA_SIGINFO;
    require(sigaction(SIGTRAP, &action, nullptr) == 0, "cannot catch SIGTRAP");
    exchange.prepare(seed, own_keys);
    set_trap_flag();
    operation(exchange);
    clear_trap_flag();
    _exit(write(channel[1], &trace, sizeof trace) == sizeof trace ? 0 : 1);
  }
  close(channel[1]);  // so that reading ends if the child does
  Trace result;
  require(read(channel[0], &result, sizeof result) == sizeof result, "the traced process ended early");
  waitpid(child, nullptr, 0);
  close(channel[0]);
  return result;
}

/// The number of seeds to try for keygen, whose public matrix depends on the seed. Two traces agree with a probability
/// of about 0.1.
constexpr uint64_t kMaxSeeds = 40;

/// Returns the first trace that two seeds have in common; otherwise the last two traces differ.
bool some_agree(const Exchange& exchange, const std::function<void(Exchange&)>& operation, Trace& first,
                Trace& second) {
  std::vector<Trace> seen;
  for (uint64_t seed = 1; seed <= kMaxSeeds; ++seed) {
    second = trace_of(exchange, seed, true, operation);
    for (const Trace& earlier : seen) {
      first = earlier;
      if (first == second) return true;
    }
    seen.push_back(second);
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  require(argc >= 3, "usage: trace_check SET keygen|encaps|decaps|leak [COUNT [shared]]");
  const std::string name = argv[2];
  Exchange exchange;
  exchange.count = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 1;
  exchange.shared = argc > 4 && std::strcmp(argv[4], "shared") == 0;
  polykem_config config{};
  config.struct_size = sizeof config;
  config.threads = 1;
  const polykem_status status = polykem_context_new(&config, &exchange.context);
  if (status == POLYKEM_ERR_BACKEND_UNAVAILABLE) {
    std::puts("skipped: this machine cannot run the backend");
    return kSkip;
  }
  require(status == POLYKEM_OK && polykem_scheme_find(argv[1], &exchange.scheme) == POLYKEM_OK, "bad backend or set");
  exchange.info.struct_size = sizeof exchange.info;
  require(polykem_scheme_info(exchange.scheme, &exchange.info) == POLYKEM_OK, "no sizes");
  const auto operation = [&](Exchange& e) {
    if (name == "keygen") e.keygen();
    if (name == "encaps") e.encaps();
    if (name == "decaps") e.decaps();
    if (name == "leak") e.leak();
  };
  const std::string family = exchange.info.family;
  const bool public_rejections = family == "mlkem" || family == "lac" || family == "hybrid";
  Trace first, second;
  bool same = false;
  if (public_rejections && name == "keygen") {
    same = some_agree(exchange, operation, first, second);
  } else {
    first = trace_of(exchange, 1, !public_rejections, operation);
    second = trace_of(exchange, 2, !public_rejections, operation);
    same = first == second;
  }
  if (!same) {
    std::printf("%s %s: the instructions depend on the secrets (%llu and %llu steps)\n", argv[1], argv[2],
                static_cast<unsigned long long>(first.instructions),
                static_cast<unsigned long long>(second.instructions));
    return 1;
  }
  std::printf("%s %s on %s: the same %llu instructions with other secrets\n", argv[1], argv[2],
              polykem_context_backend(exchange.context, exchange.scheme),
              static_cast<unsigned long long>(first.instructions));
  return first.instructions > 0 ? 0 : 1;
}
