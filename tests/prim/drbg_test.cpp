// SPDX-License-Identifier: Apache-2.0
// Tests when the random generator reseeds, and that no copy of a process repeats another's numbers.
#include "prim/drbg/drbg.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "prim/drbg/fork_generation.hpp"

namespace polykem::test {
namespace {

using Block = std::array<uint8_t, 32>;

/// The output of the sources under test, and how often they were called.
struct Machine {
  int seedings = 0;
  uint8_t entropy = 0;  ///< every byte of it
  bool has_entropy = true;
  uint64_t nanoseconds = 5'000'000'000;
  uint64_t generation = 1;
  uint64_t cpu_random = 0;
} machine;

Status machine_entropy(std::span<uint8_t> out) {
  ++machine.seedings;
  std::fill(out.begin(), out.end(), machine.entropy);
  return machine.has_entropy ? Status::kOk : Status::kRandom;
}

constexpr DrbgSources kMachine = {machine_entropy, [] { return machine.nanoseconds; },
                                  [] { return machine.generation; }, [] { return machine.cpu_random; }};

Block draw(Drbg& drbg) {
  Block out{};
  EXPECT_EQ(drbg.prepare(), Status::kOk);
  drbg.fill(out);
  return out;
}

class DrbgSeeding : public testing::Test {
 protected:
  DrbgSeeding() { machine = Machine{}; }

