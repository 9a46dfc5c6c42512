// SPDX-License-Identifier: Apache-2.0
// Tests the batcher's parts, without threads and clocks: TicketQueues, ExecutorState and Placement.
#include "engine/batcher/placement.hpp"

#include <gtest/gtest.h>

#include "schemes/registry.hpp"

namespace polykem {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Pace = InFlightBatch::Pace;

constexpr unsigned kThreads = 4;
constexpr Clock::time_point kNever = Clock::time_point::max();

/// Computes nothing; a test decides how its batches end.
class PaperExecutor final : public Executor {
 public:
  explicit PaperExecutor(Kind kind) : kind_(kind) {}
  Kind kind() const override { return kind_; }
  const char* name() const override { return "paper"; }
  unsigned max_in_flight() const override { return kind_ == Kind::kCpu ? kThreads : 2; }
  bool available(const Scheme&, Op) override { return true; }
  Status submit(const Request&, Done) override { return Status::kBackendUnavailable; }

 private:
  const Kind kind_;
};

struct Parts : testing::Test {
  BatcherConfig config{.deadline = milliseconds(40), .high_water = 1000, .hard_limit = 2000};
  std::unique_ptr<Engine> engine;
  std::unique_ptr<TicketQueues> queues;
  std::vector<ExecutorState> executors;
  Load load;
  size_t in_flight = 0;
  Clock::time_point now{std::chrono::hours(1)}, next = kNever;
  std::array<InFlightBatch, 8> batches;

  Parts() {
    EXPECT_EQ(Engine::create({.threads = kThreads, .backend = cpu::kRef, .accelerators = {}}, engine), Status::kOk);
    queues = std::make_unique<TicketQueues>(*engine, config);
    make_executors(Executor::Kind::kBroker, false);
  }
  void make_executors(Executor::Kind kind, bool forced) {
    executors.clear();
    executors.emplace_back(std::make_unique<PaperExecutor>(Executor::Kind::kCpu), queues->size(), false);
    executors.emplace_back(std::make_unique<PaperExecutor>(kind), queues->size(), forced);
  }
  ExecutorState& cpu() { return executors[0]; }
  ExecutorState& device() { return executors[1]; }
  TicketQueue& queue(Op op) { return (*queues)[TicketQueues::index_of(*find_scheme("mlkem768"), op, false)]; }
  Placement placement() const { return {config, kThreads, executors, in_flight, load, now}; }

