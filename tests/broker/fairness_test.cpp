// SPDX-License-Identifier: Apache-2.0
// Tests the shares of the daemon's time that clients and their users get.
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <functional>
#include <future>

#include "support.hpp"

namespace polykem::broker {
namespace {

uint64_t ten_microseconds(const Request& /*item*/) {
  return 10'000;
}

/// A server whose operations fail immediately after on_add().
struct Watched final : OperationSink {
  explicit Watched(std::function<void(const Request&)> watcher,
                   std::function<uint64_t(const Request&)> price = ten_microseconds, ServerConfig config = {})
      : on_add(std::move(watcher)), cost(std::move(price)) {
    config.path = path.c_str();
    EXPECT_EQ(Server::create(config, *this, server), Status::kOk);
  }
  uint64_t cost_ns(const Request& item) override { return cost(item); }
  Status add(const Request& item, Done /*done*/, void* /*user*/, std::unique_ptr<PendingItem>& /*out*/) override {
    on_add(item);
    return Status::kBusy;
  }

  Folder folder;
  const std::string path = folder / "socket";
  std::function<void(const Request&)> on_add;
  std::function<uint64_t(const Request&)> cost;
  std::unique_ptr<Server> server;
};

/// One client's ring is never empty, and it wakes the server all the time. Another one still gets its turn at once.
TEST(Fairness, AClientThatNeverRestsHasItsTurnOnly) {
  std::atomic<bool> stop{false};
  std::atomic<uint32_t> greedy_items{0}, seen{0};
  RawClient* greedy = nullptr;
  Watched daemon([&](const Request& item) {
    if (item.op == Op::kDecaps) seen = greedy_items.load();
    if (item.op == Op::kDecaps || stop) return;
    greedy->view.submission(greedy->sent++) = greedy_items++ % 8;
    greedy->view.header().submitted = greedy->sent;
  });
  RawClient one(daemon.path), other(daemon.path);
  ASSERT_TRUE(one.greet() && other.greet());
  greedy = &one;
  for (uint32_t i = 0; i < 8; ++i)
    one.view.submission(one.sent++) = i;
  one.view.header().submitted = kFirstEntry + 8;
  const Bytes noise(size_t{1} << 16, 1);
  ASSERT_TRUE(one.send(noise.data(), noise.size()));
  EXPECT_TRUE(eventually([&] { return greedy_items > 8 * 1000; }));
  other.view.slot(0).op = static_cast<uint32_t>(Op::kDecaps);
  std::vector<uint32_t> ahead;  // items of the greedy client before an item of the other
  for (int i = 0; i < 51; ++i) {
    const uint32_t before = greedy_items;
    other.submit(0);
    EXPECT_TRUE(eventually([&] { return other.view.header().completed == other.sent; }));
    ahead.push_back(seen - before);
  }
  stop = true;
  std::sort(ahead.begin(), ahead.end());
  EXPECT_LT(ahead[ahead.size() / 2], 100U);
  EXPECT_EQ(daemon.server->counts().violations, 0U);
  daemon.server.reset();  // it may still write to the memory of the first client
}

/// A connected client is served before the last of those that try to connect.
TEST(Fairness, ConnectionsThatComeInARowDoNotStopTheOthers) {
  std::promise<void> begun, go;
  std::atomic<uint64_t> admitted{0};
  const ServerCounts* counts = nullptr;
  Watched daemon([&](const Request& item) {
    admitted = counts->accepted.load();
    if (item.op != Op::kKeygen) return;
    begun.set_value();
    go.get_future().wait();
  });
  counts = &daemon.server->counts();
  RawClient first(daemon.path), second(daemon.path);
  ASSERT_TRUE(first.greet() && second.greet());
  first.submit(0);
  begun.get_future().wait();
  std::vector<Fd> crowd;
  for (int i = 0; i < 100; ++i)
    crowd.push_back(connect_to(daemon.path.c_str()));
  second.view.slot(0).op = static_cast<uint32_t>(Op::kDecaps);
  second.submit(0);
  go.set_value();
  EXPECT_TRUE(eventually([&] { return second.view.header().completed == kFirstEntry + 1; }));
  EXPECT_LT(admitted, 50U);
  EXPECT_TRUE(eventually([&] { return counts->accepted == 102; }));
}

/// Eight cheap operations are served before the second costly one of a client that came first.
TEST(Fairness, SharesAreOfTimeAndNotOfOperations) {
  std::promise<void> begun, go;
  std::string order;
  const auto watch = [&](const Request& item) {
    order += item.op == Op::kKeygen ? 'k' : 'd';
    if (order.size() > 1) return;
    begun.set_value();
    go.get_future().wait();
  };
  Watched daemon(watch, [](const Request& item) { return item.op == Op::kKeygen ? 8'000'000U : 1'000'000U; });
  RawClient costly(daemon.path), cheap(daemon.path);
  ASSERT_TRUE(costly.greet() && cheap.greet());
  for (uint32_t i = 0; i < 8; ++i)
    costly.submit(i);
  begun.get_future().wait();
  for (uint32_t i = 0; i < 8; ++i) {
    cheap.view.slot(i).op = static_cast<uint32_t>(Op::kDecaps);
    cheap.submit(i);
  }
  go.set_value();
  EXPECT_TRUE(eventually([&] { return daemon.server->counts().failed == 16; }));
  daemon.server.reset();
  EXPECT_EQ(order, "kddddddddkkkkkkk");
}

/// Becomes another user, connects 20 times, and submits eight operations by each. Returns whether it could.
bool submit_as(uid_t user, const std::string& path, std::vector<std::unique_ptr<RawClient>>& clients) {
  if (::setgid(user) != 0 || ::setuid(user) != 0) return false;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(std::make_unique<RawClient>(path));
    if (!clients.back()->greet()) return false;
  }
  for (uint32_t slot = 0; slot < 8; ++slot)
    for (const auto& client : clients)
      client->submit(slot);
  return true;
}

/// A user has 20 clients with eight operations each, another user has one client, which waits for one operation of the
/// others before each of its own.
TEST(Fairness, SharesAreOfUsersAndNotOfConnections) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  std::promise<void> begun, go;
  std::string order;
  const auto watch = [&](const Request& item) {
    order += item.op == Op::kKeygen ? 'k' : 'd';
    if (order.size() > 1) return;
    begun.set_value();
    go.get_future().wait();
  };
  ServerConfig config;
  config.mode = 0666;
  config.uids = {kNobody};
  Watched daemon(
      watch, [](const Request& /*item*/) { return 1'000'000U; }, config);
  ASSERT_EQ(::chmod(daemon.folder.path().c_str(), 0755), 0);
  RawClient one(daemon.path);
  ASSERT_TRUE(one.greet());
  int pipe_ends[2];
  ASSERT_EQ(::pipe(pipe_ends), 0);
  const pid_t crowd = ::fork();
  if (crowd == 0) {
    std::vector<std::unique_ptr<RawClient>> clients;
    const bool done = submit_as(kNobody, daemon.path, clients);
    (void)!::write(pipe_ends[1], &done, 1);
    ::pause();
  }
  bool submitted = false;
  EXPECT_EQ(::read(pipe_ends[0], &submitted, 1), 1);
  EXPECT_TRUE(submitted);
  begun.get_future().wait();
  for (uint32_t i = 0; i < 8; ++i) {
    one.view.slot(i).op = static_cast<uint32_t>(Op::kDecaps);
    one.submit(i);
  }
  go.set_value();
  EXPECT_TRUE(eventually([&] { return daemon.server->counts().failed == 21 * 8; }));
  ::kill(crowd, SIGKILL);
  ::waitpid(crowd, nullptr, 0);
  daemon.server.reset();
  EXPECT_EQ(order.substr(order.find('d'), 15), "dkdkdkdkdkdkdkd") << order;
}

