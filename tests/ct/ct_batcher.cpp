// SPDX-License-Identifier: Apache-2.0
// ct_check for batchers: hands in single operations with every secret poisoned, which wait, are gathered into a batch
// and come back in tickets, or are computed by their caller. Outputs of a device are compared with the CPU's.
//
//   ct_batcher SET [--leak branch|address|mask|lane|division|divisor] [--trace OPERATIONS] [--basic]
//
//   --leak    leaks what a ticket returned, which must be reported
//   --basic   no operation on its caller's thread, no comparison with a device's outputs
//
// Threads and clocks take no part in a trace. No thread starts, as if the system had none left: the batcher then
// computes a batch on the thread that released it, by the functions that are used otherwise. In the second run every
// clock shows the times of the first.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <memory>

#include "engine/batcher/batch.hpp"
#include "engine/batcher/probe.hpp"
#include "poisoned.hpp"

namespace {

/// True in a comparison of two runs.
bool traced = false;

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto kCreate = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  return traced ? EAGAIN : kCreate(thread, attributes, start, argument);
}

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const auto result = static_cast<int>(syscall(SYS_clock_gettime, clock, time));
  if (traced) (void)VALGRIND_MAKE_MEM_DEFINED(time, sizeof *time);
  return result;
}

}  // extern "C"
#pragma GCC visibility pop

namespace {

using namespace polykem::ct_test;

constexpr size_t kOperations = 3;  ///< under memcheck

using TicketPtr = std::unique_ptr<polykem_ticket, decltype(&polykem_ticket_free)>;

/// How operations are computed.
enum class Where { kBatch, kCaller };

struct Outputs {
  Bytes open, secret;  ///< public keys, ciphertexts or signatures; secret keys or shared secrets
};

struct Check {
  polykem_batcher* batcher;
  const polykem_scheme* scheme;
  size_t count;
  polykem_scheme_info_t info = info_of(scheme);

  bool signs() const { return info.signature_bytes > 0; }

  polykem_request request(polykem_op op) const {
    polykem_request r{};
    r.struct_size = sizeof r;
    r.op = op;
    r.scheme = scheme;
    r.count = 1;
    return r;
  }

