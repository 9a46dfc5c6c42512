// SPDX-License-Identifier: Apache-2.0
// Tests honest workers: results are those of the engine, whatever happens on the way.
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <cstring>
#include <fstream>

#include "support.hpp"

namespace polykem::broker {
namespace {

TEST(Server, ComputesEveryOperationOfEverySet) {
  Daemon daemon;
  const auto connection = daemon.connect();
  ASSERT_NE(connection, nullptr) << daemon.problem;
  for (const Scheme* scheme : registry()) {
    Records keys(*scheme, Op::kKeygen, 1, 3), encaps(*scheme, Op::kEncaps, 1, 4), decaps(*scheme, Op::kDecaps, 1, 5);
    EXPECT_EQ(run(*connection, keys.request), Status::kOk);
    EXPECT_EQ(keys.expected(), std::pair(keys.public_out, keys.secret_out)) << scheme->name;
    encaps.set_key(keys.public_out);
    EXPECT_EQ(run(*connection, encaps.request), Status::kOk);
    EXPECT_EQ(encaps.expected(), std::pair(encaps.public_out, encaps.secret_out)) << scheme->name;
    decaps.set_key(keys.secret_out);
    decaps.set_ct(encaps.public_out);
    EXPECT_EQ(run(*connection, decaps.request), Status::kOk);
    EXPECT_EQ(decaps.secret_out, encaps.secret_out) << scheme->name;
  }
}

TEST(Server, FinishesABatchThatIsLargerThanTheRing) {
  for (const auto kind : {TestSink::Kind::kAtOnce, TestSink::Kind::kOnThread}) {
    Daemon daemon(kind);
    const auto connection = daemon.connect(4);
    ASSERT_NE(connection, nullptr) << daemon.problem;
    Records keys(*find_scheme("mlkem512"), Op::kKeygen, 101, 9);
    EXPECT_EQ(run(*connection, keys.request), Status::kOk);
    EXPECT_EQ(keys.expected(), std::pair(keys.public_out, keys.secret_out));
    EXPECT_EQ(daemon.server->counts().operations, 101U);
  }
}

TEST(Server, TakesSecretKeysAsSeeds) {
  Daemon daemon;
  const auto connection = daemon.connect();
  Records decaps(*find_scheme("mlkem768"), Op::kDecaps, 3, 1, true);
  EXPECT_EQ(run(*connection, decaps.request), Status::kOk);
  EXPECT_EQ(decaps.expected().second, decaps.secret_out);
}

TEST(Server, ReportsMalformedItemsOneByOne) {
  Daemon daemon;
  const auto connection = daemon.connect();
  const Scheme& scheme = *find_scheme("mlkem512");
  Records keys(scheme, Op::kKeygen, 3, 1), encaps(scheme, Op::kEncaps, 3, 2);
  ASSERT_EQ(run(*connection, keys.request), Status::kOk);
  std::fill_n(keys.public_out.begin() + static_cast<ptrdiff_t>(scheme.public_key_bytes), 3, 0xff);
  encaps.set_key(keys.public_out);
  EXPECT_EQ(run(*connection, encaps.request), Status::kItems);
  EXPECT_EQ(encaps.statuses, (std::vector<Status>{Status::kOk, Status::kPublicKey, Status::kOk}));
  EXPECT_EQ(encaps.expected(), std::pair(encaps.public_out, encaps.secret_out));
}

TEST(Server, LeavesOutWhatIsTooLate) {
  Daemon daemon;
  const auto connection = daemon.connect();
  Records keys(*find_scheme("mlkem512"), Op::kKeygen, 1, 1);
  EXPECT_EQ(run(*connection, keys.request, 1), Status::kBackendUnavailable);
  EXPECT_EQ(daemon.server->counts().late, 1U);
  EXPECT_TRUE(serves(*connection));
}

TEST(Server, ManyThreadsOfOneWorker) {
  Daemon daemon;
  const auto connection = daemon.connect(16);
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (uint8_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (uint8_t i = 0; i < 25; ++i)
        right += serves(*connection, static_cast<uint8_t>(50 * t + i)) ? 1 : 0;
    });
  for (auto& thread : threads)
    thread.join();
  EXPECT_EQ(right, 100);
}

TEST(Server, WipesTheRecordsInTheSharedMemory) {
  Daemon daemon;
  RawClient client(daemon.path);
  ASSERT_TRUE(client.greet());
  client.view.slot(2).op = static_cast<uint32_t>(Op::kKeygen);
  const size_t coins = registry()[0]->keygen_coin_bytes;
  std::fill_n(client.view.records(2), coins, 0xa5);
  client.submit(2);
  ASSERT_TRUE(eventually([&] { return client.view.header().completed == kFirstEntry + 1; }));
  EXPECT_EQ(Bytes(client.view.records(2), client.view.records(2) + coins), Bytes(coins, 0));
}

/// Returns the "VmFlags:" of the shared memory's mappings in /proc/self/smaps.
std::vector<std::string> flags_of_shared_memory() {
  std::vector<std::string> out;
  std::ifstream maps("/proc/self/smaps");
  bool shared = false;
  for (std::string line; std::getline(maps, line);) {
    if (line.find("memfd:polykem") != std::string::npos) shared = true;
    if (!line.starts_with("VmFlags:")) continue;
    if (shared) out.push_back(line + " ");
    shared = false;
  }
  return out;
}

TEST(Server, TheSharedMemoryIsNeitherDumpedNorSwappedNorInherited) {
  Daemon daemon;
  const auto connection = daemon.connect(1);
  ASSERT_NE(connection, nullptr) << daemon.problem;
  const std::vector<std::string> mappings = flags_of_shared_memory();
  ASSERT_EQ(mappings.size(), 2U) << "the server's and the worker's";
  int locked = 0;  // one lock is enough
  for (const std::string& flags : mappings) {
    EXPECT_NE(flags.find(" dd "), std::string::npos) << flags;
    EXPECT_NE(flags.find(" dc "), std::string::npos) << flags;
    locked += flags.find(" lo ") != std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(locked, 1);
}

/// If many connect at once, a worker waits for its place in the queue.
TEST(Server, AWorkerWaitsForItsPlace) {
  const Folder folder;
  const std::string path = folder / "socket";
  const Fd listening(::socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(listening.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(listening.get(), 0), 0);
  const Fd first = connect_to(path.c_str());
  ASSERT_TRUE(first);
  std::thread daemon([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const Fd accepted(::accept(listening.get(), nullptr, nullptr));
  });
  EXPECT_TRUE(connect_to(path.c_str())) << std::strerror(errno);
  daemon.join();
  EXPECT_FALSE(connect_to(path.c_str()) && connect_to(path.c_str()));
  EXPECT_EQ(errno, EAGAIN);
}

TEST(Server, AnEndGivesBackWhatItDidNotTake) {
  for (int i = 0; i < 20; ++i) {
    Daemon daemon;
    const auto connection = daemon.connect(4);
    Records keys(*find_scheme("mlkem512"), Op::kKeygen, 200, 9);
    std::promise<Status> end;
    ASSERT_EQ(connection->submit(keys.request, 0, [&end](Status s) { end.set_value(s); }), Status::kOk);
    daemon.server.reset();
    EXPECT_EQ(end.get_future().get(), Status::kBackendUnavailable);
    EXPECT_TRUE(eventually([&] { return !connection->alive(); }));
    EXPECT_EQ(connection->submit(keys.request, 0, [](Status) { FAIL(); }), Status::kBackendUnavailable);
  }
}

TEST(Server, AnEndLeavesResultsReadable) {
  for (int i = 0; i < 20; ++i) {
    Daemon daemon;
    RawClient client(daemon.path);
    ASSERT_TRUE(client.greet());
    client.view.slot(1).op = static_cast<uint32_t>(Op::kKeygen);
    for (size_t byte = 0; byte < registry()[0]->keygen_coin_bytes; ++byte)
      client.view.records(1)[byte] = static_cast<uint8_t>(byte * 7 + byte / 251);
    client.submit(1);
    ASSERT_TRUE(eventually([&] { return client.view.header().completed == kFirstEntry + 1; }));
    daemon.server.reset();
    const Scheme& scheme = *registry()[0];
    const uint8_t* pk = client.view.records(1) + scheme.keygen_coin_bytes;
    EXPECT_TRUE(std::any_of(pk, pk + scheme.public_key_bytes, [](uint8_t byte) { return byte != 0; }));
  }
}

TEST(Server, GivesUpADaemonThatStandsStill) {
  Daemon daemon(TestSink::Kind::kNever);
  const auto connection = daemon.connect();
  Records keys(*find_scheme("mlkem512"), Op::kKeygen, 2, 1);
  EXPECT_EQ(run(*connection, keys.request), Status::kBackendUnavailable);
  EXPECT_FALSE(connection->alive());
}

TEST(Server, HasSoManyPlaces) {
  ServerConfig config;
  config.max_clients = 2;
  Daemon daemon(TestSink::Kind::kOnThread, config);
  auto first = daemon.connect();
  const auto second = daemon.connect();
  EXPECT_EQ(daemon.connect(), nullptr);
  EXPECT_STREQ(daemon.problem, "the daemon has no place for another client");
  first.reset();
  EXPECT_TRUE(eventually([&] { return daemon.connect() != nullptr; }));
  EXPECT_TRUE(serves(*second));
}

TEST(Server, HasSoManyPlacesForAUser) {
  ServerConfig config;
  config.max_clients_of_user = 1;
  Daemon daemon(TestSink::Kind::kOnThread, config);
  const auto first = daemon.connect();
  EXPECT_EQ(daemon.connect(), nullptr);
}

TEST(Server, GoesOnAfterAShortageOfDescriptors) {
  Daemon daemon;
  RawClient waiting(daemon.path);
  ASSERT_TRUE(waiting.greet());
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  EXPECT_EQ(daemon.connect(), nullptr);
  EXPECT_STREQ(daemon.problem, "no file descriptor is left");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  daemon.path.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(daemon.server->counts().clients, 1U);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(eventually([&] { return daemon.server->counts().clients == 2; }));
  const auto connection = daemon.connect();
  ASSERT_NE(connection, nullptr) << daemon.problem;
  EXPECT_TRUE(serves(*connection));
}

TEST(Server, AsksWhoConnects) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  for (const bool by_user : {false, true}) {
    for (const bool allowed : {false, true}) {
      ServerConfig config;
      config.mode = 0666;
      if (allowed && by_user) config.uids = {kNobody};
      if (allowed && !by_user) config.gids = {kNobody};
      Daemon daemon(TestSink::Kind::kOnThread, config);
      ASSERT_EQ(::chmod(daemon.folder.path().c_str(), 0755), 0);
      EXPECT_EQ(as_nobody([&] { return RawClient(daemon.path).greet() ? 1 : 0; }), allowed ? 1 : 0);
      EXPECT_EQ(daemon.server->counts().refused, allowed ? 0U : 1U);
    }
  }
}

TEST(Server, TheModeOfTheSocketHolds) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  Daemon daemon;
  ASSERT_EQ(::chmod(daemon.folder.path().c_str(), 0755), 0);
  EXPECT_EQ(as_nobody([&] {
              daemon.connect();  // fails before it starts a thread
              return std::string(daemon.problem) == "no permission to connect to the socket" ? 1 : 0;
            }),
            1);
}

TEST(Server, AWorkerGivesItsKeysToNobodyElse) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  Folder folder;
  ASSERT_EQ(::chmod(folder.path().c_str(), 01777), 0);
  const std::string path = folder / "socket";
  int pipe_ends[2];
  ASSERT_EQ(::pipe(pipe_ends), 0);
  const pid_t stranger = ::fork();
  if (stranger == 0) {
    Listener listener;
    const bool listens = ::setuid(kNobody) == 0 && listener.listen_at(path.c_str(), 0666) == Status::kOk;
    (void)!::write(pipe_ends[1], &listens, 1);
    ::pause();
  }
  bool listens = false;
  ASSERT_EQ(::read(pipe_ends[0], &listens, 1), 1);
  ASSERT_TRUE(listens);
  ASSERT_EQ(::geteuid(), 0U);
  const char* problem = "";
  EXPECT_EQ(Connection::open(path.c_str(), 4, problem), nullptr);
  EXPECT_STREQ(problem, "the socket belongs to neither root, this user nor the owner of its folder");
  ASSERT_EQ(::chown(folder.path().c_str(), kNobody, kNobody), 0);
  EXPECT_EQ(Connection::open(path.c_str(), 4, problem), nullptr);
  EXPECT_STREQ(problem, "the daemon does not answer");
  ::kill(stranger, SIGKILL);
  ::waitpid(stranger, nullptr, 0);
}