/// Operations beyond the time in flight stay in the ring. A client that leaves makes room; a new one has the next turn.
TEST(Fairness, OperationsInFlightTakeALimitedTime) {
  Daemon daemon(TestSink::Kind::kNever);
  daemon.sink.cost = 5'000'000;
  auto many = std::make_unique<RawClient>(daemon.path);
  RawClient one(daemon.path);
  ASSERT_TRUE(many->greet() && one.greet());
  const ServerCounts& counts = daemon.server->counts();
  for (uint32_t i = 0; i < 8; ++i)
    many->submit(i);
  EXPECT_TRUE(eventually([&] { return counts.in_flight >= 4; }));
  one.submit(0);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(counts.in_flight, 4U);
  many.reset();
  EXPECT_TRUE(eventually([&] { return counts.clients == 1 && counts.in_flight == 1; }));
  EXPECT_EQ(counts.dropped, 4U);
}

/// A user's clients get half of what others leave.
TEST(Fairness, AUserLeavesMemoryForOthers) {
  ServerConfig config;
  config.mode = 0666;
  config.uids = {kNobody};
  config.max_slots = 1;
  config.max_bytes = 15 * map_bytes(1);
  Daemon daemon(TestSink::Kind::kAtOnce, config);
  ASSERT_EQ(::chmod(daemon.folder.path().c_str(), 0755), 0);
  const auto connect_all = [&daemon] {
    std::vector<std::unique_ptr<RawClient>> clients;
    do {
      clients.push_back(std::make_unique<RawClient>(daemon.path));
    } while (clients.back()->greet());
    return clients;
  };
  auto clients = connect_all();
  EXPECT_EQ(clients.size(), 8U);
  EXPECT_EQ(clients.back()->welcome.result, HelloResult::kNoMemory);
  EXPECT_TRUE(eventually([&] { return daemon.server->counts().short_of_memory == 1; }));
  EXPECT_EQ(daemon.server->counts().refused, 1U);
  if (::geteuid() == 0) {  // only root can be another user
    EXPECT_EQ(as_nobody([&] { return static_cast<int>(connect_all().size()); }), 5);
  }
  clients.erase(clients.begin());
  EXPECT_TRUE(eventually([&] { return RawClient(daemon.path).greet(); })) << "who leaves gives it back";
}

