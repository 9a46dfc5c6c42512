// SPDX-License-Identifier: Apache-2.0
// Tests the batcher with a device that is slow, fails, stalls or returns wrong results, and with added executors.
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <csignal>

#include "engine/batcher/batcher_core.hpp"
#include "executors.hpp"

namespace polykem::test {
namespace {

TEST_F(Executors, WhatWaitsForADeviceIsOneBatch) {
  make();
  warm_up();
  const BatcherStats before = stats();
  device.stalls = true;
  const std::vector<Handle> tickets = add_all();
  device.stalls = false;
  EXPECT_EQ(count_right(tickets), kItems);
  const BatcherStats after = stats();
  EXPECT_EQ(after.on_accelerator - before.on_accelerator, kItems);
  EXPECT_LT(after.batches - before.batches, kItems / 8);
  uint64_t in_histogram = 0;
  for (const uint64_t batches : after.batch_items)
    in_histogram += batches;
  EXPECT_EQ(in_histogram, after.batches);
  EXPECT_EQ(after.in_flight + after.waiting, 0u);
  EXPECT_EQ(health().state, ExecutorHealth::State::kClosed);
  EXPECT_EQ(health(0).state, ExecutorHealth::State::kClosed);
}

TEST_F(Executors, OneLateBatchLeavesTheBreakerClosed) {
  make({.deadline = kAmple});
  warm_up();
  const BatcherStats before = stats();
  be_late();
  EXPECT_EQ(stats().rescued, before.rescued + 1);
  EXPECT_TRUE(eventually([&] {
    EXPECT_TRUE(x.is_right(2, *add(x.request(2))));
    return stats().on_accelerator > before.on_accelerator;
  }));
  EXPECT_EQ(health().opened, 0u);
}

TEST_F(Executors, LateBatchesInARowOpenTheBreaker) {
  make({.deadline = milliseconds(200)});
  warm_up();
  EXPECT_EQ(health().opened, 0u);
  EXPECT_TRUE(eventually([&] {
    be_late();
    return health().opened > 0;
  }));
  EXPECT_STREQ(health().reason, "batches passed their deadline in a row");
  EXPECT_GE(stats().rescued, Breaker::kLateInARow);
}

TEST_F(Executors, NothingWaitsForADeviceThatIsLate) {
  make({.deadline = 2 * kAmple});
  warm_up();
  const size_t chunks = device.chunks;
  device.stalls = true;
  EXPECT_TRUE(x.is_right(1, *add(x.request(1))));
  EXPECT_TRUE(eventually([&] { return device.chunks > chunks; }));
  const std::vector<Handle> tickets = add_all();
  EXPECT_EQ(count_right(tickets), kItems);
  EXPECT_EQ(health().opened, 0u) << "the CPU waited until the device had stalled, ten deadlines";
  EXPECT_LE(device.chunks, chunks + 2) << "its other place";
}

TEST_F(Executors, TheCpuRescuesWhatADeviceDoesNotFinish) {
  make({.deadline = milliseconds(100)});
  warm_up();
  device.stalls = true;
  EXPECT_EQ(exchange_all(), kItems) << "the same bytes, whoever computes them";
  EXPECT_GT(stats().rescued, 0u);
  EXPECT_TRUE(eventually([&] { return health().state != ExecutorHealth::State::kClosed; }));
  EXPECT_STREQ(health().reason, "a batch stalled");
  EXPECT_EQ(exchange_all(), kItems) << "with the breaker open";
  device.stalls = false;
  EXPECT_TRUE(eventually([&] {
    EXPECT_TRUE(x.is_right(1, *add(x.request(1))));
    return health().state == ExecutorHealth::State::kClosed;
  }));
  EXPECT_GE(health().opened, 1u);
}

TEST_F(Executors, TheCpuComputesWhatADeviceCannot) {
  make();
  warm_up();
  device.fails = true;
  EXPECT_EQ(exchange_all(), kItems);
  EXPECT_TRUE(eventually([&] {
    EXPECT_TRUE(x.is_right(1, *add(x.request(1))));
    return health().opened > 0;
  }));
  if (const auto first = health(); first.opened == 1) {  // on a slow machine, a probe may have failed meanwhile
    EXPECT_STREQ(first.reason, "batches failed in a row");
  }
  EXPECT_TRUE(eventually([&] {
    EXPECT_TRUE(x.is_right(1, *add(x.request(1))));
    return health().opened > 1;
  })) << "a probe that fails opens it again";
  device.fails = false;
  EXPECT_TRUE(eventually([&] {
    EXPECT_TRUE(x.is_right(1, *add(x.request(1))));
    return health().state == ExecutorHealth::State::kClosed;
  }));
}

TEST_F(Executors, ALyingDeviceGetsNothing) {
  make();
  device.lies = true;
  EXPECT_TRUE(eventually([&] {
    EXPECT_TRUE(x.is_right(1, *add(x.request(1))));
    return health().opened > 0;
  }));
  EXPECT_STREQ(health().reason, "a probe failed");
  EXPECT_EQ(stats().on_accelerator, 0u);
}

TEST_F(Executors, ADeviceThatBeginsToLieIsFoundOut) {
  make();
  warm_up();
  device.lies = true;
  EXPECT_TRUE(eventually([&] {
    add(x.request(1))->wait();
    return health().opened > 0;
  }));
  EXPECT_STREQ(health().reason, "a result was wrong");
  EXPECT_EQ(exchange_all(), kItems);
}

TEST_F(Executors, TheFirstProbeOnlyWarmsUp) {
  make();
  warm_up();
  EXPECT_GE(device.chunks, 3u) << "two probes and a batch";
}

TEST_F(Executors, WithoutNeedNobodyAsksADevice) {
  device.delay_us = 200000;
  make({.deadline = kFar}, nullptr);
  for (size_t i = 0; i < 20; ++i) {
    EXPECT_TRUE(x.is_right(i, *add(x.request(i))));
    std::this_thread::sleep_for(milliseconds(5));
  }
  EXPECT_GT(stats().on_caller, 0u);
  EXPECT_EQ(stats().on_accelerator, 0u);
}

/// An added executor: another engine, which can be unreachable.
class OtherEngine final : public Executor {
 public:
  explicit OtherEngine(const std::atomic<bool>& reachable) : reachable_(reachable) {
    EXPECT_EQ(Engine::create({.threads = 2, .backend = nullptr, .accelerators = {}}, engine_), Status::kOk);
  }
  Kind kind() const override { return Kind::kBroker; }
  const char* name() const override { return "other"; }
  unsigned max_in_flight() const override { return 2; }
  Clock::duration longest_pause() const override { return milliseconds(200); }
  bool available(const Scheme&, Op) override { return reachable_; }
  Status submit(const Request& request, Done done) override {
    std::shared_ptr<Job> job;
    return reachable_ ? engine_->submit(request, std::move(done), job) : Status::kBackendUnavailable;
  }