  InFlightBatch& start(InFlightBatch& batch, ExecutorState& executor, TicketQueue& of, size_t items,
                       bool probe = false) {
    batch.tickets.assign(items, nullptr);
    batch.probe = probe;
    executor.started(batch, of, placement().service_of(executor, of, items), now);
    return batch;
  }
  bool end(InFlightBatch& batch, Clock::duration took, bool ran = true, bool right = true) {
    now += took;
    return batch.executor->ended(batch, ran, right, now);
  }
  void measure(ExecutorState& executor, TicketQueue& of, Clock::duration fixed, Clock::duration each) {
    for (size_t i = 0; i < 100; ++i) {
      const size_t items = i % 2 == 0 ? 10 : 110;
      end(start(batches[0], executor, of, items), fixed + items * each);
    }
  }
  bool probe(TicketQueue& of, Clock::duration took, bool passed = true) {
    if (device().begin_probe(now, next) != of.index) return false;
    end(start(batches[0], device(), of, 2, true), took, true, passed);
    return true;
  }
  /// The device computes the queue's operations in the time `fixed`, whatever their number.
  void prove(TicketQueue& of, Clock::duration fixed) {
    device().ask_for_probe(of);
    EXPECT_TRUE(probe(of, fixed));
    EXPECT_TRUE(probe(of, fixed));
    EXPECT_TRUE(device().takes(of));
    measure(device(), of, fixed, microseconds(0));
  }
};

struct PlacementOf : Parts {};
struct ExecutorStateOf : Parts {};
struct QueuesOf : Parts {};

TEST_F(PlacementOf, WhoIsSoonerDoneGetsTheBatch) {
  TicketQueue& encaps = queue(Op::kEncaps);
  measure(cpu(), encaps, microseconds(0), microseconds(10));
  encaps.waiting.size = 200;
  EXPECT_EQ(placement().choose_executor(encaps), 0u) << "the device is not proven";
  prove(encaps, milliseconds(1));
  EXPECT_EQ(placement().choose_executor(encaps), 1u);
  encaps.waiting.size = 50;
  EXPECT_EQ(placement().choose_executor(encaps), 0u);
  encaps.waiting.size = 200;
  start(batches[1], device(), encaps, 200);
  EXPECT_EQ(placement().choose_executor(encaps), 0u) << "1 ms, and 1 ms for the batch before it";
  encaps.waiting.size = 300;
  EXPECT_EQ(placement().choose_executor(encaps), 1u);
}

TEST_F(PlacementOf, UnderLoadADeviceThatIsCheaperHelps) {
  TicketQueue& encaps = queue(Op::kEncaps);
  encaps.single.add(1, microseconds(40));
  measure(cpu(), encaps, microseconds(0), microseconds(10));
  prove(encaps, milliseconds(1));
  encaps.waiting.size = 50;
  EXPECT_EQ(placement().choose_executor(encaps), 0u);
  load.add(seconds(1), now);
  EXPECT_EQ(placement().choose_executor(encaps), 1u);
}

TEST_F(PlacementOf, AForcedDeviceKeepsWhatWaits) {
  make_executors(Executor::Kind::kAccelerator, true);
  TicketQueue& encaps = queue(Op::kEncaps);
  measure(cpu(), encaps, microseconds(0), microseconds(1));
  prove(encaps, milliseconds(1));
  encaps.waiting.size = 1;
  EXPECT_EQ(placement().choose_executor(encaps), 1u) << "though the CPU is sooner done";
  EXPECT_FALSE(placement().caller_may_compute(encaps));
  start(batches[1], device(), encaps, 1);
  start(batches[2], device(), encaps, 1);
  EXPECT_EQ(placement().choose_executor(encaps), std::nullopt) << "it waits for the device";
  encaps.rescue.size = 1;
  EXPECT_EQ(placement().choose_executor(encaps), 0u) << "what the device failed to compute";
  encaps.rescue.size = 0;
  batches[1].pace = batches[2].pace = Pace::kLate;
  EXPECT_EQ(placement().choose_executor(encaps), 0u) << "the device stands still";
}

TEST_F(PlacementOf, AboveHighWaterTheCpuComputes) {
  make_executors(Executor::Kind::kAccelerator, true);
  TicketQueue& encaps = queue(Op::kEncaps);
  prove(encaps, milliseconds(1));
  encaps.waiting.size = 1;
  in_flight = config.high_water - 1;
  EXPECT_FALSE(placement().spills(encaps));
  ++in_flight;
  EXPECT_TRUE(placement().spills(encaps));
  EXPECT_TRUE(placement().caller_may_compute(encaps));
  EXPECT_EQ(placement().choose_executor(encaps), 0u);
  EXPECT_FALSE(placement().spills(queue(Op::kDecaps))) << "the device is not proven";
}

TEST_F(PlacementOf, ABatchOfADeviceTakesAQuarterOfTheDeadline) {
  TicketQueue& encaps = queue(Op::kEncaps);
  EXPECT_EQ(placement().items_allowed(device(), encaps), 1u) << "nothing is known";
  measure(device(), encaps, milliseconds(1), microseconds(90));
  EXPECT_NEAR(static_cast<double>(placement().items_allowed(device(), encaps)), 100, 3);
  config.batch_items = 64;
  EXPECT_EQ(placement().items_allowed(device(), encaps), 64u);
}

TEST_F(PlacementOf, KeyPairsLeaveTheCpuToDecapsulations) {
  TicketQueue &keygen = queue(Op::kKeygen), &decaps = queue(Op::kDecaps);
  EXPECT_EQ(placement().items_allowed(cpu(), decaps), config.batch_items);
  measure(cpu(), keygen, microseconds(0), microseconds(100));
  EXPECT_NEAR(static_cast<double>(placement().items_allowed(cpu(), keygen)), 200, 4) << "20 ms";
  start(batches[1], cpu(), keygen, 300);
  EXPECT_NEAR(static_cast<double>(placement().items_allowed(cpu(), keygen)), 100, 4) << "10 ms of 40 are left";
  start(batches[2], cpu(), keygen, 100);
  EXPECT_EQ(placement().items_allowed(cpu(), keygen), 0u);
  EXPECT_EQ(placement().items_allowed(cpu(), queue(Op::kEncaps)), 0u);
  EXPECT_EQ(placement().items_allowed(cpu(), decaps), config.batch_items);
}

TEST_F(PlacementOf, ACallerComputesWhatIsShortForIt) {
  TicketQueue& encaps = queue(Op::kEncaps);
  const Caller patient{Clock::duration::max(), false};
  encaps.single.add(1, microseconds(40));
  EXPECT_TRUE(placement().caller_may_compute(encaps));
  EXPECT_TRUE(placement().caller_is_sooner(encaps, patient, 0));
  EXPECT_FALSE(placement().caller_is_sooner(encaps, {microseconds(39), false}, 0));
  EXPECT_FALSE(placement().caller_is_sooner(encaps, patient, 0.5)) << "other threads may help";
  EXPECT_TRUE(placement().caller_is_sooner(encaps, {Clock::duration::max(), true}, 0.5)) << "it waits anyway";
  measure(cpu(), encaps, microseconds(0), microseconds(1));
  EXPECT_TRUE(placement().caller_is_sooner(encaps, patient, 0));
  load.add(seconds(1), now);
  EXPECT_FALSE(placement().caller_is_sooner(encaps, patient, 0)) << "batches are cheaper";
  config.on_caller = false;
  EXPECT_FALSE(placement().caller_may_compute(encaps));
}

TEST_F(PlacementOf, TheCostIsTheLeastOfAllThatCompute) {
  TicketQueue& encaps = queue(Op::kEncaps);
  EXPECT_EQ(placement().cost(encaps), microseconds(250)) << "a guess: 1 ms of one thread";
  encaps.single.add(1, microseconds(40));
  EXPECT_EQ(placement().cost(encaps), microseconds(10));
  measure(device(), encaps, microseconds(0), microseconds(2));
  EXPECT_EQ(placement().cost(encaps), microseconds(10)) << "the device is not proven";
  prove(encaps, microseconds(60));
  EXPECT_LT(placement().cost(encaps), microseconds(2));
}

TEST_F(ExecutorStateOf, ItIsProvenByTwoProbesOfWhichTheSecondIsMeasured) {
  TicketQueue& encaps = queue(Op::kEncaps);
  EXPECT_FALSE(device().begin_probe(now, next)) << "nobody has asked";
  EXPECT_TRUE(device().lacks_probe(encaps, true, now));
  device().ask_for_probe(encaps);
  EXPECT_FALSE(device().lacks_probe(encaps, true, now));
  EXPECT_TRUE(probe(encaps, seconds(1)));
  EXPECT_FALSE(device().takes(encaps));
  EXPECT_FALSE(device().service(encaps).known());
  EXPECT_TRUE(probe(encaps, milliseconds(2)));
  EXPECT_TRUE(device().takes(encaps));
  EXPECT_FALSE(device().takes(queue(Op::kDecaps)));
  EXPECT_EQ(device().service(encaps).of(2), milliseconds(2));
  EXPECT_FALSE(device().lacks_probe(encaps, true, now));
  EXPECT_TRUE(device().lacks_probe(encaps, true, now + seconds(11))) << "its speed may have changed";
}

TEST_F(ExecutorStateOf, WithoutNeedNobodyAsksAnAccelerator) {
  make_executors(Executor::Kind::kAccelerator, false);
  TicketQueue& encaps = queue(Op::kEncaps);
  encaps.single.add(1, microseconds(50));
  EXPECT_FALSE(device().lacks_probe(encaps, false, now));
  EXPECT_TRUE(device().lacks_probe(encaps, true, now));
  EXPECT_FALSE(cpu().lacks_probe(encaps, true, now));
  queue(Op::kKeygen).single.add(1, milliseconds(1));
  EXPECT_TRUE(device().lacks_probe(queue(Op::kKeygen), false, now)) << "it takes long";
  device().ask_for_probe(encaps);
  EXPECT_EQ(device().begin_probe(now, next), encaps.index);
  device().cancel_probe(encaps, false, now);
  EXPECT_TRUE(device().cannot_run(encaps)) << "it is not available";
  EXPECT_FALSE(device().lacks_probe(encaps, true, now));
}

TEST_F(ExecutorStateOf, AProbeHasAPlace) {
  TicketQueue& encaps = queue(Op::kEncaps);
  device().ask_for_probe(encaps);
  EXPECT_EQ(device().begin_probe(now, next), encaps.index);
  start(batches[1], device(), encaps, 1);
  EXPECT_FALSE(device().idle());
  device().cancel_probe(encaps, true, now);
  EXPECT_TRUE(device().idle());
  EXPECT_EQ(device().health().state, ExecutorHealth::State::kOpen);
  EXPECT_STREQ(device().health().reason, "no memory for a probe");
}

TEST_F(ExecutorStateOf, AfterAPauseAProbeClosesTheBreaker) {
  TicketQueue& encaps = queue(Op::kEncaps);
  EXPECT_EQ(device().health().state, ExecutorHealth::State::kUnused);
  prove(encaps, milliseconds(1));
  for (unsigned i = 0; i < Breaker::kFailuresInARow; ++i) {
    EXPECT_EQ(device().health().state, ExecutorHealth::State::kClosed);
    EXPECT_FALSE(end(start(batches[0], device(), encaps, 1), milliseconds(1), false)) << "the CPU computes it";
  }
  EXPECT_EQ(device().health().state, ExecutorHealth::State::kOpen);
  EXPECT_STREQ(device().health().reason, "batches failed in a row");
  EXPECT_FALSE(device().takes(encaps));
  EXPECT_FALSE(device().begin_probe(now, next));
  EXPECT_EQ(next, kNever) << "nobody has asked for it";
  device().ask_for_probe(encaps);
  EXPECT_FALSE(device().begin_probe(now, next));
  EXPECT_EQ(next, now + Breaker::kFirstPause);
  now = next;
  EXPECT_TRUE(probe(encaps, milliseconds(1), false));
  EXPECT_EQ(device().health().opened, 2u);
  EXPECT_STREQ(device().health().reason, "a probe failed");
  device().ask_for_probe(encaps);
  now += 2 * Breaker::kFirstPause;
  EXPECT_TRUE(probe(encaps, milliseconds(1)));
  EXPECT_TRUE(device().takes(encaps));
}

TEST_F(ExecutorStateOf, AWrongResultOpensTheBreaker) {
  TicketQueue& encaps = queue(Op::kEncaps);
  prove(encaps, milliseconds(1));
  EXPECT_FALSE(end(start(batches[0], device(), encaps, 1), milliseconds(1), true, false));
  EXPECT_STREQ(device().health().reason, "a result was wrong");
  EXPECT_TRUE(end(start(batches[0], cpu(), encaps, 1), milliseconds(1), false)) << "nobody else computes it";
}

TEST_F(ExecutorStateOf, ABatchIsLateAndThenStalls) {
  TicketQueue& encaps = queue(Op::kEncaps);
  prove(encaps, milliseconds(1));
  const Clock::time_point begin = now;
  InFlightBatch& batch = start(batches[1], device(), encaps, 1);
  const auto check = [&](Clock::duration after) {
    next = kNever;
    device().check_deadline(batch, config.deadline, begin + after, next);
    return batch.pace;
  };
  EXPECT_EQ(check(milliseconds(39)), Pace::kInTime);
  EXPECT_EQ(next, begin + config.deadline);
  EXPECT_EQ(check(milliseconds(40)), Pace::kLate);
  EXPECT_TRUE(device().takes(encaps)) << "one late batch";
  EXPECT_TRUE(device().all_late());
  EXPECT_EQ(check(milliseconds(399)), Pace::kLate);
  EXPECT_EQ(next, begin + 10 * config.deadline);
  EXPECT_EQ(check(milliseconds(400)), Pace::kStalled);
  EXPECT_STREQ(device().health().reason, "a batch stalled");
  EXPECT_EQ(device().health().batches, 1u);
}

struct ReleaseTicket {
  void operator()(Ticket* ticket) const { ticket->release(); }
};

TEST_F(QueuesOf, WhatHasWaitedLongIsFirst) {
  const auto ticket = [](Op op) {
    static const std::vector<uint8_t> input(4096);
    Request request{.op = op, .scheme = find_scheme("mlkem768")};
    request.records.count = 1;
    request.records.sk = request.records.ct = input.data();
    return std::unique_ptr<Ticket, ReleaseTicket>(Ticket::create(request));
  };
  const auto pair = ticket(Op::kKeygen), decapsulation = ticket(Op::kDecaps), later = ticket(Op::kDecaps);
  queues->push(queue(Op::kKeygen), pair.get(), now);
  queues->push(queue(Op::kDecaps), decapsulation.get(), now + milliseconds(1));
  queues->push(queue(Op::kDecaps), later.get(), now + milliseconds(1));
  EXPECT_EQ(queues->order(now + kMaxAhead - milliseconds(1)).front(), Op::kDecaps);
  EXPECT_EQ(queues->order(now + kMaxAhead).front(), Op::kKeygen);
  EXPECT_EQ(queues->order(now + kMaxAhead + milliseconds(1)).front(), Op::kDecaps) << "both have waited as long";
  EXPECT_EQ(queues->oldest(Op::kDecaps, [](const TicketQueue&) { return true; }), &queue(Op::kDecaps));
  EXPECT_EQ(queues->oldest(Op::kDecaps, [](const TicketQueue&) { return false; }), nullptr);
  std::vector<Ticket*> batch;
  EXPECT_EQ(queues->take(queue(Op::kDecaps), false, 1, now, batch), 1u);
  EXPECT_EQ(batch, std::vector<Ticket*>{decapsulation.get()});
  EXPECT_EQ(queues->stats(*find_scheme("mlkem768"), Op::kDecaps).waiting, 1u);
  queues->rescue(queue(Op::kDecaps), batch);
  decapsulation->release();  // the batch's reference
  batch.clear();
  EXPECT_EQ(queues->take(queue(Op::kDecaps), true, 2, now, batch), 1u) << "one of them was rescued";
  EXPECT_EQ(batch.front(), decapsulation.get());
  for (Ticket* taken : batch)
    taken->release();
  ASSERT_TRUE(queues->admit(queue(Op::kKeygen)));
  EXPECT_TRUE(queues->remove(pair.get()));
  EXPECT_FALSE(queues->remove(pair.get()));
  pair->release();
  EXPECT_EQ(queues->in_flight(), 0u);
}

TEST_F(QueuesOf, SoManyAreInFlight) {
  config.hard_limit = 2;
  TicketQueue& encaps = queue(Op::kEncaps);
  EXPECT_TRUE(queues->admit(encaps));
  EXPECT_TRUE(queues->admit(queue(Op::kDecaps)));
  EXPECT_FALSE(queues->admit(encaps));
  queues->leave(encaps, 1);
  EXPECT_TRUE(queues->admit(encaps));
  queues->leave(encaps, 1);
  queues->hold();
  queues->hold();
  EXPECT_FALSE(queues->release());
  EXPECT_TRUE(queues->held());
  EXPECT_TRUE(queues->release());
  EXPECT_FALSE(queues->release()) << "nobody holds it";
  queues->close();
  EXPECT_FALSE(queues->admit(encaps));
  EXPECT_EQ(queues->stats(*encaps.scheme, Op::kEncaps).refused, 2u);
}

}  // namespace
}  // namespace polykem