  /// Hands in `count` operations, for which fill(request, i) sets the inputs, and takes their outputs.
  template <class Fill>
  Outputs run(Where where, polykem_op op, size_t public_bytes, size_t secret_bytes, const Fill& fill) const {
    std::vector<TicketPtr> tickets;
    if (where == Where::kBatch) require(polykem_batcher_hold(batcher), "hold");
    for (size_t i = 0; i < count; ++i) {
      polykem_request r = request(op);
      r.flags = where == Where::kCaller ? POLYKEM_CALLER_WAITS : 0;
      fill(r, i);
      polykem_ticket* ticket = nullptr;
      require(polykem_batcher_add(batcher, &r, nullptr, nullptr, &ticket), "add");
      tickets.emplace_back(ticket, polykem_ticket_free);
    }
    if (where == Where::kBatch) require(polykem_batcher_release(batcher), "release");
    Outputs out{Bytes(count * public_bytes), Bytes(count * secret_bytes)};
    for (size_t i = 0; i < count; ++i) {
      uint8_t* const secret = secret_bytes > 0 ? &out.secret[i * secret_bytes] : nullptr;
      require(polykem_ticket_take(tickets[i].get(), public_bytes > 0 ? &out.open[i * public_bytes] : nullptr, secret),
              "take");
      const size_t items = polykem_ticket_batch_items(tickets[i].get());
      if (items != (where == Where::kBatch ? count : 1)) fail("another batch than expected");
    }
    declassify(out.open);
    poison(out.secret);
    return out;
  }
};

void expect_same(const char* what, const Bytes& a, const Bytes& b) {
  declassify(a);
  declassify(b);
  if (a != b) fail(std::string(what) + ": secrets differ");
}

Outputs keygen(const Check& check, Where where, const Bytes& seeds) {
  return check.run(where, POLYKEM_KEYGEN, check.info.public_key_bytes, check.info.secret_key_bytes,
                   [&](polykem_request& r, size_t i) { r.coins = &seeds[i * check.info.keygen_coin_bytes]; });
}

void run_kem(const Check& check, Where where, Leak leak) {
  const polykem_scheme_info_t& info = check.info;
  const Bytes seeds = secret_coins(check.count * info.keygen_coin_bytes, 1);
  const Bytes coins = secret_coins(check.count * info.encaps_coin_bytes, 2);
  const Outputs keys = keygen(check, where, seeds);
  const Outputs sent = check.run(where, POLYKEM_ENCAPS, info.ciphertext_bytes, info.shared_secret_bytes,
                                 [&](polykem_request& r, size_t i) {
                                   r.pk = &keys.open[i * info.public_key_bytes];
                                   if (where == Where::kBatch) r.coins = &coins[i * info.encaps_coin_bytes];
                                 });
  const auto decaps = [&](bool from_seeds) {
    return check.run(where, POLYKEM_DECAPS, 0, info.shared_secret_bytes, [&](polykem_request& r, size_t i) {
      r.secret_form = from_seeds ? POLYKEM_SECRET_SEED : POLYKEM_SECRET_EXPANDED;
      r.sk = from_seeds ? &seeds[i * info.secret_seed_bytes] : &keys.secret[i * info.secret_key_bytes];
      r.ct = &sent.open[i * info.ciphertext_bytes];
    });
  };
  const Outputs received = decaps(false);
  plant(leak, received.secret);
  expect_same("decaps", received.secret, sent.secret);
  if (info.secret_seed_bytes > 0) expect_same("decaps from seeds", decaps(true).secret, sent.secret);
}

void run_signatures(const Check& check, Where where, Leak leak) {
  constexpr size_t kPublicBytes = 32;  // rho, before the secrets of a private key [FIPS204, Alg 24]
  const polykem_scheme_info_t& info = check.info;
  const Bytes seeds = secret_coins(check.count * info.keygen_coin_bytes, 1);
  const Bytes coins = secret_coins(check.count * info.sign_coin_bytes, 2), text(40, 0x61);
  const Outputs keys = keygen(check, where, seeds);
  plant(leak, {keys.secret.begin() + kPublicBytes, keys.secret.end()});
  polykem_messages messages{};
  messages.struct_size = sizeof messages;
  messages.strings = {text.data(), nullptr, text.size(), 0};
  check.run(where, POLYKEM_SIGN, info.signature_bytes, 0, [&](polykem_request& r, size_t i) {
    r.coins = &coins[i * info.sign_coin_bytes];
    r.sk = &keys.secret[i * info.secret_key_bytes];
    r.messages = &messages;
  });
}

/// Gathers operations, computes them as a device would, and compares its outputs with the CPU's: the right ones, and
/// those of another operation.
void compare_with_device(const Check& check, polykem::Engine& engine) {
  using namespace polykem;
  const auto* const scheme = reinterpret_cast<const Scheme*>(check.scheme);
  const Bytes coins = secret_coins(check.count * check.info.keygen_coin_bytes, 3);
  std::vector<Ticket*> tickets;
  for (size_t i = 0; i < check.count; ++i) {
    Request request{.op = Op::kKeygen, .scheme = scheme};
    request.records.count = 1;
    request.records.coins = &coins[i * check.info.keygen_coin_bytes];
    tickets.push_back(Ticket::create(request));
  }
  BatchMemory memory;
  memory.reserve(check.count);
  if (!memory.gather(tickets) || engine.run_here(memory.request()) != Status::kOk) fail("batch");
  for (size_t i = 0; i < check.count; ++i) {
    Ticket* const again = computed(engine, tickets[i]->inputs());
    if (!memory.equals(i, *again)) fail("a device's outputs are right");
    if (check.count > 1 && memory.equals((i + 1) % check.count, *again)) fail("a device's outputs are wrong");
    again->release();
  }
  memory.zeroize();
  for (Ticket* ticket : tickets)
    ticket->release();
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = read_arguments(argc, argv);
  const polykem_scheme* scheme = nullptr;
  if (polykem_scheme_find(arguments.set, &scheme) != POLYKEM_OK)
    require(polykem_signature_find(arguments.set, &scheme), arguments.set);
  polykem_context* const context = open_context(scheme);
  std::unique_ptr<polykem::Engine> engine;
  if (polykem::Engine::create({.threads = 1}, engine) != polykem::Status::kOk) fail("engine");
  traced = arguments.items > 0;
  const auto run_all = [&] {
    polykem_batcher* batcher = nullptr;
    require(polykem_batcher_new(context, nullptr, &batcher), "batcher");
    const Check check{batcher, scheme, traced ? arguments.items : kOperations};
    const auto run = check.signs() ? run_signatures : run_kem;
    run(check, Where::kBatch, arguments.leak);
    if (!arguments.basic && arguments.leak == Leak::kNone) {
      run(check, Where::kCaller, Leak::kNone);
      compare_with_device(check, *engine);
    }
    polykem_batcher_free(batcher);
  };
  const std::string what = std::string(arguments.set) + " on " + polykem_context_backend(context, scheme);
  if (traced) return trace(what, run_all);
  run_all();
  polykem_context_free(context);
  std::printf("%s: done\n", what.c_str());
  return 0;
}