 private:
  const std::atomic<bool>& reachable_;
  std::unique_ptr<Engine> engine_;
};

Clock::duration time_of_a_key_pair(const Scheme& set) {
  std::unique_ptr<Engine> engine;
  EXPECT_EQ(Engine::create({.threads = 1, .backend = nullptr, .accelerators = {}}, engine), Status::kOk);
  Bytes pk(set.public_key_bytes), sk(set.secret_key_bytes);
  Request keygen{.op = Op::kKeygen, .scheme = &set};
  keygen.records.count = 1;
  keygen.records.pk_out = pk.data();
  keygen.records.sk_out = sk.data();
  Clock::duration shortest = Clock::duration::max();
  for (int i = 0; i < 5; ++i) {
    const Clock::time_point begin = Clock::now();
    EXPECT_EQ(engine->run(keygen), Status::kOk);
    shortest = std::min<Clock::duration>(shortest, Clock::now() - begin);
  }
  return shortest;
}

/// A set whose operations take longer than waking a thread, but not seconds under ThreadSanitizer.
const Scheme& set_with_long_operations() {
  const Scheme& quick = *find_scheme("mlkem1024");
  return time_of_a_key_pair(quick) > milliseconds(1) ? quick : *find_scheme("ntruhps40961229");
}

TEST_F(Executors, UnderLoadAnotherExecutorHelps) {
  const Encapsulations slow{set_with_long_operations()};
  std::atomic<bool> reachable{true};
  make({.deadline = kFar, .make_executor = [&] { return std::make_unique<OtherEngine>(reachable); }}, nullptr);
  std::vector<std::thread> threads;
  std::atomic<bool> enough{false};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      while (!enough) {
        std::vector<Handle> tickets;
        for (size_t i = 0; i < 50; ++i)
          tickets.push_back(add(slow.request(i)));
        for (size_t i = 0; i < 50; ++i)
          EXPECT_TRUE(slow.is_right(i, *tickets[i]));
      }
    });
  }
  EXPECT_TRUE(eventually([&] { return batcher->stats(slow.s, Op::kEncaps).on_broker > 100; }));
  reachable = false;
  EXPECT_TRUE(eventually([&] { return health(2).state == ExecutorHealth::State::kOpen; }));
  reachable = true;
  EXPECT_TRUE(eventually([&] { return health(2).state == ExecutorHealth::State::kClosed; }));
  enough = true;
  for (std::thread& thread : threads)
    thread.join();
}

