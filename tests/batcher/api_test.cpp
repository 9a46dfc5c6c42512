// SPDX-License-Identifier: Apache-2.0
// Tests the batcher as programs see it.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "support/batch.hpp"

namespace polykem::test {
namespace {

struct FreeBatcher {
  void operator()(polykem_batcher* batcher) const { polykem_batcher_free(batcher); }
};
using Batcher = std::unique_ptr<polykem_batcher, FreeBatcher>;
struct FreeTicket {
  void operator()(polykem_ticket* ticket) const { polykem_ticket_free(ticket); }
};
using Ticket = std::unique_ptr<polykem_ticket, FreeTicket>;

struct Api : testing::Test {
  Context context = make_context(nullptr, 2);
  const polykem_scheme* set = scheme("mlkem768");
  const polykem_scheme_info_t sizes = info(set);

  Batcher batcher(polykem_batcher_config config = {}) {
    config.struct_size = sizeof config;
    polykem_batcher* out = nullptr;
    EXPECT_EQ(polykem_batcher_new(context.get(), &config, &out), POLYKEM_OK);
    return Batcher(out);
  }
  Ticket add(polykem_batcher* to, const polykem_request& request, polykem_ticket_callback done = nullptr,
             void* user = nullptr) {
    polykem_ticket* out = nullptr;
    EXPECT_EQ(polykem_batcher_add(to, &request, done, user, &out), POLYKEM_OK);
    return Ticket(out);
  }
};

TEST_F(Api, AnExchange) {
  const Batcher b = batcher();
  Bytes pk(sizes.public_key_bytes), sk(sizes.secret_key_bytes), ct(sizes.ciphertext_bytes), ss(32), other(32);
  EXPECT_EQ(polykem_ticket_take(add(b.get(), make_request(POLYKEM_KEYGEN, set, 1)).get(), pk.data(), sk.data()),
            POLYKEM_OK);
  polykem_request encaps = make_request(POLYKEM_ENCAPS, set, 1);
  encaps.pk = pk.data();
  EXPECT_EQ(polykem_ticket_take(add(b.get(), encaps).get(), ct.data(), ss.data()), POLYKEM_OK);
  polykem_request decaps = make_request(POLYKEM_DECAPS, set, 1);
  decaps.sk = sk.data();
  decaps.ct = ct.data();
  EXPECT_EQ(polykem_ticket_take(add(b.get(), decaps).get(), nullptr, other.data()), POLYKEM_OK);
  EXPECT_EQ(ss, other);
  EXPECT_NE(ss, Bytes(32, 0));
}

TEST_F(Api, ThreadsHammer) {
  constexpr int kRounds = 100;
  const Batcher b = batcher();
  Bytes pk(sizes.public_key_bytes), sk(sizes.secret_key_bytes);
  ASSERT_EQ(polykem_keygen(context.get(), set, 1, pk.data(), sk.data()), POLYKEM_OK);
  std::atomic<int> called{0};
  const auto work = [&](int me) {
    Bytes ct(sizes.ciphertext_bytes), ss(32), other(32);
    for (int i = 0; i < kRounds; ++i) {
      polykem_request encaps = make_request(POLYKEM_ENCAPS, set, 1);
      encaps.pk = pk.data();
      std::vector<Ticket> many;
      for (int k = 0; k < 8; ++k) {
        const auto done = [](void* user) { ++*static_cast<std::atomic<int>*>(user); };
        many.push_back(add(b.get(), encaps, done, &called));
      }
      for (int k = 0; k < 8; ++k) {
        if ((k + i + me) % 3 == 0) continue;
        ASSERT_EQ(polykem_ticket_take(many[static_cast<size_t>(k)].get(), ct.data(), ss.data()), POLYKEM_OK);
        polykem_request decaps = make_request(POLYKEM_DECAPS, set, 1);
        decaps.sk = sk.data();
        decaps.ct = ct.data();
        ASSERT_EQ(polykem_ticket_take(add(b.get(), decaps).get(), nullptr, other.data()), POLYKEM_OK);
        ASSERT_EQ(ss, other);
      }
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back(work, i);
  for (auto& thread : threads)
    thread.join();
  polykem_batcher_stats_t stats{};
  stats.struct_size = sizeof stats;
  ASSERT_EQ(polykem_batcher_stats(b.get(), set, POLYKEM_ENCAPS, &stats), POLYKEM_OK);
  EXPECT_EQ(stats.operations + stats.abandoned, 4u * kRounds * 8);
  EXPECT_EQ(stats.on_caller + stats.on_cpu, stats.operations);
}

/// A set whose key pairs take much longer than waking a thread, but not as long as the second one's under
/// ThreadSanitizer.
const polykem_scheme* set_with_long_operations(polykem_context* context) {
  const polykem_scheme* const quick = scheme("mlkem1024");
  Bytes pk(info(quick).public_key_bytes), sk(info(quick).secret_key_bytes);
  auto shortest = std::chrono::steady_clock::duration::max();
  for (int i = 0; i < 5; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(polykem_keygen(context, quick, 1, pk.data(), sk.data()), POLYKEM_OK);
    shortest = std::min(shortest, std::chrono::steady_clock::now() - begin);
  }
  return shortest > std::chrono::milliseconds(1) ? quick : scheme("frodokem640shake");
}

/// Submits operations one after the other, each when the last has finished. The counters tell who computed them.
polykem_batcher_stats_t stats_of_a_lone_caller(polykem_batcher* batcher, const polykem_scheme* set, uint32_t flags) {
  polykem_request keygen = make_request(POLYKEM_KEYGEN, set, 1);
  keygen.flags = flags;
  for (int i = 0; i < 50; ++i) {
    polykem_ticket* ticket = nullptr;
    EXPECT_EQ(polykem_batcher_add(batcher, &keygen, nullptr, nullptr, &ticket), POLYKEM_OK);
    EXPECT_EQ(polykem_ticket_wait(ticket), POLYKEM_OK);
    polykem_ticket_free(ticket);
  }
  polykem_batcher_stats_t stats{};
  stats.struct_size = sizeof stats;
  EXPECT_EQ(polykem_batcher_stats(batcher, set, POLYKEM_KEYGEN, &stats), POLYKEM_OK);
  return stats;
}

TEST_F(Api, ACallerThatWaitsComputesItself) {
  // If the machine suspends a caller between add and wait, another thread computes its operation, and a caller that
  // gets little CPU time is not busy. So a round may fail on a busy machine.
  const polykem_scheme* const long_one = set_with_long_operations(context.get());
  uint64_t on_caller = 0, on_cpu = 0;
  for (int round = 0; round < 5 && on_caller <= 25; ++round)
    on_caller = stats_of_a_lone_caller(batcher().get(), long_one, POLYKEM_CALLER_WAITS).on_caller;
  for (int round = 0; round < 5 && on_cpu <= 25; ++round)
    on_cpu = stats_of_a_lone_caller(batcher().get(), long_one, 0).on_cpu;
  EXPECT_GT(on_caller, 25u);
  EXPECT_GT(on_cpu, 25u) << "another thread leaves this one free";
}

TEST_F(Api, WrongArgumentsAreRefused) {
  const Batcher b = batcher();
  Bytes pk(sizes.public_key_bytes), out(4000);
  polykem_ticket* ticket = nullptr;
  const auto add = [&](const polykem_request& request) {
    return polykem_batcher_add(b.get(), &request, nullptr, nullptr, &ticket);
  };
  polykem_request encaps = make_request(POLYKEM_ENCAPS, set, 1);
  EXPECT_EQ(add(encaps), POLYKEM_ERR_ARGUMENT) << "no key";
  encaps.pk = pk.data();
  encaps.count = 2;
  EXPECT_EQ(add(encaps), POLYKEM_ERR_ARGUMENT);
  encaps.count = 1;
  encaps.ct_out = out.data();
  EXPECT_EQ(add(encaps), POLYKEM_ERR_ARGUMENT) << "outputs";
  encaps.ct_out = nullptr;
  encaps.flags = 2;
  EXPECT_EQ(add(encaps), POLYKEM_ERR_ARGUMENT) << "an unknown flag";
  encaps.flags = 0;
  encaps.scheme = nullptr;
  EXPECT_EQ(add(encaps), POLYKEM_ERR_ARGUMENT);
  EXPECT_EQ(polykem_batcher_add(nullptr, &encaps, nullptr, nullptr, &ticket), POLYKEM_ERR_ARGUMENT);
  EXPECT_EQ(ticket, nullptr);
  EXPECT_EQ(polykem_ticket_poll(nullptr), POLYKEM_ERR_ARGUMENT);
  EXPECT_EQ(polykem_ticket_take(nullptr, nullptr, nullptr), POLYKEM_ERR_ARGUMENT);
  polykem_ticket_free(nullptr);
  polykem_batcher_free(nullptr);
  polykem_batcher_config config{};
  polykem_batcher* none = nullptr;
  EXPECT_EQ(polykem_batcher_new(context.get(), &config, &none), POLYKEM_ERR_ARGUMENT) << "struct_size";
  config.struct_size = sizeof config;
  config.batch_items = 100000;
  EXPECT_EQ(polykem_batcher_new(context.get(), &config, &none), POLYKEM_ERR_ARGUMENT);
  polykem_executor_health_t health{};
  health.struct_size = sizeof health;
  EXPECT_EQ(polykem_batcher_health(b.get(), 0, &health), POLYKEM_OK);
  EXPECT_STREQ(health.name, "cpu");
  EXPECT_EQ(polykem_batcher_health(b.get(), 100, &health), POLYKEM_ERR_RANGE);
}

TEST_F(Api, AMalformedKeyIsTheItemsError) {
  const Batcher b = batcher();
  const Bytes pk(sizes.public_key_bytes, 0xff);
  polykem_request encaps = make_request(POLYKEM_ENCAPS, set, 1);
  encaps.pk = pk.data();
  Bytes ct(sizes.ciphertext_bytes, 1), ss(32, 1);
  EXPECT_EQ(polykem_ticket_take(add(b.get(), encaps).get(), ct.data(), ss.data()), POLYKEM_ERR_PUBLIC_KEY);
  EXPECT_EQ(ct, Bytes(ct.size(), 0));
  EXPECT_EQ(ss, Bytes(ss.size(), 0));
}

TEST_F(Api, SecretKeysMayBeSeeds) {
  const Batcher b = batcher();
  Bytes pk(sizes.public_key_bytes), sk(sizes.secret_key_bytes), ct(sizes.ciphertext_bytes), ss(32), other(32);
  const Bytes seed(sizes.secret_seed_bytes, 7);
  polykem_request keygen = make_request(POLYKEM_KEYGEN, set, 1);
  keygen.coins = seed.data();
  ASSERT_EQ(polykem_ticket_take(add(b.get(), keygen).get(), pk.data(), sk.data()), POLYKEM_OK);
  ASSERT_EQ(polykem_encaps(context.get(), set, 1, POLYKEM_KEY_PER_ITEM, pk.data(), ct.data(), ss.data(), nullptr),
            POLYKEM_OK);
  polykem_request decaps = make_request(POLYKEM_DECAPS, set, 1);
  decaps.secret_form = POLYKEM_SECRET_SEED;
  decaps.sk = seed.data();
  decaps.ct = ct.data();
  EXPECT_EQ(polykem_ticket_take(add(b.get(), decaps).get(), nullptr, other.data()), POLYKEM_OK);
  EXPECT_EQ(ss, other);
}

TEST_F(Api, TicketsOutliveTheirBatcher) {
  Batcher b = batcher();
  std::vector<Ticket> tickets;
  for (int i = 0; i < 100; ++i)
    tickets.push_back(add(b.get(), make_request(POLYKEM_KEYGEN, set, 1)));
  b.reset();
  Bytes pk(sizes.public_key_bytes), sk(sizes.secret_key_bytes);
  for (const Ticket& ticket : tickets)
    EXPECT_EQ(polykem_ticket_take(ticket.get(), pk.data(), sk.data()), POLYKEM_OK);
}

TEST_F(Api, AChildBeginsAnew) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer ends a child that starts threads";
#elif defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "AddressSanitizer's allocator stays locked in a child if another thread was in it at the fork";
#endif
  const Batcher b = batcher();
  const polykem_request keygen = make_request(POLYKEM_KEYGEN, set, 1);
  std::atomic<bool> enough{false};
  std::thread busy([&] {
    while (!enough)
      polykem_ticket_wait(add(b.get(), keygen).get());
  });
  for (int i = 0; i < 20; ++i) {
    Ticket inherited = add(b.get(), keygen);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      inherited.reset();
      std::vector<Ticket> tickets;
      for (int k = 0; k < 50; ++k)
        tickets.push_back(add(b.get(), keygen));
      bool right = true;
      for (const Ticket& ticket : tickets)
        right &= polykem_ticket_wait(ticket.get()) == POLYKEM_OK;
      _exit(right ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    EXPECT_EQ(polykem_ticket_wait(inherited.get()), POLYKEM_OK);
  }
  enough = true;
  busy.join();
}

}  // namespace
}  // namespace polykem::test
