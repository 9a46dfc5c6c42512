// SPDX-License-Identifier: Apache-2.0
// Tests the order, limits and costs of operations that wait in the batcher.
#include <array>
#include <atomic>

#include "executors.hpp"

namespace polykem::test {
namespace {

TEST_F(Executors, AboveHighWaterTheCpuComputes) {
  make({.deadline = kFar, .high_water = 8, .on_caller = false});
  warm_up();
  const BatcherStats before = stats();
  device.stalls = true;
  const std::vector<Handle> tickets = add_all();
  EXPECT_TRUE(eventually([&] { return stats().in_flight < 8; }));
  device.stalls = false;
  EXPECT_EQ(count_right(tickets), kItems);
  EXPECT_GT(stats().spilled, 0u);
  EXPECT_EQ(stats().spilled, stats().on_cpu - before.on_cpu) << "the device was there for all";
  EXPECT_GT(stats().on_accelerator, before.on_accelerator);
}

TEST_F(Executors, TwoBatchesAtADeviceTakeHalfTheDeadline) {
  device.max_items = 1;
  device.delay_us = 25000;
  make({.deadline = milliseconds(1000), .on_caller = false});
  warm_up();
  // 10 items take a quarter of the deadline, 20 a half. On a busy machine, times say little about sizes, and a batch
  // may be too large.
  BatcherStats before, after;
  const auto is_kept = [&] {
    return after.on_accelerator - before.on_accelerator > kItems / 2 && after.batches - before.batches >= kItems / 18;
  };
  for (int round = 0; round < 6 && !is_kept(); ++round) {
    EXPECT_TRUE(eventually([&] {
      add(x.request(0))->wait();
      return health().state == ExecutorHealth::State::kClosed;
    }));
    before = stats();
    EXPECT_EQ(exchange_all(), kItems);
    after = stats();
  }
  EXPECT_TRUE(is_kept()) << after.on_accelerator - before.on_accelerator << " of " << kItems << " in "
                         << after.batches - before.batches << " batches";
}

TEST_F(Executors, TheSetThatHasWaitedLongestIsFirst) {
  const Encapsulations other{*find_scheme("mlkem768")};
  make({.on_caller = false}, cpu::kRef, 1);
  for (const bool other_first : {false, true}) {
    std::mutex mutex;
    std::vector<const Scheme*> finished;
    struct Note {
      std::mutex& mutex;
      std::vector<const Scheme*>& finished;
      const Scheme* set;
      static void of(void* user) {
        const auto& note = *static_cast<Note*>(user);
        const std::lock_guard lock(note.mutex);
        note.finished.push_back(note.set);
      }
    } notes[] = {{mutex, finished, &x.s}, {mutex, finished, &other.s}};
    batcher->hold();
    std::vector<Handle> tickets;
    for (const int i : {0, 1}) {
      const size_t set = static_cast<size_t>(i) ^ static_cast<size_t>(other_first);
      tickets.push_back(add(set == 0 ? x.request(0) : other.request(0), Note::of, &notes[set]));
    }
    batcher->release();
    EXPECT_TRUE(eventually([&] {
      const std::lock_guard lock(mutex);
      return finished.size() == 2;
    }));
    EXPECT_EQ(finished.front(), other_first ? &other.s : &x.s);
  }
}

TEST_F(Executors, ALongOperationIsNotTheCallers) {
  make({}, nullptr);
  EXPECT_TRUE(x.is_right(0, *add(x.request(0))));  // from now on its time is known
  const BatcherStats before = stats();
  Ticket* ticket = nullptr;
  ASSERT_EQ(batcher->add(x.request(1), nullptr, nullptr, ticket, Clock::duration::zero()), Status::kOk);
  EXPECT_TRUE(x.is_right(1, *Handle(ticket)));
  EXPECT_EQ(stats().on_caller, before.on_caller);
  EXPECT_EQ(stats().operations, before.operations + 1);
}

TEST_F(Executors, AtTheHardLimitOperationsAreRefused) {
  make({.deadline = std::chrono::seconds(20), .hard_limit = 20});
  warm_up();
  device.stalls = true;
  std::vector<Handle> tickets;
  Ticket* refused = nullptr;
  for (size_t i = 0; i < 20; ++i)
    tickets.push_back(add(x.request(i)));
  EXPECT_EQ(batcher->add(x.request(0), nullptr, nullptr, refused), Status::kBusy);
  EXPECT_EQ(refused, nullptr);
  EXPECT_EQ(stats().refused, 1u);
  EXPECT_EQ(stats().in_flight, 20u);
  tickets.pop_back();
  EXPECT_EQ(stats().abandoned, 1u);
  tickets.push_back(add(x.request(19)));
  device.stalls = false;
  for (size_t i = 0; i < 20; ++i)
    EXPECT_TRUE(x.is_right(i, *tickets[i]));
}

TEST_F(Executors, WhatIsAbandonedIsNotComputed) {
  make({.deadline = std::chrono::seconds(20)});
  warm_up();
  device.stalls = true;
  std::atomic<int> called{0};
  const auto count = [](void* user) { ++*static_cast<std::atomic<int>*>(user); };
  std::vector<Handle> tickets;
  for (size_t i = 0; i < 50; ++i)
    tickets.push_back(add(x.request(i), count, &called));
  for (size_t i = 0; i < 50; ++i)
    if (i != 40) tickets[i].reset();
  EXPECT_GE(stats().abandoned, 47u) << "at most two were under way";
  EXPECT_EQ(stats().waiting, 1u);
  device.stalls = false;
  EXPECT_TRUE(x.is_right(40, *tickets[40]));
  batcher.reset();
  EXPECT_EQ(called, 1);
}

TEST_F(Executors, ALingeringBatchFillsUp) {
  constexpr milliseconds kLinger{50};
  make({.linger = kLinger, .deadline = kFar});
  warm_up();
  BatcherStats before;
  ASSERT_TRUE(eventually([&] {
    before = stats();
    const Clock::time_point begin = Clock::now();
    std::vector<Handle> tickets;
    for (size_t i = 0; i < 12; ++i)
      tickets.push_back(add(x.request(i)));
    const bool in_time = Clock::now() - begin < kLinger;  // otherwise there may have been two batches
    for (size_t i = 0; i < 12; ++i)
      EXPECT_TRUE(x.is_right(i, *tickets[i]));
    return in_time;
  }));
  EXPECT_EQ(stats().batches - before.batches, 1u);
  EXPECT_EQ(stats().batch_items[3] - before.batch_items[3], 1u);
}

/// Records the order in which operations finish.
struct Order {
  std::mutex mutex;
  std::vector<Op> finished;

