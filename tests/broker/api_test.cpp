// SPDX-License-Identifier: Apache-2.0
// Tests polykem_broker_* and a batcher that names a broker, in one process.
#include <gtest/gtest.h>
#include <unistd.h>
#include <polykem/polykem.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <deque>
#include <string>
#include <thread>

#include "folder.hpp"

namespace polykem::broker {
namespace {

struct BrokerApi : testing::Test {
  polykem_broker_config config_here() const {
    polykem_broker_config config{};
    config.struct_size = sizeof config;
    config.path = path.c_str();
    return config;
  }
  polykem_status open(const polykem_broker_config& config) {
    return polykem_broker_new(batcher.handle(), &config, &broker);
  }
  polykem_batcher_config worker_config() const {
    polykem_batcher_config config{};
    config.broker = path.c_str();
    return config;
  }
  /// Runs an operation and returns whether the worker is without the broker for this reason.
  static bool is_away(const polykem::Batcher& worker, const std::string& reason) {
    worker.add(polykem::Context::request(POLYKEM_KEYGEN, polykem::Scheme::find("mlkem512"), 1)).wait();
    polykem_executor_health_t health{};
    health.struct_size = sizeof health;
    for (size_t i = 0; polykem_batcher_health(worker.handle(), i, &health) == POLYKEM_OK; ++i)
      if (health.reason == reason) return true;
    return false;
  }
  ~BrokerApi() override { polykem_broker_free(broker); }