  /// Two generators with one state: an event on the machine between their draws must make them differ.
  static bool set_apart_by(const std::function<void(Machine&)>& event) {
    machine = Machine{};
    Drbg one(kMachine), other(kMachine);
    EXPECT_EQ(draw(one), draw(other));
    const Machine before = machine;
    const Block expected = draw(one);
    machine = before;
    event(machine);
    return draw(other) != expected;
  }
};

TEST_F(DrbgSeeding, EqualMachinesGiveEqualNumbers) {
  EXPECT_FALSE(set_apart_by([](Machine&) {}));
}

/// Output that is begun and written later equals that of a fill, and so do the next numbers. Short fills are expanded
/// together with the next key, so both must leave it out.
TEST_F(DrbgSeeding, ABegunFillIsAFill) {
  for (const auto& [first, bytes] : {std::pair<size_t, size_t>{0, 1}, {0, 64}, {16, 32}, {48, 65}, {512, 1000}}) {
    Drbg one(kMachine, aes256_ctr_portable), other(kMachine, aes256_ctr_portable);
    EXPECT_EQ(draw(one), draw(other));
    std::vector<uint8_t> filled(bytes), written(bytes);
    one.fill(filled);
    Aes256Keystream rest;
    other.begin_fill({written.data(), first}, rest);
    aes256_ctr_portable(written.data() + first, bytes - first, rest.key, rest.nonce, rest.counter);
    EXPECT_EQ(filled, written) << bytes;
    EXPECT_EQ(draw(one), draw(other)) << bytes;
  }
}

/// The output of a fill is the beginning of that of a longer one.
TEST_F(DrbgSeeding, AShortFillIsTheBeginningOfALongOne) {
  std::vector<uint8_t> long_one(1000);
  Drbg first(kMachine, aes256_ctr_portable);
  draw(first);
  first.fill(long_one);
  for (const size_t bytes : {1, 32, 64, 65}) {
    Drbg drbg(kMachine, aes256_ctr_portable);
    draw(drbg);
    std::vector<uint8_t> filled(bytes);
    drbg.fill(filled);
    EXPECT_TRUE(std::equal(filled.begin(), filled.end(), long_one.begin())) << bytes;
  }
}

TEST_F(DrbgSeeding, FreshEntropyAfterManyKeystreams) {
  Drbg drbg(kMachine, aes256_ctr_portable);
  draw(drbg);
  Aes256Keystream rest;
  for (uint64_t i = 1; i < Drbg::kReseedInterval; ++i)
    drbg.begin_fill({}, rest);
  EXPECT_EQ(machine.seedings, 1);
  draw(drbg);
  EXPECT_EQ(machine.seedings, 2);
}

TEST_F(DrbgSeeding, FreshEntropyAfterItsLifetime) {
  Drbg drbg(kMachine);
  draw(drbg);
  machine.nanoseconds += Drbg::kSeedLifetime - 1;
  draw(drbg);
  EXPECT_EQ(machine.seedings, 1);
  machine.nanoseconds += 1;
  draw(drbg);
  EXPECT_EQ(machine.seedings, 2);
  draw(drbg);
  EXPECT_EQ(machine.seedings, 2);
  machine.nanoseconds -= 2;  // a clock that goes back: the machine was resumed from an earlier state
  draw(drbg);
  EXPECT_EQ(machine.seedings, 3);
}

TEST_F(DrbgSeeding, FreshEntropyAfterManyFills) {
  Drbg drbg(kMachine);
  for (uint64_t i = 0; i < Drbg::kReseedInterval; ++i)
    draw(drbg);
  EXPECT_EQ(machine.seedings, 1);
  draw(drbg);
  EXPECT_EQ(machine.seedings, 2);
}

TEST_F(DrbgSeeding, FreshEntropyDecidesTheNumbers) {
  machine.entropy = 1;
  Drbg one(kMachine), other(kMachine);
  ASSERT_EQ(draw(one), draw(other));
  ++machine.generation;
  const Block expected = draw(one);
  machine.entropy = 2;
  EXPECT_NE(draw(other), expected);
  Drbg first_with_1(kMachine), first_with_2(kMachine);
  machine.entropy = 1;
  const Block with_1 = draw(first_with_1);
  machine.entropy = 2;
  EXPECT_NE(draw(first_with_2), with_1);
}

/// Entropy of zeros must not repeat earlier numbers.
TEST_F(DrbgSeeding, SeedingAgainKeepsTheOldKeyInTheMix) {
  Drbg drbg(kMachine);
  const Block first = draw(drbg);
  ++machine.generation;
  EXPECT_NE(draw(drbg), first);
}

TEST_F(DrbgSeeding, AResumedSnapshotDrawsOtherNumbersAtOnce) {
  EXPECT_TRUE(set_apart_by([](Machine& m) { m.nanoseconds += 1; }));
  EXPECT_TRUE(set_apart_by([](Machine& m) { m.cpu_random = 1; }));
  EXPECT_TRUE(set_apart_by([](Machine& m) { m.generation = 2; }));
}

TEST_F(DrbgSeeding, WithoutEntropyItFailsUntilThereIsSome) {
  Drbg drbg(kMachine);
  machine.has_entropy = false;
  EXPECT_EQ(drbg.prepare(), Status::kRandom);
  EXPECT_EQ(drbg.prepare(), Status::kRandom);
  machine.has_entropy = true;
  draw(drbg);
  machine.has_entropy = false;
  draw(drbg);  // it is not asked while the seed lives
  machine.nanoseconds += Drbg::kSeedLifetime;
  EXPECT_EQ(drbg.prepare(), Status::kRandom);
  machine.has_entropy = true;
  draw(drbg);
}

// ---- copies of a process

using MakeProcess = pid_t (*)();

pid_t raw_clone() {  // bypasses the C library: no handler of pthread_atfork runs
  return static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
}

/// Returns what `compute` returns in a child made by `make`; nothing if no child can be made.
template <class T>
std::optional<T> in_child(MakeProcess make, const std::function<T()>& compute) {
  int ends[2];
  if (pipe(ends) != 0) return std::nullopt;
  const pid_t child = make();
  if (child == 0) {
    const T result = compute();
    _exit(write(ends[1], &result, sizeof result) == sizeof result ? 0 : 1);
  }
  close(ends[1]);
  T result{};
  const bool got = child > 0 && read(ends[0], &result, sizeof result) == sizeof result;
  close(ends[0]);
  if (child > 0) waitpid(child, nullptr, 0);
  return got ? std::optional(result) : std::nullopt;
}

/// Both fill next from the same state: the child first, then this process.
void expect_child_draws_its_own(MakeProcess make) {
  Drbg drbg;
  draw(drbg);
  const auto drawn = in_child<Block>(make, [&] { return draw(drbg); });
  ASSERT_TRUE(drawn.has_value());
  EXPECT_NE(*drawn, draw(drbg));
}

TEST(DrbgFork, AChildDrawsItsOwnNumbers) {
  expect_child_draws_its_own(fork);
  expect_child_draws_its_own(raw_clone);
}

TEST(DrbgFork, AGrandchildDrawsItsOwnNumbers) {
  Drbg drbg;
  draw(drbg);
  const auto drawn = in_child<std::array<Block, 2>>(raw_clone, [&] {
    const auto below = in_child<Block>(raw_clone, [&] { return draw(drbg); });
    return std::array{draw(drbg), below.value_or(Block{})};
  });
  ASSERT_TRUE(drawn.has_value());
  const Block own = draw(drbg);
  EXPECT_NE((*drawn)[1], Block{});
  EXPECT_NE((*drawn)[0], (*drawn)[1]);
  EXPECT_NE((*drawn)[0], own);
  EXPECT_NE((*drawn)[1], own);
}

/// Tests the number alone, because the clock and the CPU's random numbers also distinguish a child.
void expect_other_generation(ForkGeneration& generation, MakeProcess make) {
  const uint64_t own = generation.current();
  EXPECT_EQ(generation.current(), own);
  const auto seen = in_child<std::array<uint64_t, 2>>(make, [&] {
    return std::array{generation.current(), generation.current()};
  });
  ASSERT_TRUE(seen.has_value());
  EXPECT_NE((*seen)[0], own);
  EXPECT_EQ((*seen)[0], (*seen)[1]);
  EXPECT_EQ(generation.current(), own);
}

TEST(ForkGeneration, ChangesInEveryChild) {
  ForkGeneration with_page, without_page(false);
  EXPECT_FALSE(without_page.has_page());
  for (ForkGeneration* generation : {&with_page, &without_page}) {
    expect_other_generation(*generation, fork);
    expect_other_generation(*generation, raw_clone);
  }
}

/// Two processes of number 1: the second in a namespace of its own, made by the first.
struct BothNumberOne {
  pid_t outer, inner;
  uint64_t outer_generation, inner_generation;
  Block outer_draw, inner_draw;
};

std::optional<BothNumberOne> draw_in_namespaces(bool with_page, MakeProcess make) {
  return in_child<BothNumberOne>(fork, [&] {  // a process that may go into namespaces
    static MakeProcess make_inner;
    make_inner = make;
    static bool page;
    page = with_page;
    if (unshare(CLONE_NEWPID) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) return BothNumberOne{};
    const auto both = in_child<BothNumberOne>(fork, [] {
      ForkGeneration generation(page);
      Drbg drbg;
      draw(drbg);
      BothNumberOne result{};
      result.outer = getpid();
      result.outer_generation = generation.current();
      if (unshare(CLONE_NEWPID) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) return result;
      const auto inner = in_child<BothNumberOne>(make_inner, [&] {
        BothNumberOne seen{};
        seen.inner = getpid();
        seen.inner_generation = generation.current();
        seen.inner_draw = draw(drbg);
        return seen;
      });
      if (!inner.has_value()) return result;
      result.inner = inner->inner;
      result.inner_generation = inner->inner_generation;
      result.inner_draw = inner->inner_draw;
      result.outer_draw = draw(drbg);
      return result;
    });
    return both.value_or(BothNumberOne{});
  });
}

TEST(DrbgFork, AChildOfTheSameProcessIdDrawsItsOwnNumbers) {
  struct Way {
    bool with_page;
    MakeProcess make;
  };
  // Past the C library and without the page nothing but the clock tells; that combination is not promised.
  for (const auto& [with_page, make] : {Way{true, fork}, Way{true, raw_clone}, Way{false, fork}}) {
    const auto both = draw_in_namespaces(with_page, make);
    ASSERT_TRUE(both.has_value());
    if (both->inner == 0) GTEST_SKIP() << "this user may not make namespaces of process ids";
    ASSERT_EQ(both->outer, both->inner);
    EXPECT_NE(both->outer_generation, both->inner_generation);
    EXPECT_NE(both->outer_draw, both->inner_draw);
  }
}

}  // namespace
}  // namespace polykem::test
