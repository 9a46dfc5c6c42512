// SPDX-License-Identifier: Apache-2.0
// Tests with hostile clients that the daemon continues, and that an honest client beside them gets right results.
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstring>
#include <future>
#include <random>

#include "support.hpp"

namespace polykem::broker {
namespace {

struct Hostile : testing::Test {
  void TearDown() override {
    if (honest == nullptr) return;
    EXPECT_TRUE(honest->alive());
    EXPECT_TRUE(serves(*honest));
  }
  const ServerCounts& counts() const { return daemon.server->counts(); }

  Daemon daemon;
  std::unique_ptr<Connection> honest = daemon.connect();
};

Hello good_hello() {
  Hello hello;
  hello.registry = registry_fingerprint();
  hello.slots = 8;
  return hello;
}

TEST_F(Hostile, SpeaksAnotherVersion) {
  Hello version = good_hello(), sets = good_hello();
  version.version = kVersion + 1;
  sets.registry ^= 1;
  for (const Hello& hello : {version, sets}) {
    RawClient client(daemon.path);
    EXPECT_FALSE(client.greet(hello));
    EXPECT_EQ(client.welcome.result, HelloResult::kOtherVersion);
    EXPECT_TRUE(client.hung_up());
  }
}

TEST_F(Hostile, SpeaksGarbage) {
  Hello magic = good_hello(), slots = good_hello(), reserved = good_hello();
  magic.magic = 0x20544547;
  slots.slots = 0;
  reserved.reserved = 7;
  for (const Hello& hello : {magic, slots, reserved}) {
    RawClient client(daemon.path);
    EXPECT_FALSE(client.greet(hello));
  }
  EXPECT_EQ(counts().violations, 3U);
}

TEST_F(Hostile, AsksForTooManySlots) {
  Hello hello = good_hello();
  hello.slots = 0xffffffff;
  RawClient client(daemon.path);
  EXPECT_TRUE(client.greet(hello));
  EXPECT_EQ(client.welcome.slots, ServerConfig().max_slots);
  hello.slots = 7;
  RawClient other(daemon.path);
  EXPECT_TRUE(other.greet(hello));
  EXPECT_EQ(other.welcome.slots, 4U);
}

TEST(HostileInNumbers, ClientsShareTheMemoryThatTheyMayHave) {
  ServerConfig config;
  config.max_bytes = 3 * map_bytes(256) + map_bytes(64);
  Daemon daemon(TestSink::Kind::kAtOnce, config);
  Hello hello = good_hello();
  hello.slots = 256;
  std::deque<RawClient> clients;
  std::vector<uint32_t> slots;
  while (slots.size() < 100) {
    RawClient& client = clients.emplace_back(daemon.path);
    if (!client.greet(hello)) break;
    slots.push_back(client.welcome.slots);
  }
  EXPECT_EQ(clients.back().welcome.result, HelloResult::kNoMemory);
  ASSERT_GE(slots.size(), 4U);
  EXPECT_EQ(std::vector(slots.begin(), slots.begin() + 4), (std::vector<uint32_t>{256, 256, 128, 64}));
  EXPECT_TRUE(std::is_sorted(slots.rbegin(), slots.rend()));
  EXPECT_LT(slots.size(), 30U);
  clients.pop_front();
  EXPECT_TRUE(eventually([&] { return RawClient(daemon.path).greet(hello); })) << "who leaves gives it back";
}

TEST_F(Hostile, GreetsByteByByte) {
  RawClient client(daemon.path);
  const Hello hello = good_hello();
  for (size_t i = 0; i < sizeof hello; ++i)
    EXPECT_TRUE(client.send(reinterpret_cast<const char*>(&hello) + i, 1));
  EXPECT_TRUE(client.wait_for(&client.welcome, sizeof client.welcome));
  EXPECT_EQ(client.welcome.result, HelloResult::kWelcome);
}

TEST_F(Hostile, CannotChangeTheSizeOfTheMemory) {
  RawClient client(daemon.path);
  ASSERT_TRUE(client.greet());
  EXPECT_NE(::ftruncate(client.memory_fd.get(), 0), 0);
  EXPECT_NE(::ftruncate(client.memory_fd.get(), 1 << 30), 0);
}

/// Entries that are each valid, since their slots are free again at once.
TEST(HostileInNumbers, AFullRingAndOneEntryMore) {
  Daemon daemon(TestSink::Kind::kAtOnce);
  RawClient client(daemon.path);
  ASSERT_TRUE(client.greet());
  for (uint32_t i = 0; i < 8; ++i)
    client.view.submission(kFirstEntry + i) = i;
  client.view.header().submitted = kFirstEntry + 9;
  send_wake(client.socket.get());
  const ServerCounts& counts = daemon.server->counts();
  EXPECT_TRUE(eventually([&] { return counts.violations + counts.operations != 0; }));
  EXPECT_EQ(counts.operations, 0U);
  ASSERT_EQ(counts.violations, 1U);
  EXPECT_TRUE(client.hung_up());
}

/// A user without permission connects as quickly as a process can. Users with permission can still connect.
TEST(HostileInNumbers, UsersWithoutPermissionKeepNobodyOut) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  ServerConfig config;
  config.mode = 0666;
  Daemon daemon(TestSink::Kind::kAtOnce, config);
  std::filesystem::permissions(std::filesystem::path(daemon.path).parent_path(), std::filesystem::perms(0755));
  const pid_t crowd = ::fork();
  if (crowd == 0) {
    if (::setgid(kNobody) != 0 || ::setuid(kNobody) != 0) ::_exit(1);
    while (true)
      (void)connect_to(daemon.path.c_str());
  }
  EXPECT_TRUE(eventually([&] { return daemon.server->counts().refused > 1000; }));
  for (int i = 0; i < 50; ++i) {
    const auto connection = daemon.connect(8);
    EXPECT_TRUE(connection != nullptr && serves(*connection)) << daemon.problem;
  }
  ::kill(crowd, SIGKILL);
  ::waitpid(crowd, nullptr, 0);
}

TEST_F(Hostile, NamesASlotThatIsNotThere) {
  for (const uint32_t index : {8U, 0x7fffffffU, 0xffffffffU}) {
    RawClient client(daemon.path);
    ASSERT_TRUE(client.greet());
    client.submit(index);
    EXPECT_TRUE(client.hung_up());
  }
  EXPECT_EQ(counts().violations, 3U);
}

TEST_F(Hostile, ClaimsMoreEntriesThanTheRingHas) {
  for (const uint32_t tail : {9U, 0x80000000U, 0xffffffffU}) {
    RawClient client(daemon.path);
    ASSERT_TRUE(client.greet());
    client.view.header().submitted = kFirstEntry + tail;
    send_wake(client.socket.get());
    EXPECT_TRUE(client.hung_up());
  }
}

TEST(HostileToAStalledDaemon, HandsInASlotTwice) {
  Daemon daemon(TestSink::Kind::kNever);
  RawClient client(daemon.path);
  ASSERT_TRUE(client.greet());
  client.submit(3);
  client.submit(3);
  const ServerCounts& counts = daemon.server->counts();
  EXPECT_TRUE(eventually([&] { return counts.violations == 1 || counts.in_flight == 2; }));
  ASSERT_EQ(counts.violations, 1U);
  EXPECT_TRUE(client.hung_up());
  EXPECT_TRUE(eventually([&] { return daemon.sink.alive == 0; }));
  EXPECT_EQ(counts.dropped, 1U);
  EXPECT_EQ(counts.in_flight, 0U);
}

TEST(HostileToAStalledDaemon, VanishesInTheMiddle) {
  for (const auto kind : {TestSink::Kind::kNever, TestSink::Kind::kOnThread}) {
    Daemon daemon(kind);
    for (int round = 0; round < 20; ++round) {
      RawClient client(daemon.path);
      ASSERT_TRUE(client.greet());
      for (uint32_t i = 0; i < 8; ++i)
        client.submit(i);
    }
    EXPECT_TRUE(eventually([&] { return daemon.server->counts().clients == 0 && daemon.sink.alive == 0; }));
    EXPECT_EQ(daemon.server->counts().in_flight, 0U);
  }
}

TEST(HostileToAStalledDaemon, DiesWhileItsChildHoldsTheSocket) {
  Daemon daemon(TestSink::Kind::kNever);
  int pipe_ends[2];
  ASSERT_EQ(::pipe(pipe_ends), 0);
  const pid_t client = ::fork();
  if (client == 0) {
    RawClient raw(daemon.path);
    raw.greet();
    raw.submit(1);
    const pid_t child = ::fork();
    if (child == 0) ::pause();
    (void)!::write(pipe_ends[1], &child, sizeof child);
    ::pause();
  }
  pid_t child = 0;
  ASSERT_EQ(::read(pipe_ends[0], &child, sizeof child), static_cast<ssize_t>(sizeof child));
  EXPECT_TRUE(eventually([&] { return daemon.server->counts().in_flight == 1; }));
  ::kill(client, SIGKILL);
  ::waitpid(client, nullptr, 0);
  EXPECT_TRUE(eventually([&] { return daemon.server->counts().clients == 0; }));
  EXPECT_EQ(daemon.server->counts().dropped, 1U);
  ::kill(child, SIGKILL);
}

TEST_F(Hostile, AsksForOperationsThatAreNone) {
  RawClient client(daemon.path);
  ASSERT_TRUE(client.greet());
  const auto sets = static_cast<uint32_t>(registry().size());
  const uint32_t seeds_of_a_set_without = 0;
  ASSERT_EQ(registry()[seeds_of_a_set_without]->secret_seed_bytes(), 0U);
  const std::pair<uint32_t, uint32_t> wrong[] = {{sets, 0},       {0xffffffff, 1}, {0, 3},
                                                 {0, 0x80000000}, {0, kSkIsSeed},  {0, kSkIsSeed | 2}};
  for (const auto& [set, op] : wrong) {
    client.view.slot(0).set = set;
    client.view.slot(0).op = op;
    client.view.slot(0).status = 0;
    client.submit(0);
    EXPECT_TRUE(eventually([&] { return client.view.header().completed == client.sent; }));
    EXPECT_EQ(client.view.slot(0).status, static_cast<uint32_t>(Status::kArgument)) << set << " " << op;
  }
}

/// Everything in the shared memory changes all the time while the daemon reads it.
TEST_F(Hostile, ChangesItsMemoryWhileItIsRead) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  std::minstd_rand random(1);
  while (std::chrono::steady_clock::now() < end) {
    RawClient client(daemon.path);
    ASSERT_TRUE(client.greet());
    std::atomic<bool> stop{false};
    std::thread scribbler([&] {
      for (uint32_t i = 0; !stop; ++i) {
        SlotHeader& header = client.view.slot(i % 8);
        header.set.store(i % 40, std::memory_order_relaxed);
        header.op.store(i % 5 + (i % 7 == 0 ? kSkIsSeed : 0), std::memory_order_relaxed);
        auto* records = reinterpret_cast<Word*>(client.view.records(i % 8));
        records[i % 400].store(i * 2654435761U, std::memory_order_relaxed);
        client.view.completion(i).store(i, std::memory_order_relaxed);
        client.view.header().client_sleeps.store(i & 1, std::memory_order_relaxed);
      }
    });
    const auto rounds = random() % 64;
    for (uint32_t i = 0; i < rounds; ++i) {
      client.submit(i % 8);
      if (random() % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
    }
    stop = true;
    scribbler.join();
  }
}

TEST_F(Hostile, FloodsRingAndSocketAndReadsNothing) {
  RawClient client(daemon.path);
  ASSERT_TRUE(client.greet());
  std::atomic<bool> stop{false};
  std::thread flood([&] {
    const Bytes noise(256, 1);
    while (!stop) {
      client.view.slot(client.sent % 8).op = 7;  // refused at once, so the ring is never empty
      client.view.header().client_sleeps = 1;
      client.view.submission(client.sent) = client.sent % 8;
      if (client.view.header().completed + 8 - client.sent != 0) client.view.header().submitted = ++client.sent;
      send_message(client.socket.get(), noise.data(), noise.size());
    }
  });
  EXPECT_TRUE(eventually([&] { return counts().failed > 100; }));
  for (uint8_t i = 0; i < 50; ++i)
    EXPECT_TRUE(serves(*honest, i));
  stop = true;
  flood.join();
}

TEST_F(Hostile, SendsDescriptorsAlong) {
  RawClient client(daemon.path);
  ASSERT_TRUE(client.greet());
  const auto open_files = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
  };
  const auto before = open_files();
  const char byte = 0;
  for (int i = 0; i < 20; ++i)
    EXPECT_TRUE(send_message(client.socket.get(), &byte, 1, STDERR_FILENO));
  EXPECT_TRUE(serves(*honest));
  EXPECT_EQ(open_files(), before);
}