/// A client gets half of the slots that its user may still have, the last ones the remaining slots.
TEST(Fairness, AClientLeavesMemoryForOthersOfItsUser) {
  for (const bool several_users : {false, true}) {
    ServerConfig config;
    if (several_users) config.uids = {kNobody};
    config.max_bytes = 16 * map_bytes(1);
    Daemon daemon(TestSink::Kind::kAtOnce, config);
    std::vector<std::unique_ptr<RawClient>> clients;
    std::vector<uint32_t> slots;
    do {
      clients.push_back(std::make_unique<RawClient>(daemon.path));
      Hello hello;
      hello.registry = registry_fingerprint();
      hello.slots = config.max_slots;
      if (clients.back()->greet(hello)) slots.push_back(clients.back()->welcome.slots);
    } while (slots.size() == clients.size());
    EXPECT_EQ(slots, several_users ? (std::vector<uint32_t>{4, 2, 1, 1}) : (std::vector<uint32_t>{8, 4, 2, 1, 1}));
    EXPECT_EQ(clients.back()->welcome.result, HelloResult::kNoMemory);
  }
}

TEST(FairQueue, IdleClientsAccrueNoCredit) {
  FairQueue queue;
  FairQueue::Share busy, idle;
  const auto serve = [&](uint64_t id, FairQueue::Share& share, uint64_t cost) {
    EXPECT_EQ(queue.pop(), id);
    share.waits = false;
    share.used_ns += cost;
  };
  for (int turn = 0; turn < 10; ++turn) {
    queue.push(1, busy);
    queue.push(1, busy);
    EXPECT_EQ(queue.size(), 1U);
    serve(1, busy, 100);
  }
  queue.push(2, idle);
  EXPECT_EQ(idle.used_ns, 900U);
  queue.push(1, busy);
  serve(2, idle, 100);
  queue.push(2, idle);
  serve(1, busy, 100);
  queue.push(1, busy);
  queue.remove(2);
  serve(1, busy, 100);
  EXPECT_EQ(queue.pop(), std::nullopt);
}

/// The clients of a user in a queue, which always have more operations.
struct Crowd {
  Crowd(UserQueue& all, uint64_t id, size_t clients) : queue(all), user(id), shares(clients), turns(clients) {
    queue.reserve(user, clients);
    for (uint64_t client = 0; client < clients; ++client)
      queue.push(user, client, shares[client]);
  }
  void serve(uint64_t client, uint64_t cost) {
    shares[client].waits = false;
    shares[client].used_ns += cost;
    queue.charge(user, cost);
    queue.push(user, client, shares[client]);
    ++turns[client];
  }
  UserQueue& queue;
  uint64_t user;
  std::vector<FairQueue::Share> shares;
  std::vector<int> turns;
};

TEST(UserQueue, UsersShareTimeAndThenTheirClients) {
  UserQueue queue;
  Crowd many(queue, 7, 20), one(queue, 8, 1);
  EXPECT_EQ(queue.size(), 21U);
  for (int turn = 0; turn < 1000; ++turn) {
    const std::optional<UserQueue::Turn> next = queue.pop();
    ASSERT_TRUE(next.has_value());
    if (next->user == many.user)
      many.serve(next->client, 400);
    else
      one.serve(next->client, 100);
    EXPECT_EQ(queue.size(), 21U);
  }
  EXPECT_EQ(one.turns[0], 800);
  EXPECT_EQ(many.turns, std::vector<int>(20, 10));
}

TEST(UserQueue, WhoLeavesIsForgotten) {
  UserQueue queue;
  Crowd two(queue, 7, 2), one(queue, 8, 1);
  queue.remove(7, 0);
  EXPECT_EQ(queue.pop()->client, 1U);
  queue.charge(7, 1);
  two.shares[0] = {};
  queue.push(7, 0, two.shares[0]);
  queue.remove(7, 0);
  queue.forget(7);
  EXPECT_EQ(queue.size(), 1U);
  EXPECT_EQ(queue.pop()->user, 8U);
  queue.charge(8, 1);
  EXPECT_TRUE(queue.empty());
  EXPECT_FALSE(queue.pop().has_value());
  Crowd again(queue, 7, 1);
  EXPECT_EQ(queue.pop()->user, 7U);
}

}  // namespace
}  // namespace polykem::broker
