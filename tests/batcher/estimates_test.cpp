// SPDX-License-Identifier: Apache-2.0
#include "engine/batcher/estimates.hpp"

#include <gtest/gtest.h>

#include "engine/batcher/breaker.hpp"

namespace polykem {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

TEST(ServiceTime, IsAFixedPartAndOneForEachItem) {
  ServiceTime time;
  EXPECT_FALSE(time.known());
  for (int i = 0; i < 100; ++i) {
    const size_t items = i % 2 == 0 ? 10 : 110;
    time.add(items, microseconds(1000 + 5 * items));
  }
  EXPECT_NEAR(static_cast<double>(time.of(60).count()), 1300e3, 20e3);
  EXPECT_NEAR(static_cast<double>(time.items_in(milliseconds(2))), 200, 5);
  EXPECT_EQ(time.items_in(microseconds(1)), 1u) << "one item always may";
  EXPECT_GE(time.of(1), microseconds(1000));
}

TEST(ServiceTime, BatchesOfADeviceGrow) {
  ServiceTime time;
  time.add(1, milliseconds(1));
  EXPECT_EQ(time.items_in(microseconds(1500)), 1u) << "what one item tells";
  size_t items = 1;
  for (int i = 0; i < 20; ++i) {
    items = time.items_to_try(microseconds(1500));
    time.add(items, milliseconds(1));
  }
  EXPECT_GE(items, 1024u);
  EXPECT_EQ(time.items_to_try(microseconds(500)), 1u);
}

TEST(ServiceTime, BatchesThatTakeLongerDoNotGrow) {
  ServiceTime time;
  for (int i = 0; i < 100; ++i) {
    const size_t items = i == 0 ? 1 : time.items_to_try(microseconds(1500));
    time.add(items, items * milliseconds(1));
    EXPECT_LE(items, 2u);
  }
}

TEST(ServiceTime, UnevenTimesOfSmallBatchesAllowNoHugeOne) {
  ServiceTime time;
  for (int i = 0; i < 100; ++i)
    time.add(i % 2 == 0 ? 8 : 16, microseconds(i % 2 == 0 ? 1200 : 900));
  EXPECT_LE(time.items_in(milliseconds(10)), 64u);
  EXPECT_LE(time.items_to_try(milliseconds(10)), 64u);
}

TEST(ServiceTime, LargeBatchesDoNotMakeSmallOnesLookCheap) {
  ServiceTime time;
  for (int i = 0; i < 100; ++i)
    time.add(512, milliseconds(1));
  EXPECT_GE(time.of(1), microseconds(990));
}

TEST(ServiceTime, FollowsTheNewest) {
  ServiceTime time;
  for (int i = 0; i < 100; ++i)
    time.add(1, i < 20 ? milliseconds(1) : milliseconds(40));
  EXPECT_NEAR(static_cast<double>(time.of(1).count()), 40e6, 1e6);
}

TEST(LoadOfLate, Fades) {
  const Clock::time_point start{std::chrono::hours(1)};
  Load load;
  for (int i = 0; i < 1000; ++i)
    load.add(microseconds(500), start + milliseconds(i));
  EXPECT_NEAR(load.at(start + milliseconds(999)), 0.5, 0.05);
  EXPECT_LT(load.at(start + milliseconds(1200)), 0.01);
}

TEST(Breaker, OpensAfterFailuresInARow) {
  const Clock::time_point now{std::chrono::hours(1)};
  Breaker breaker;
  for (unsigned i = 0; i < 10; ++i) {
    breaker.failed("no", now);
    breaker.succeeded();
  }
  EXPECT_TRUE(breaker.closed());
  for (unsigned i = 0; i < Breaker::kFailuresInARow; ++i) {
    EXPECT_TRUE(breaker.closed());
    breaker.failed("no", now);
  }
  EXPECT_EQ(breaker.state(), Breaker::State::kOpen);
  EXPECT_STREQ(breaker.reason(), "no");
  EXPECT_EQ(breaker.pause_ends(), now + Breaker::kFirstPause);
}

TEST(Breaker, OpensAfterLateBatchesInARow) {
  Clock::time_point now{std::chrono::hours(1)};
  Breaker breaker;
  for (unsigned i = 0; i < 2 * Breaker::kLateInARow - 1; ++i) {
    if (i == Breaker::kLateInARow) breaker.succeeded();
    if (i == 0 || i > Breaker::kLateInARow) now += milliseconds(10);
    breaker.late("late", now - milliseconds(5), now);
  }
  EXPECT_TRUE(breaker.closed()) << "first a row of one that counts, then one too short";
  now += milliseconds(10);
  breaker.late("late", now - milliseconds(5), now);
  EXPECT_STREQ(breaker.reason(), "late");
  EXPECT_EQ(breaker.state(), Breaker::State::kOpen);
}

TEST(Breaker, ThePauseDoublesUntilBatchesSucceed) {
  const Clock::time_point now{std::chrono::hours(1)};
  Breaker breaker;
  breaker.open("one", now);
  breaker.probe();
  breaker.open("two", now);
  EXPECT_EQ(breaker.pause_ends(), now + 2 * Breaker::kFirstPause);
  breaker.open("already", now);
  EXPECT_EQ(breaker.opened(), 2u);
  for (int i = 0; i < 20; ++i) {
    breaker.probe();
    breaker.open("again", now);
  }
  EXPECT_EQ(breaker.pause_ends(), now + Breaker::kLongestPause);
  breaker.probe();
  breaker.close();
  EXPECT_TRUE(breaker.closed());
  for (unsigned i = 0; i < Breaker::kSuccessesToForget; ++i)
    breaker.succeeded();
  breaker.open("later", now);
  EXPECT_EQ(breaker.pause_ends(), now + Breaker::kFirstPause);
}

}  // namespace
}  // namespace polykem