TEST_F(Hostile, HalfClosesItsSocket) {
  RawClient client(daemon.path);
  ASSERT_TRUE(client.greet());
  ASSERT_EQ(::shutdown(client.socket.get(), SHUT_WR), 0);
  EXPECT_TRUE(client.hung_up());
}

/// The daemon's end of a worker's connection with 8 slots, controlled by the test.
struct FalseDaemon {
  FalseDaemon() {
    Listener listener;
    EXPECT_EQ(listener.listen_at(path.c_str(), 0600), Status::kOk);
    const char* problem = "";
    Fd fd;
    EXPECT_TRUE(memory.create(map_bytes(8), fd));
    view = SharedView(memory.data(), 8);
    view.header().submitted = view.header().completed = kFirstEntry;
    Welcome welcome;
    welcome.slots = 8;
    welcome.slot_bytes = slot_bytes();
    welcome.map_bytes = map_bytes(8);
    std::atomic<bool> open{false};
    std::thread opening([&] {  // the worker gives up if the machine is too busy to answer in time
      open = eventually([&] { return (connection = Connection::open(path.c_str(), 8, problem)) != nullptr; });
    });
    EXPECT_TRUE(eventually([&] {
      if (Fd next(::accept(listener.fd(), nullptr, nullptr)); next) {
        send_message(next.get(), &welcome, sizeof welcome, fd.get());
        socket = std::move(next);
      }
      return open.load();
    })) << problem;
    opening.join();
  }

