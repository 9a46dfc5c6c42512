// SPDX-License-Identifier: Apache-2.0
// A batcher with a device of the test, and operations with known results.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "accelerator/test_accelerator.hpp"
#include "engine/batcher/batcher.hpp"
#include "support/patience.hpp"

namespace polykem::test {

using std::chrono::milliseconds;
using Bytes = std::vector<uint8_t>;

inline constexpr size_t kItems = 200;
/// A deadline that nothing exceeds.
inline constexpr milliseconds kFar{100000};
/// A deadline that a device meets on a busy machine.
inline constexpr milliseconds kAmple{500};

struct Release {
  void operator()(Ticket* ticket) const { Batcher::abandon(ticket); }
};
using Handle = std::unique_ptr<Ticket, Release>;

/// Encapsulations with given coins, and their results.
struct Encapsulations {
  explicit Encapsulations(const Scheme& scheme)
      : s(scheme),
        pk(s.public_key_bytes),
        sk(s.secret_key_bytes),
        coins(kItems * s.encaps_coin_bytes),
        ct(kItems * s.ciphertext_bytes),
        ss(kItems * s.shared_secret_bytes) {
    std::unique_ptr<Engine> ref;
    EXPECT_EQ(Engine::create({.threads = 1, .backend = cpu::kRef, .accelerators = {}}, ref), Status::kOk);
    Request keygen{.op = Op::kKeygen, .scheme = &s};
    keygen.records.count = 1;
    keygen.records.pk_out = pk.data();
    keygen.records.sk_out = sk.data();
    EXPECT_EQ(ref->run(keygen), Status::kOk);
    for (size_t i = 0; i < coins.size(); ++i)
      coins[i] = static_cast<uint8_t>(i * 31 + i / 256);
    Request encaps = request(0);
    encaps.records.count = kItems;
    encaps.records.shared_key = true;
    encaps.records.ct_out = ct.data();
    encaps.records.ss_out = ss.data();
    EXPECT_EQ(ref->run(encaps), Status::kOk);
  }

  Request request(size_t i) const {
    Request r{.op = Op::kEncaps, .scheme = &s};
    r.records.count = 1;
    r.records.pk = pk.data();
    r.records.coins = &coins[i * s.encaps_coin_bytes];
    return r;
  }
  bool is_right(size_t i, Ticket& ticket) const {
    Bytes got_ct(s.ciphertext_bytes), got_ss(s.shared_secret_bytes);
    if (ticket.take(got_ct.data(), got_ss.data()) != Status::kOk) return false;
    return std::equal(got_ct.begin(), got_ct.end(), &ct[i * s.ciphertext_bytes]) &&
           std::equal(got_ss.begin(), got_ss.end(), &ss[i * s.shared_secret_bytes]);
  }

  const Scheme& s;
  Bytes pk, sk, coins, ct, ss;
};

struct Executors : testing::Test {
  test::TestAccelerator device;
  Accelerator* list[1] = {&device};
  const Encapsulations x{*find_scheme("mlkem512")};
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Batcher> batcher;

  Executors() {
    device.max_items = 10000;
    device.delay_us = 1000;
  }
  ~Executors() override {
    device.stalls = false;
    batcher.reset();
  }

  void make(BatcherConfig config = {.deadline = kFar}, const char* backend = "test", unsigned threads = 2) {
    EXPECT_EQ(Engine::create({.threads = threads, .backend = backend, .accelerators = list}, engine), Status::kOk);
    batcher = std::make_unique<Batcher>(*engine, config);
  }
  Handle add(const Request& request, Ticket::Callback done = nullptr, void* user = nullptr) {
    Ticket* ticket = nullptr;
    EXPECT_EQ(batcher->add(request, done, user, ticket), Status::kOk);
    return Handle(ticket);
  }
  Request keygen() const {
    Request request{.op = Op::kKeygen, .scheme = &x.s};
    request.records.count = 1;
    return request;
  }
  ExecutorHealth health(size_t executor = 1) {
    ExecutorHealth out;
    EXPECT_TRUE(batcher->health(executor, out));
    return out;
  }
  BatcherStats stats(Op op = Op::kEncaps) { return batcher->stats(x.s, op); }
  /// Submits with pauses in which nothing is in flight.
  static bool eventually(const std::function<bool()>& holds) { return test::eventually(holds, milliseconds(5)); }
  /// Waits until the device is in use.
  void warm_up() {
    ASSERT_TRUE(eventually([&] {
      EXPECT_TRUE(x.is_right(0, *add(x.request(0))));
      return stats().on_accelerator > 0;
    }));
  }
  std::vector<Handle> add_all() {
    std::vector<Handle> tickets;
    for (size_t i = 0; i < kItems; ++i)
      tickets.push_back(add(x.request(i)));
    return tickets;
  }
  size_t count_right(const std::vector<Handle>& tickets) const {
    size_t right = 0;
    for (size_t i = 0; i < kItems; ++i)
      right += x.is_right(i, *tickets[i]) ? 1 : 0;
    return right;
  }
  size_t exchange_all() { return count_right(add_all()); }
  /// Submits an operation that the device holds until the CPU has taken it over.
  void be_late() {
    device.stalls = true;
    EXPECT_TRUE(x.is_right(1, *add(x.request(1))));
    device.stalls = false;
    EXPECT_TRUE(eventually([&] { return health().batches == 0; }));
  }
};

}  // namespace polykem::test