  Folder folder;
  const std::string path = folder / "socket";
  polykem::Context context{1};
  polykem::Batcher batcher{context};
  polykem_broker* broker = nullptr;
};

TEST_F(BrokerApi, RefusesNonsense) {
  polykem_broker_config good = config_here();
  EXPECT_EQ(polykem_broker_new(nullptr, &good, &broker), POLYKEM_ERR_ARGUMENT);
  EXPECT_EQ(polykem_broker_new(batcher.handle(), nullptr, &broker), POLYKEM_ERR_ARGUMENT);
  EXPECT_EQ(polykem_broker_new(batcher.handle(), &good, nullptr), POLYKEM_ERR_ARGUMENT);
  const auto broken = [&](auto&& breaks) {
    polykem_broker_config config = config_here();
    breaks(config);
    errno = 0;
    EXPECT_EQ(open(config), POLYKEM_ERR_ARGUMENT);
    EXPECT_NE(errno, 0);
  };
  broken([](auto& c) { c.struct_size = 8; });
  broken([](auto& c) { c.slots = 100; });
  broken([](auto& c) { c.slots = 8192; });
  broken([](auto& c) { c.uid_count = 1; });
  broken([](auto& c) { c.gid_count = 1; });
  broken([](auto& c) { c.path = ""; });
  broken([](auto& c) { c.path = nullptr, c.listen_fd = -1; });
  broken([](auto& c) { c.path = nullptr, c.listen_fd = STDERR_FILENO; });
  EXPECT_EQ(broker, nullptr);
  polykem_broker_free(nullptr);
  polykem_broker_stats_t stats{};
  stats.struct_size = sizeof stats;
  EXPECT_EQ(polykem_broker_stats(nullptr, &stats), POLYKEM_ERR_ARGUMENT);
  EXPECT_EQ(polykem_broker_admit(nullptr, &good), POLYKEM_ERR_ARGUMENT);
}

TEST_F(BrokerApi, RefusesNonsenseWhileItServes) {
  ASSERT_EQ(open(config_here()), POLYKEM_OK);
  polykem_broker_config config = config_here();
  EXPECT_EQ(polykem_broker_admit(broker, nullptr), POLYKEM_ERR_ARGUMENT);
  config.slots = 100;
  EXPECT_EQ(polykem_broker_admit(broker, &config), POLYKEM_ERR_ARGUMENT);
  polykem_broker_stats_t before{}, after{};
  before.struct_size = after.struct_size = sizeof before;
  ASSERT_EQ(polykem_broker_stats(broker, &before), POLYKEM_OK);
  config.slots = 128;
  EXPECT_EQ(polykem_broker_admit(broker, &config), POLYKEM_OK);
  ASSERT_EQ(polykem_broker_stats(broker, &after), POLYKEM_OK);
  EXPECT_LT(after.bytes_of_client, before.bytes_of_client);
}

TEST_F(BrokerApi, AdmitsMoreClientsThanBefore) {
  polykem_broker_config config = config_here();
  config.clients = 1;
  ASSERT_EQ(open(config), POLYKEM_OK);
  const polykem::Batcher first(context, worker_config());
  polykem_broker_stats_t stats{};
  stats.struct_size = sizeof stats;
  const auto clients = [&] {
    EXPECT_EQ(polykem_broker_stats(broker, &stats), POLYKEM_OK);
    return stats.clients;
  };
  EXPECT_TRUE(eventually([&] {
    is_away(first, "");
    return clients() == 1;
  }));
  const polykem::Batcher second(context, worker_config());
  EXPECT_TRUE(eventually([&] { return is_away(second, "the daemon has no place for another client"); }));
  config.clients = 2;
  ASSERT_EQ(polykem_broker_admit(broker, &config), POLYKEM_OK);
  EXPECT_TRUE(eventually([&] {
    is_away(second, "");
    return clients() == 2;
  }));
}

TEST_F(BrokerApi, LooksAtItsClientsAlsoWhenNobodyAsks) {
  ASSERT_EQ(open(config_here()), POLYKEM_OK);
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  polykem_broker_stats_t stats{};
  stats.struct_size = sizeof stats;
  EXPECT_TRUE(eventually([&] {
    EXPECT_EQ(polykem_broker_stats(broker, &stats), POLYKEM_OK);
    return stats.silent_ms < 1000;
  }));
}

TEST_F(BrokerApi, OneToAPath) {
  ASSERT_EQ(open(config_here()), POLYKEM_OK);
  polykem_broker* second = nullptr;
  const polykem_broker_config config = config_here();
  EXPECT_EQ(polykem_broker_new(batcher.handle(), &config, &second), POLYKEM_ERR_BUSY);
}

TEST_F(BrokerApi, CountsWhoFindsNoMemory) {
  polykem_broker_config config = config_here();
  const uint32_t other = ::getuid() + 1;
  config.uids = &other;
  config.uid_count = 1;
  config.memory_mib = 1;  // half of this is enough for four
  ASSERT_EQ(open(config), POLYKEM_OK);
  std::deque<polykem::Batcher> workers;
  for (int i = 0; i < 5; ++i)
    workers.emplace_back(context, worker_config());
  const auto finds_none = [](const polykem::Batcher& worker) {
    return is_away(worker, "the daemon has no shared memory left for this user");
  };
  EXPECT_TRUE(eventually([&] { return std::count_if(workers.begin(), workers.end(), finds_none) == 1; }));
  polykem_broker_stats_t stats{};
  stats.struct_size = sizeof stats;
  EXPECT_TRUE(eventually([&] {
    EXPECT_EQ(polykem_broker_stats(broker, &stats), POLYKEM_OK);
    return stats.clients == 4 && stats.refused > 0 && stats.short_of_memory > 0;
  }));
}

TEST_F(BrokerApi, ABatcherFindsItByItself) {
  ASSERT_EQ(open(config_here()), POLYKEM_OK);
  const polykem::Batcher worker(context, worker_config());
  const polykem::Scheme scheme = polykem::Scheme::find("mlkem512");
  const auto has_connected = [&] {
    worker.add(polykem::Context::request(POLYKEM_KEYGEN, scheme, 1)).wait();
    polykem_broker_stats_t stats{};
    stats.struct_size = sizeof stats;
    EXPECT_EQ(polykem_broker_stats(broker, &stats), POLYKEM_OK);
    return stats.clients == 1 && stats.operations > 0;  // those of the probe
  };
  EXPECT_TRUE(eventually(has_connected));
  polykem_executor_health_t health{};
  health.struct_size = sizeof health;
  ASSERT_EQ(polykem_batcher_health(worker.handle(), 0, &health), POLYKEM_OK);
  bool found = false;
  for (size_t i = 0; polykem_batcher_health(worker.handle(), i, &health) == POLYKEM_OK; ++i)
    found |= std::string(health.name) == "broker";
  EXPECT_TRUE(found);
}

TEST_F(BrokerApi, SaysWhyItIsNotThere) {
  const polykem::Batcher worker(context, worker_config());
  EXPECT_TRUE(eventually([&] { return is_away(worker, "no daemon listens at the socket"); }));
}

}  // namespace
}  // namespace polykem::broker