  Folder folder;
  const std::string path = folder / "socket";
  Fd socket;
  SharedMemory memory;
  SharedView view;
  std::unique_ptr<Connection> connection;
};

/// A worker does not trust the daemon's words either.
TEST(HostileDaemon, CompletesWhatNobodyAskedFor) {
  for (const uint32_t index : {5U, 0xffffffffU}) {
    const FalseDaemon daemon;
    daemon.view.completion(kFirstEntry) = index;
    daemon.view.header().completed = kFirstEntry + 1;
    send_wake(daemon.socket.get());
    EXPECT_TRUE(eventually([&] { return !daemon.connection->alive(); }));
  }
}

/// A message may carry as many descriptors as the kernel allows. One is kept.
TEST(HostileDaemon, SendsManyDescriptors) {
  const auto open_files = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
  };
  for (const size_t many : {1U, 2U, 3U, 253U}) {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    const Fd ours(ends[0]), theirs(ends[1]);
    char byte = 0;
    iovec part{&byte, 1};
    const std::vector<int> descriptors(many, STDERR_FILENO);
    std::vector<std::max_align_t> control(CMSG_SPACE(many * sizeof(int)) / sizeof(std::max_align_t) + 1);
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(many * sizeof(int));
    cmsghdr* const rights = CMSG_FIRSTHDR(&message);
    *rights = {.cmsg_len = CMSG_LEN(many * sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    std::memcpy(CMSG_DATA(rights), descriptors.data(), many * sizeof(int));
    ASSERT_EQ(::sendmsg(theirs.get(), &message, 0), 1);
    const auto before = open_files();
    Fd kept;
    EXPECT_EQ(receive_message(ours.get(), &byte, 1, kept), 1);
    EXPECT_TRUE(kept);
    EXPECT_EQ(open_files(), before + 1) << many;
  }
}

/// After a worker has read its results, neither these nor its inputs are in the shared memory.
TEST(HostileDaemon, HasNothingLeftToRead) {
  FalseDaemon daemon;
  Records keys(*find_scheme("mlkem512"), Op::kKeygen, 1, 1);
  std::promise<Status> end;
  ASSERT_EQ(daemon.connection->submit(keys.request, 0, [&end](Status status) { end.set_value(status); }), Status::kOk);
  uint8_t* const records = daemon.view.records(0);
  const ItemRecords item(*keys.request.scheme, Op::kKeygen, false);
  std::fill_n(records + item.input_bytes(), item.output_bytes(), 0xa5);
  daemon.view.slot(0).status = static_cast<uint32_t>(Status::kOk);
  daemon.view.completion(kFirstEntry) = 0;
  daemon.view.header().completed = kFirstEntry + 1;
  send_wake(daemon.socket.get());
  EXPECT_EQ(end.get_future().get(), Status::kOk);
  EXPECT_EQ(keys.secret_out, Bytes(keys.secret_out.size(), 0xa5));
  EXPECT_EQ(Bytes(records, records + item.input_bytes() + item.output_bytes()),
            Bytes(item.input_bytes() + item.output_bytes()));
}

/// Operations that the daemon did not finish leave nothing in the worker's memory, however late it connects again.
TEST(HostileDaemon, LeavesInTheMiddle) {
  FalseDaemon daemon;
  Records keys(*find_scheme("mlkem512"), Op::kKeygen, 1, 1);
  std::promise<Status> end;
  const auto done = [&end](Status status) { end.set_value(status); };
  ASSERT_EQ(daemon.connection->submit(keys.request, 0, done), Status::kOk);
  const uint8_t* coins = daemon.view.records(0);
  EXPECT_TRUE(std::equal(keys.coins.begin(), keys.coins.end(), coins));
  daemon.socket.reset();
  EXPECT_EQ(end.get_future().get(), Status::kBackendUnavailable);
  EXPECT_EQ(Bytes(coins, coins + keys.coins.size()), Bytes(keys.coins.size()));
}

TEST(HostileDaemon, SendsMemoryThatItCouldCut) {
  const Folder folder;
  const std::string path = folder / "socket";
  Listener listener;
  ASSERT_EQ(listener.listen_at(path.c_str(), 0600), Status::kOk);
  std::unique_ptr<Connection> connection;
  const char* problem = "";
  std::thread opening([&] { connection = Connection::open(path.c_str(), 8, problem); });
  Fd socket;
  ASSERT_TRUE(eventually([&] {
    socket = Fd(::accept(listener.fd(), nullptr, nullptr));
    return static_cast<bool>(socket);
  }));
  const Fd fd(::memfd_create("unsealed", MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(fd.get(), static_cast<off_t>(map_bytes(8))), 0);
  Welcome welcome;
  welcome.slots = 8;
  welcome.slot_bytes = slot_bytes();
  welcome.map_bytes = map_bytes(8);
  ASSERT_TRUE(send_message(socket.get(), &welcome, sizeof welcome, fd.get()));
  opening.join();
  EXPECT_EQ(connection, nullptr);
}

}  // namespace
}  // namespace polykem::broker
