// SPDX-License-Identifier: Apache-2.0
#include "core/plan.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

using polykem::Step;
using polykem::StepTimes;

/// Records which steps ran; has `tiles` tiles.
struct Diary {
  std::string steps{};
  int tiles = 1;
  bool next_tile() { return --tiles > 0; }
};

template <char kName>
void write(Diary& diary) {
  diary.steps += kName;
}

constexpr std::array kPlan{
    Step<Diary>{{"a", 0, 1}, write<'a'>},
    Step<Diary>{{"gen", 1, 1, true}, write<'g'>},
    Step<Diary>{{"mul", 2, 2, true}, write<'m'>},
    Step<Diary>{{"z", 4, 1}, write<'z'>},
};
static_assert(polykem::covers_each_stage_once(kPlan, 5));
static_assert(!polykem::covers_each_stage_once(kPlan, 4) && !polykem::covers_each_stage_once(kPlan, 6));

TEST(Plan, TiledStepsRepeatAsAGroup) {
  Diary diary{.tiles = 3};
  polykem::run_plan(kPlan, diary, 1, nullptr);
  EXPECT_EQ(diary.steps, "agmgmgmz");
}

TEST(Plan, OneTileIsOneRound) {
  Diary diary;
  polykem::run_plan(kPlan, diary, 1, nullptr);
  EXPECT_EQ(diary.steps, "agmz");
}

TEST(Plan, APlanMayEndWithTiles) {
  constexpr std::array plan{kPlan[1], kPlan[2]};
  Diary diary{.tiles = 2};
  polykem::run_plan(plan, diary, 1, nullptr);
  EXPECT_EQ(diary.steps, "gmgm");
}

TEST(Plan, TimesCountEveryCallAndEachItemOnce) {
  Diary diary{.tiles = 4};
  StepTimes times;
  polykem::run_plan(kPlan, diary, 7, &times);
  for (size_t step = 0; step < kPlan.size(); ++step) {
    EXPECT_EQ(times.entries[step].calls, kPlan[step].info.tiled ? 4 : 1);
    EXPECT_EQ(times.entries[step].items, 7);
  }
}

}  // namespace