  ptrdiff_t size() {
    const std::lock_guard lock(mutex);
    return static_cast<ptrdiff_t>(finished.size());
  }
  template <Op kOp>
  static void note(void* user) {
    auto& order = *static_cast<Order*>(user);
    const std::lock_guard lock(order.mutex);
    order.finished.push_back(kOp);
  }
};

/// Submits this many key pairs and then a decapsulation. Returns the part of the waiting ones that finished before it.
double part_ahead_of_a_decapsulation(Executors& test, ptrdiff_t pairs) {
  Request decaps{.op = Op::kDecaps, .scheme = &test.x.s};
  decaps.records.count = 1;
  decaps.records.sk = test.x.sk.data();
  decaps.records.ct = test.x.ct.data();
  Order order;
  std::vector<Handle> tickets;
  test.batcher->hold();
  for (ptrdiff_t i = 0; i < pairs; ++i)
    tickets.push_back(test.add(test.keygen(), Order::note<Op::kKeygen>, &order));
  test.batcher->release();
  const ptrdiff_t before = order.size();
  tickets.push_back(test.add(decaps, Order::note<Op::kDecaps>, &order));
  Bytes ss(test.x.s.shared_secret_bytes);
  EXPECT_EQ(tickets.back()->take(nullptr, ss.data()), Status::kOk);
  EXPECT_TRUE(std::equal(ss.begin(), ss.end(), test.x.ss.begin()));
  for (const Handle& ticket : tickets)
    ticket->wait();
  EXPECT_TRUE(Executors::eventually([&] { return order.size() == pairs + 1; }));
  const auto place = std::find(order.finished.begin(), order.finished.end(), Op::kDecaps);
  return static_cast<double>(place - order.finished.begin() - before) / static_cast<double>(pairs - before + 1);
}

TEST_F(Executors, ADecapsulationStartsBeforeHundredsOfKeyPairsThatWait) {
  make({.on_caller = false}, cpu::kRef, 1);
  // A batch of key pairs may take 20 ms; all of them take longer. On a busy machine, times say little about sizes, and
  // a batch may be too large.
  double part = 1;
  for (int round = 0; round < 8 && part > 0.5; ++round) {
    const Clock::time_point begin = Clock::now();
    for (int i = 0; i < 16; ++i)
      add(keygen())->wait();
    const Clock::duration one = (Clock::now() - begin) / 16;
    part = part_ahead_of_a_decapsulation(*this, std::clamp<ptrdiff_t>(milliseconds(400) / one, 200, 8000));
  }
  EXPECT_LT(part, 0.5);
}

/// Keeps hundreds of decapsulations in flight, more than fit into a batch: another one follows each that ends, until
/// this many are done.
struct EndlessDecapsulations {
  static constexpr size_t kInFlight = 400, kMax = 40'000;
  struct Place {
    EndlessDecapsulations* all = nullptr;
    Handle ticket{};
  };

