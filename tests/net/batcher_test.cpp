// SPDX-License-Identifier: Apache-2.0
#include "net/batcher.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "common/context.hpp"

namespace polykem::cli::net {
namespace {

using std::chrono::milliseconds;

/** Wants one operation of a set, with inputs of zeros, and notes when it is taken into a batch. */
class FakeUser final : public KemUser {
 public:
  FakeUser(const Scheme& scheme, std::vector<polykem_op>& taken)
      : taken_(taken), sk_(scheme.secret_key_bytes()), ct_(scheme.ciphertext_bytes()) {}

  bool kem_wanted() const override { return wanted; }
  KemInput kem_input(polykem_op op) const override {
    taken_.push_back(op);
    return op == POLYKEM_DECAPS ? KemInput{{}, sk_, ct_} : KemInput{};
  }
  void kem_done(polykem_op /*op*/, polykem_status status, const KemOutput& /*out*/) override {
    last_status = status;
    if (on_done) on_done();
  }

  bool wanted = true;
  polykem_status last_status = POLYKEM_ERR_BUSY;
  std::function<void()> on_done;

 private:
  std::vector<polykem_op>& taken_;
  Bytes sk_, ct_;
};

struct Batcher : testing::Test {
  std::shared_ptr<FakeUser> user() { return std::make_shared<FakeUser>(scheme, taken); }

  asio::io_context loop{1};
  Context context{1};
  Scheme scheme = open_scheme("ntruhps2048509");
  std::vector<polykem_op> taken;
  KemBatcher batcher{loop, context, scheme, {64, {}}};
};

TEST_F(Batcher, DecapsStartsBeforeHundredsOfKeygensThatWait) {
  const auto first = user();
  std::size_t taken_before = 0;
  first->on_done = [&] {
    taken_before = taken.size();
    batcher.add(POLYKEM_DECAPS, user());
  };
  batcher.add(POLYKEM_KEYGEN, first);
  for (int i = 0; i < 600; ++i)
    batcher.add(POLYKEM_KEYGEN, user());
  loop.run();
  ASSERT_EQ(taken.size(), 602U);
  ASSERT_LT(taken_before, 600U) << "nothing waited any more";
  EXPECT_EQ(taken[taken_before], POLYKEM_DECAPS);
}

TEST_F(Batcher, WhatIsNotWantedIsDroppedBeforeItIsComputed) {
  std::vector<std::shared_ptr<FakeUser>> users;
  for (int i = 0; i < 40; ++i) {
    users.push_back(user());
    batcher.add(POLYKEM_KEYGEN, users.back());
    users.back()->wanted = i % 4 == 0;
  }
  loop.run();
  EXPECT_EQ(taken.size(), 10U);
  for (const auto& user : users)
    EXPECT_EQ(user->last_status, user->wanted ? POLYKEM_OK : POLYKEM_ERR_BUSY);
}

TEST_F(Batcher, WhatIsNotWantedDoesNotFillMemory) {
  for (int i = 0; i < 20000; ++i) {
    const auto gone = user();
    batcher.add(POLYKEM_KEYGEN, gone);
    gone->wanted = i % 100 == 0;
    EXPECT_LE(batcher.waiting(POLYKEM_KEYGEN), 512U + 2U * static_cast<unsigned>(i) / 100U);
  }
}

const ServiceTimes::Clock::time_point kStart{std::chrono::hours(1)};

TEST(ServiceTimes, AreUnknownUntilABatchHasFinished) {
  const ServiceTimes times;
  EXPECT_FALSE(times.of(POLYKEM_KEYGEN, 1));
  EXPECT_FALSE(times.items_in(POLYKEM_KEYGEN, milliseconds(10)));
}

TEST(ServiceTimes, AreThoseOfAnItem) {
  ServiceTimes times;
  times.add(POLYKEM_KEYGEN, 10, kStart, kStart + milliseconds(30));
  EXPECT_EQ(times.of(POLYKEM_KEYGEN, 2), milliseconds(6));
  EXPECT_EQ(times.items_in(POLYKEM_KEYGEN, milliseconds(20)), 6U);
  EXPECT_EQ(times.items_in(POLYKEM_KEYGEN, milliseconds(1)), 1U) << "one item always may";
  EXPECT_FALSE(times.of(POLYKEM_DECAPS, 1)) << "another operation";
}

TEST(ServiceTimes, FollowTheNewest) {
  ServiceTimes times;
  for (int i = 0; i < 20; ++i) {
    const auto start = kStart + milliseconds(100 * i);
    times.add(POLYKEM_ENCAPS, 1, start, start + milliseconds(i < 10 ? 1 : 40));
  }
  EXPECT_NEAR(static_cast<double>(times.of(POLYKEM_ENCAPS, 1)->count()), 40e6, 1e6);
}

TEST(ServiceTimes, BatchesThatOverlapShareTheLibrary) {
  ServiceTimes times;
  times.add(POLYKEM_KEYGEN, 1, kStart, kStart + milliseconds(10));
  times.add(POLYKEM_DECAPS, 1, kStart, kStart + milliseconds(12));
  EXPECT_EQ(times.of(POLYKEM_DECAPS, 1), milliseconds(2));
}

}  // namespace
}  // namespace polykem::cli::net
