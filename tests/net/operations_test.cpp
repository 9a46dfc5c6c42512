// SPDX-License-Identifier: Apache-2.0
#include "net/operations.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "common/context.hpp"

namespace polykem::cli::net {
namespace {

/// Requests an operation of a set, with inputs of zeros, and records when they are read.
class FakeUser final : public KemUser {
 public:
  FakeUser(const Scheme& scheme, std::vector<polykem_op>& taken)
      : taken_(taken), sk_(scheme.secret_key_bytes()), ct_(scheme.ciphertext_bytes()) {}

  KemInput kem_input(polykem_op op) const override {
    taken_.push_back(op);
    return op == POLYKEM_DECAPS ? KemInput{{}, sk_, ct_} : KemInput{};
  }
  void kem_done(polykem_op /*op*/, polykem_status status, const KemOutput& out) override {
    last_status = status;
    outputs = out.public_key.size() + out.secret_key.size() + out.shared_secret.size();
    if (on_done) on_done();
  }
  void kem_starting() override {
    if (is_gone) kem_cancel();
  }
  void cancel() { kem_cancel(); }

  bool is_gone = false;

  polykem_status last_status = POLYKEM_ERR_BUSY;
  std::size_t outputs = 0;
  std::function<void()> on_done;

 private:
  std::vector<polykem_op>& taken_;
  Bytes sk_, ct_;
};

struct Operations : testing::Test {
  std::shared_ptr<FakeUser> user() { return std::make_shared<FakeUser>(scheme, taken); }

  asio::io_context loop{1};
  Context context{2};
  Scheme scheme = open_scheme("ntruhps2048509");
  std::vector<polykem_op> taken;
  KemOperations operations{loop, context, scheme, {64, {}}};
};

TEST_F(Operations, AreAnsweredOnTheLoop) {
  const auto keygen = user(), decaps = user();
  operations.add(POLYKEM_KEYGEN, keygen);
  operations.add(POLYKEM_DECAPS, decaps);
  EXPECT_EQ(operations.pending(), 2U);
  loop.run();
  EXPECT_EQ(operations.pending(), 0U);
  EXPECT_EQ(keygen->last_status, POLYKEM_OK);
  EXPECT_EQ(keygen->outputs, scheme.public_key_bytes() + scheme.secret_key_bytes());
  EXPECT_EQ(decaps->last_status, POLYKEM_OK);
  EXPECT_EQ(decaps->outputs, scheme.shared_secret_bytes());
}

TEST_F(Operations, OfOneTurnShareABatch) {
  for (int i = 0; i < 40; ++i)
    operations.add(POLYKEM_DECAPS, user());
  loop.run();
  const SizeCounts sizes = operations.stats().by_op[POLYKEM_DECAPS];
  EXPECT_EQ(sizes.items(), 40U);
  EXPECT_EQ(sizes.max(), 40U);
  EXPECT_GT(operations.stats().busy.count(), 0);
}

TEST_F(Operations, OfWhoIsFoundGoneAreNotHandedIn) {
  std::vector<std::shared_ptr<FakeUser>> users;
  for (int i = 0; i < 9; ++i) {
    users.push_back(user());
    users.back()->is_gone = i % 3 != 1;
    operations.add(POLYKEM_KEYGEN, users.back());
  }
  loop.run();
  EXPECT_EQ(operations.pending(), 0U);
  EXPECT_EQ(taken.size(), 3U);
  for (const auto& each : users)
    EXPECT_EQ(each->last_status, each->is_gone ? POLYKEM_ERR_BUSY : POLYKEM_OK);
}

TEST_F(Operations, ThatFollowAreAddedInAnAnswer) {
  const auto first = user(), second = user();
  first->on_done = [&] { operations.add(POLYKEM_DECAPS, second); };
  operations.add(POLYKEM_KEYGEN, first);
  loop.run();
  EXPECT_EQ(second->last_status, POLYKEM_OK);
}

TEST_F(Operations, ThatAreCancelledAreNeitherHandedInNorAnswered) {
  std::vector<std::shared_ptr<FakeUser>> users;
  for (int i = 0; i < 40; ++i) {
    users.push_back(user());
    operations.add(POLYKEM_KEYGEN, users.back());
    if (i % 4 != 0) users.back()->cancel();
  }
  EXPECT_EQ(operations.pending(), 10U);
  loop.run();
  EXPECT_EQ(taken.size(), 10U);
  for (std::size_t i = 0; i < users.size(); ++i)
    EXPECT_EQ(users[i]->last_status, i % 4 == 0 ? POLYKEM_OK : POLYKEM_ERR_BUSY);
}

TEST_F(Operations, AreCancelledAtAnyTime) {
  std::vector<std::shared_ptr<FakeUser>> users;
  for (int i = 0; i < 300; ++i) {
    users.push_back(user());
    operations.add(POLYKEM_KEYGEN, users.back());
  }
  for (std::size_t i = 0; i < 300 && operations.pending() > 0; ++i) {
    loop.poll_one();
    users[i * 7 % 300]->cancel();
  }
  loop.run();
  EXPECT_EQ(operations.pending(), 0U);
}

}  // namespace
}  // namespace polykem::cli::net
