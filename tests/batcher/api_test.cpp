// SPDX-License-Identifier: Apache-2.0
// The batcher as programs see it.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
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
  const Batcher b = batcher();
  Bytes pk(sizes.public_key_bytes), sk(sizes.secret_key_bytes);
  ASSERT_EQ(polykem_keygen(context.get(), set, 1, pk.data(), sk.data()), POLYKEM_OK);
  std::atomic<int> called{0}, expected{0};
  const auto work = [&](int me) {
    Bytes ct(sizes.ciphertext_bytes), ss(32), other(32);
    for (int i = 0; i < 300; ++i) {
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
  EXPECT_EQ(stats.operations + stats.abandoned, 4u * 300 * 8);
  EXPECT_EQ(stats.on_caller + stats.on_cpu, stats.operations);
}

}  // namespace
}  // namespace polykem::test