TEST(Listener, OneProcessToAPath) {
  const Folder folder;
  const std::string path = folder / "socket";
  TestSink sink(TestSink::Kind::kAtOnce);
  std::unique_ptr<Server> first, second;
  EXPECT_EQ(Server::create({.path = path.c_str()}, sink, first), Status::kOk);
  EXPECT_EQ(Server::create({.path = path.c_str()}, sink, second), Status::kBusy);
  first.reset();
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_EQ(Server::create({.path = path.c_str()}, sink, second), Status::kOk);
}

TEST(Listener, ReplacesWhatADeadProcessLeft) {
  const Folder folder;
  const std::string path = folder / "socket";
  const pid_t child = ::fork();
  if (child == 0) {
    Listener listener;
    ::_exit(listener.listen_at(path.c_str(), 0600) == Status::kOk ? 0 : 1);
  }
  int status = 1;
  ::waitpid(child, &status, 0);
  ASSERT_EQ(status, 0);
  ASSERT_TRUE(std::filesystem::is_socket(path));
  Listener listener;
  EXPECT_EQ(listener.listen_at(path.c_str(), 0640), Status::kOk);
  struct stat file {};
  ASSERT_EQ(::stat(path.c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0640U);
}

TEST(Listener, LeavesOtherFilesAlone) {
  const Folder folder;
  const std::string path = folder / "file";
  std::ofstream(path) << "mine";
  Listener listener;
  EXPECT_EQ(listener.listen_at(path.c_str(), 0600), Status::kArgument);
  EXPECT_EQ(errno, EEXIST);
  EXPECT_TRUE(std::filesystem::is_regular_file(path));
  EXPECT_EQ(listener.listen_at((folder / std::string(200, 'x')).c_str(), 0600), Status::kArgument);
  EXPECT_EQ(errno, ENAMETOOLONG);
}

TEST(Listener, AdoptsASocketThatListens) {
  Fd other(::socket(AF_INET, SOCK_STREAM, 0));
  Listener listener;
  EXPECT_EQ(listener.adopt(other.get()), Status::kArgument);
  Fd deaf(::socket(AF_UNIX, SOCK_STREAM, 0));
  EXPECT_EQ(listener.adopt(deaf.get()), Status::kArgument);
}

}  // namespace
}  // namespace polykem::broker
