// SPDX-License-Identifier: Apache-2.0
// Tests the C API's batcher with tests/cuda_module/simulated_device.cpp, which the environment names.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <thread>

#include "polykem/polykem.hpp"
#include "support/patience.hpp"

namespace polykem {
namespace {

struct SimulatedDevice : testing::Test {
  SimulatedDevice() { set_fault("none"); }
  ~SimulatedDevice() override { set_fault("none"); }

  static void set_fault(const char* word) { std::ofstream(std::getenv("SIMULATED_DEVICE_FAULT")) << word; }
  bool eventually(const std::function<bool()>& holds) {
    const auto after_an_exchange = [&] {
      exchange(1);
      return holds();
    };
    return test::eventually(after_an_exchange, std::chrono::milliseconds(5));
  }
  /// Encapsulates this many times at once, and decapsulates the results without a batcher.
  void exchange(size_t count) {
    std::vector<Ticket> tickets;
    for (size_t i = 0; i < count; ++i) {
      polykem_request r = Context::request(POLYKEM_ENCAPS, set, 1);
      r.pk = pair.pk.data();
      tickets.push_back(batcher.add(r));
    }
    Bytes ct(set.ciphertext_bytes());
    SecretBytes ss(set.shared_secret_bytes());
    for (const Ticket& ticket : tickets) {
      ASSERT_EQ(ticket.take(ct.data(), ss.data()), POLYKEM_OK);
      ASSERT_TRUE(cpu.decaps(set, 1, KeyMode::kPerItem, pair.sk, ct).ss == ss);
    }
  }
  /// Returns a deadline that a device seldom misses: five times the median time or, if threads often wait for a CPU,
  /// twice the 95th percentile, since two batches are in flight at a time.
  std::chrono::microseconds fair_deadline() {
    std::vector<std::chrono::steady_clock::duration> times;
    for (int i = 0; i < 40; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      (void)context.encaps(set, 1, KeyMode::kPerItem, pair.pk);
      times.push_back(std::chrono::steady_clock::now() - begin);
    }
    std::sort(times.begin(), times.end());
    return std::chrono::duration_cast<std::chrono::microseconds>(std::max(5 * times[20], 2 * times[38]));
  }
  polykem_batcher_stats_t stats() const { return batcher.stats(set, POLYKEM_ENCAPS); }

  const Scheme set = Scheme::find("mlkem768");
  const Context cpu{1, "ref"}, context{2, "cuda"};
  const KeyPairs pair = cpu.keygen(set, 1);
  Batcher batcher{context};
};

TEST_F(SimulatedDevice, ComputesRightAndInBatches) {
  ASSERT_TRUE(eventually([&] { return stats().on_accelerator > 0; }));
  EXPECT_TRUE(eventually([&] {  // it is sometimes late on a busy machine
    const auto before = stats();
    exchange(500);
    const auto after = stats();
    return after.on_accelerator > before.on_accelerator && after.batches - before.batches < 200;
  }));
}

/// The device's threads sometimes wait for a CPU longer than the deadline.
TEST_F(SimulatedDevice, KeepsItsWorkOnABusyMachine) {
  std::atomic<bool> enough{false};
  std::vector<std::thread> busy;
  for (unsigned i = 0; i < std::thread::hardware_concurrency(); ++i)
    busy.emplace_back([&] {
      while (!enough)
        ;
    });
  // On a busy machine a round may fail; a batcher that avoids the device fails most rounds.
  int kept = 0, lost = 0;
  while (kept < 4 && lost < 4) {
    polykem_batcher_config config{};
    config.deadline_us = static_cast<uint32_t>(fair_deadline().count());
    batcher = Batcher(context, config);
    ASSERT_TRUE(eventually([&] { return stats().on_accelerator > 0; }));
    const auto before = stats();
    for (int i = 0; i < 50; ++i)
      exchange(100);
    const auto after = stats();
    const uint64_t on_device = after.on_accelerator - before.on_accelerator;
    const bool has_many = 5 * on_device > 2 * (after.operations - before.operations);
    ++(has_many && batcher.health().at(1).opened == 0 ? kept : lost);
  }
  enough = true;
  for (std::thread& thread : busy)
    thread.join();
  EXPECT_EQ(kept, 4);
}

/// Signatures of waiting callers also share batches, and verify.
TEST_F(SimulatedDevice, SignsInBatches) {
  const Scheme signer = Scheme::find_signature("mldsa44");
  const KeyPairs keys = cpu.keygen(signer, 1);
  const Bytes text(100, 7);
  const Messages message(Strings::shared(text));
  polykem_request request = Context::request(POLYKEM_SIGN, signer, 1);
  const polykem_messages messages = message.c_messages();
  request.sk = keys.sk.data();
  request.messages = &messages;
  Bytes sig(signer.signature_bytes());
  const auto sign = [&](size_t count) {
    std::vector<Ticket> tickets;
    for (size_t i = 0; i < count; ++i)
      tickets.push_back(batcher.add(request));
    for (const Ticket& ticket : tickets) {
      ASSERT_EQ(ticket.take(sig.data(), nullptr), POLYKEM_OK);
      ASSERT_TRUE(cpu.verify(signer, 1, KeyMode::kPerItem, keys.pk, message, sig).valid(0));
    }
  };
  const auto stats_of_signing = [&] { return batcher.stats(signer, POLYKEM_SIGN); };
  EXPECT_TRUE(test::eventually(
      [&] {
        const auto before = stats_of_signing();
        sign(60);
        const auto after = stats_of_signing();
        return after.on_accelerator > before.on_accelerator && after.batches - before.batches < 30;
      },
      std::chrono::milliseconds(5)));
}

TEST_F(SimulatedDevice, MayStallAndFail) {
  ASSERT_TRUE(eventually([&] { return stats().on_accelerator > 0; }));
  for (const char* fault : {"stall", "fail"}) {
    const uint64_t opened = batcher.health().at(1).opened;
    set_fault(fault);
    exchange(50);
    EXPECT_TRUE(eventually([&] { return batcher.health().at(1).opened > opened; })) << fault;
    EXPECT_GT(stats().rescued, 0u);
    set_fault("none");
    EXPECT_TRUE(eventually([&] { return batcher.health().at(1).state == POLYKEM_EXECUTOR_CLOSED; })) << fault;
  }
}

}  // namespace
}  // namespace polykem