  explicit EndlessDecapsulations(Executors& fixture) : test(fixture) {
    request.records.count = 1;
    request.records.sk = test.x.sk.data();
    request.records.ct = test.x.ct.data();
    test.batcher->hold();
    for (Place& place : places)
      place = {this, test.add(request, next, &place)};
    test.batcher->release();
  }
  /// Called on the only computing thread.
  static void next(void* ended) {
    Place& place = *static_cast<Place*>(ended);
    EndlessDecapsulations& all = *place.all;
    if (++all.done < kMax) place.ticket = all.test.add(all.request, next, &place);
  }

  Executors& test;
  Request request{.op = Op::kDecaps, .scheme = &test.x.s};
  std::atomic<size_t> done{0};
  std::array<Place, kInFlight> places;
};

TEST_F(Executors, AKeyPairIsMadeWhileDecapsulationsNeverCease) {
  make({.batch_items = 64, .on_caller = false}, cpu::kRef, 1);
  EndlessDecapsulations decapsulations(*this);
  add(keygen())->wait();
  EXPECT_LT(decapsulations.done.exchange(decapsulations.kMax), decapsulations.kMax);
  EXPECT_TRUE(eventually([&] { return stats(Op::kDecaps).in_flight == 0; }));
  batcher.reset();  // waits for the last callback
}

/// Callers never compute operations that come in bursts, but the costs of these are known.
TEST_F(Executors, TheCostOfWhatComesInBurstsIsMeasured) {
  make({.on_caller = false}, cpu::kRef, 1);
  Request request{.op = Op::kKeygen, .scheme = find_scheme("frodokem1344shake")};
  request.records.count = 1;
  Clock::duration least = Clock::duration::max();
  for (int round = 0; round < 3; ++round) {
    const Clock::time_point begin = Clock::now();
    batcher->hold();
    std::vector<Handle> tickets;
    for (int i = 0; i < 3; ++i)
      tickets.push_back(add(request));
    batcher->release();
    for (const Handle& ticket : tickets)
      ticket->wait();
    least = std::min(least, (Clock::now() - begin) / 3);
  }
  EXPECT_GT(batcher->cost(*request.scheme, Op::kKeygen, false), least / 2);
}

}  // namespace
}  // namespace polykem::test