/// Another engine, which reports other sets than the first only when a test allows it, and which may stall.
class SlowToConnect final : public Executor {
 public:
  struct State {
    std::atomic<bool> stalls{false};
    std::atomic<int> stalled{0}, in_flight{0};
    std::atomic<bool> asked{false}, answers{false}, answered{false}, freed_in_flight{false};
  };
  SlowToConnect(const Scheme& first, std::shared_ptr<State> state) : first_(first), state_(std::move(state)) {
    EXPECT_EQ(Engine::create({.threads = 1, .backend = nullptr, .accelerators = {}}, engine_), Status::kOk);
  }
  ~SlowToConnect() override {
    state_->freed_in_flight = state_->in_flight > 0;
    for (std::thread& thread : waiting_)
      thread.join();
  }
  Kind kind() const override { return Kind::kBroker; }
  const char* name() const override { return "slow"; }
  unsigned max_in_flight() const override { return 2; }
  bool available(const Scheme& scheme, Op) override {
    if (&scheme == &first_) return true;
    state_->asked = true;
    const Clock::time_point end = Clock::now() + std::chrono::seconds(20);  // so that a test that waits for it fails
    while (!state_->answers && Clock::now() < end)
      std::this_thread::sleep_for(milliseconds(1));
    state_->answered = true;
    return true;
  }
  Status submit(const Request& request, Done done) override {
    std::shared_ptr<Job> job;
    if (!state_->stalls) return engine_->submit(request, std::move(done), job);
    ++state_->in_flight;
    ++state_->stalled;
    waiting_.emplace_back([state = state_, done = std::move(done)] {
      while (state->stalls)
        std::this_thread::sleep_for(milliseconds(1));
      --state->in_flight;
      done(Status::kBackendUnavailable);
    });
    return Status::kOk;
  }

 private:
  const Scheme& first_;
  const std::shared_ptr<State> state_;
  std::vector<std::thread> waiting_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(Executors, DeadlinesAreKeptWhileAExecutorConnects) {
  const Encapsulations first{set_with_long_operations()};
  const auto state = std::make_shared<SlowToConnect::State>();
  make({.deadline = kAmple,
        .on_caller = false,
        .make_executor = [&] { return std::make_unique<SlowToConnect>(first.s, state); }},
       nullptr, 1);
  const auto exchange = [&] {
    std::vector<Handle> tickets;
    for (size_t i = 0; i < kItems; ++i)
      tickets.push_back(add(first.request(i)));
    for (const Handle& ticket : tickets)
      EXPECT_EQ(ticket->wait(), Status::kOk);
  };
  ASSERT_TRUE(eventually([&] {
    exchange();
    return batcher->stats(first.s, Op::kEncaps).on_broker > 0;
  }));
  EXPECT_EQ(add(x.request(0))->wait(), Status::kOk);
  EXPECT_TRUE(eventually([&] { return state->asked.load(); }));
  state->stalls = true;
  EXPECT_TRUE(eventually([&] {
    exchange();
    return state->stalled > 0 || state->answered;
  }));
  EXPECT_GT(state->stalled, 0);
  EXPECT_FALSE(state->answered) << "the executor is asked for the other set meanwhile";
  state->stalls = false;
  state->answers = true;
}

TEST_F(Executors, TheEndWaitsForAProbeThatBeginsMeanwhile) {
  const auto state = std::make_shared<SlowToConnect::State>();
  make({.deadline = kFar,
        .make_executor = [&] { return std::make_unique<SlowToConnect>(*find_scheme("mlkem768"), state); }},
       nullptr, 1);
  EXPECT_TRUE(x.is_right(0, *add(x.request(0))));
  ASSERT_TRUE(eventually([&] { return state->asked.load(); }));
  state->stalls = true;
  std::thread end([&] { batcher.reset(); });
  std::this_thread::sleep_for(milliseconds(50));  // by now it knows that nothing is in flight
  state->answers = true;
  EXPECT_TRUE(eventually([&] { return state->stalled > 0; }));
  std::this_thread::sleep_for(milliseconds(50));  // the thread of probes has ended
  state->stalls = false;
  end.join();
  EXPECT_FALSE(state->freed_in_flight);
}

std::atomic<int>& handled_signals() {
  static std::atomic<int> count{0};
  return count;
}

TEST_F(Executors, SignalsGoToTheProgramsThreads) {
  make();
  warm_up();
  sigset_t one, before, pending;
  sigemptyset(&one);
  sigaddset(&one, SIGUSR2);
  std::atomic<int>& handled = handled_signals();
  struct sigaction action {
  }, old{};
  action.sa_handler = [](int) { ++handled_signals(); };
  sigaction(SIGUSR2, &action, &old);
  pthread_sigmask(SIG_BLOCK, &one, &before);
  kill(getpid(), SIGUSR2);
  std::this_thread::sleep_for(milliseconds(20));
  sigpending(&pending);
  EXPECT_EQ(handled, 0) << "on a thread of the library";
  EXPECT_TRUE(sigismember(&pending, SIGUSR2));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(handled, 1);
  sigaction(SIGUSR2, &old, nullptr);
}

TEST_F(Executors, TheEndMayBeWatched) {
  make();
  warm_up();
  auto core = std::make_shared<BatcherCore>(*engine, BatcherConfig{});
  std::atomic<bool> over{false};
  std::thread watch([&] {
    ExecutorHealth out;
    while (!over)
      core->health(1, out);
  });
  core->finish();
  over = true;
  watch.join();
  ExecutorHealth out;
  EXPECT_FALSE(core->health(0, out));
}

}  // namespace
}  // namespace polykem::test
