// SPDX-License-Identifier: Apache-2.0
// Tests with tests/cuda_module/simulated_device.cpp that takes 3 s to open. Each test is a process, since a device
// opens once.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "polykem/polykem.hpp"
#include "support/patience.hpp"

namespace polykem {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

struct FreeContext {
  void operator()(polykem_context* context) const { polykem_context_free(context); }
};
struct FreeBatcher {
  void operator()(polykem_batcher* batcher) const { polykem_batcher_free(batcher); }
};

struct SlowDevice : testing::Test {
  const Scheme set = Scheme::find("frodokem640shake");
  std::unique_ptr<polykem_context, FreeContext> context;
  std::unique_ptr<polykem_batcher, FreeBatcher> batcher;

  void start(const char* backend) {
    const polykem_config config{sizeof config, 2, backend};
    polykem_context* made = nullptr;
    ASSERT_EQ(polykem_context_new_open_later(&config, &made), POLYKEM_OK);
    context.reset(made);
    polykem_batcher* collects = nullptr;
    ASSERT_EQ(polykem_batcher_new(made, nullptr, &collects), POLYKEM_OK);
    batcher.reset(collects);
  }
  void exchange() {
    const polykem_request keygen = Context::request(POLYKEM_KEYGEN, set, 1);
    polykem_ticket* ticket = nullptr;
    EXPECT_EQ(polykem_batcher_add(batcher.get(), &keygen, nullptr, nullptr, &ticket), POLYKEM_OK);
    EXPECT_EQ(polykem_ticket_wait(ticket), POLYKEM_OK);
    polykem_ticket_free(ticket);
  }
  /// Returns the longest time of operations that run one after the other for a second.
  Clock::duration longest_exchange() {
    Clock::duration longest{};
    const Clock::time_point end = Clock::now() + milliseconds(1000);
    for (Clock::time_point now = Clock::now(); now < end; now = Clock::now()) {
      exchange();
      longest = std::max(longest, Clock::now() - now);
    }
    return longest;
  }
  uint64_t on_accelerator() {
    polykem_batcher_stats_t stats{};
    stats.struct_size = sizeof stats;
    EXPECT_EQ(polykem_batcher_stats(batcher.get(), set.handle(), POLYKEM_KEYGEN, &stats), POLYKEM_OK);
    return stats.on_accelerator;
  }
};

TEST_F(SlowDevice, DoesNotHoldUpOperations) {
  start(nullptr);
  EXPECT_LT(longest_exchange(), milliseconds(1500));
  EXPECT_EQ(on_accelerator(), 0u) << "it is not open yet";
}

TEST_F(SlowDevice, DoesNotHoldUpOperationsEvenIfItIsForced) {
  start("cuda");
  EXPECT_LT(longest_exchange(), milliseconds(1500));
  EXPECT_EQ(on_accelerator(), 0u) << "it is not open yet";
  EXPECT_TRUE(test::eventually([&] {
    exchange();
    return on_accelerator() > 0;
  }));
}

}  // namespace
}  // namespace polykem
