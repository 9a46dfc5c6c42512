// SPDX-License-Identifier: Apache-2.0
#include "core/plan.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <type_traits>

namespace {

using polykem::Step;
using polykem::StepTimes;
using polykem::tiled;
using polykem::with_ahead;

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

/// Stages 2 and 4 are computed with stage 0.
constexpr std::array kAhead{
    Step<Diary>{{"a", 0, 1, false, 1 << 2 | 1 << 4}, write<'a'>},
    Step<Diary>{{"b", 1, 1}, write<'b'>},
    Step<Diary>{{"d", 3, 1}, write<'d'>},
};
static_assert(polykem::covers_each_stage_once(kAhead, 5) && !polykem::covers_each_stage_once(kAhead, 6));
constexpr bool ahead_covers(uint32_t ahead, uint8_t last) {
  return polykem::covers_each_stage_once(
      std::array{Step<Diary>{{"a", 0, 1, false, ahead}, write<'a'>}, Step<Diary>{{"z", last, 1}, write<'z'>}}, 3);
}
static_assert(ahead_covers(1 << 1, 2) && ahead_covers(1 << 2, 1));
static_assert(!ahead_covers(1 << 2, 2), "stage 1 is missing and stage 2 is there twice");
static_assert(!ahead_covers(1 << 1, 1), "stage 1 is there twice");
static_assert(!ahead_covers(1 << 0 | 1 << 1, 2), "a stage is not ahead of itself");
static_assert(!ahead_covers(1 << 1 | 1 << 3, 2), "there is no stage 3");

constexpr std::array kStages{polykem::Stage{"a", "", ""}, polykem::Stage{"gen", "", ""},
                             polykem::Stage{"mul.x", "", ""}, polykem::Stage{"mul.y", "", ""},
                             polykem::Stage{"z", "", ""}};

constexpr bool same(const polykem::StepInfo& a, const polykem::StepInfo& b) {
  return std::string_view(a.name) == b.name && a.first == b.first && a.count == b.count && a.tiled == b.tiled &&
         a.ahead == b.ahead;
}

constexpr auto kNamed = polykem::plan_of<kStages, Diary>({
    {"a", write<'a'>},
    {tiled("gen"), write<'g'>},
    {tiled({"mul", "mul.x", "mul.y"}), write<'m'>},
    {{"end", "z"}, write<'z'>},
});
static_assert(same(kNamed[0].info, kPlan[0].info) && same(kNamed[1].info, kPlan[1].info));
static_assert(same(kNamed[2].info, kPlan[2].info) && same(kNamed[3].info, {"end", 4, 1}));
constexpr auto kNamedAhead = polykem::plan_of<kStages, Diary>({
    {with_ahead("a", "mul.x", "z"), write<'a'>},
    {"gen", write<'b'>},
    {"mul.y", write<'d'>},
});
static_assert(same(kNamedAhead[0].info, {"a", 0, 1, false, 1 << 2 | 1 << 4}));

/// True if plan_of() accepts T's steps.
template <class T>
concept IsPlan = requires {
  typename std::integral_constant<size_t, T::plan().size()>;
};
template <class First>
struct Named {
  static constexpr auto plan() {
    return polykem::plan_of<kStages, Diary>({{First::kStage, write<'a'>}, {{"rest", "gen", "z"}, write<'z'>}});
  }
};
struct A {
  static constexpr const char* kStage = "a";
};
struct Unknown {
  static constexpr const char* kStage = "b";
};
struct Twice {
  static constexpr const char* kStage = "gen";
};
static_assert(IsPlan<Named<A>> && !IsPlan<Named<Unknown>> && !IsPlan<Named<Twice>>);

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
