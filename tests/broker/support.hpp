// SPDX-License-Identifier: Apache-2.0
// Operation sinks for a Server under test, an honest worker, and a client that can violate the protocol.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "broker/connection.hpp"
#include "broker/server.hpp"
#include "engine/engine.hpp"
#include "folder.hpp"
#include "schemes/registry.hpp"

namespace polykem::broker {

using Bytes = std::vector<uint8_t>;

inline Engine& engine() {
  static const std::unique_ptr<Engine> one = [] {
    std::unique_ptr<Engine> made;
    EXPECT_EQ(Engine::create({.threads = 1}, made), Status::kOk);
    return made;
  }();
  return *one;
}

/// The records of a batch, with coins that are derived from `seed`.
struct Records {
  Records(const Scheme& s, Op which, size_t count, uint8_t seed, bool as_seeds = false)
      : request{.op = which, .sk_is_seed = as_seeds, .scheme = &s}, statuses(count, Status::kInternal) {
    const auto fill = [&](Bytes& out, size_t bytes) {
      out.resize(count * bytes);
      for (size_t i = 0; i < out.size(); ++i)
        out[i] = static_cast<uint8_t>(seed + i * 7 + i / 251);
      return out.data();
    };
    BatchView& r = request.records;
    r.count = count;
    if (s.coin_bytes(which) != 0) r.coins = fill(coins, s.coin_bytes(which));
    if (which == Op::kKeygen) {
      r.pk_out = fill(public_out, s.public_key_bytes);
      r.sk_out = fill(secret_out, s.secret_key_bytes);
    }
    if (which == Op::kEncaps) r.ct_out = fill(public_out, s.ciphertext_bytes);
    if (which != Op::kKeygen) r.ss_out = fill(secret_out, s.shared_secret_bytes);
    if (which == Op::kDecaps) r.ct = fill(ct, s.ciphertext_bytes);
    if (as_seeds) r.sk = fill(key, s.secret_seed_bytes());
    r.item_status = statuses.data();
  }
  void set_key(const Bytes& records) {
    key = records;
    (request.op == Op::kEncaps ? request.records.pk : request.records.sk) = key.data();
  }
  void set_ct(const Bytes& records) {
    ct = records;
    request.records.ct = ct.data();
  }
  /// Returns the outputs that the engine of this process computes.
  std::pair<Bytes, Bytes> expected() {
    Records other = *this;
    BatchView& r = other.request.records;
    (request.op == Op::kKeygen ? r.pk_out : r.ct_out) = request.op == Op::kDecaps ? nullptr : other.public_out.data();
    (request.op == Op::kKeygen ? r.sk_out : r.ss_out) = other.secret_out.data();
    r.item_status = other.statuses.data();
    engine().run(other.request);
    return {other.public_out, other.secret_out};
  }

  Request request;
  Bytes coins, key, ct, public_out, secret_out;
  std::vector<Status> statuses;
};

/// Computes operations one after the other on a thread, or keeps them all until release().
class TestSink final : public OperationSink {
 public:
  enum class Kind { kAtOnce, kOnThread, kNever };
  explicit TestSink(Kind kind) : kind_(kind) {
    if (kind == Kind::kOnThread) thread_ = std::thread([this] { loop(); });
  }
  ~TestSink() override {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  uint64_t cost_ns(const Request& /*item*/) override { return cost; }
  Status add(const Request& item, Done done, void* user, std::unique_ptr<PendingItem>& out) override {
    auto pending = std::make_shared<Work>(item);
    out = std::make_unique<Item>(*this, pending);
    pending->done = done;
    pending->user = user;
    ++alive;
    if (kind_ == Kind::kAtOnce) pending->compute();
    if (kind_ != Kind::kOnThread) return Status::kOk;
    const std::lock_guard lock(mutex_);
    queue_.push_back(pending);
    wake_.notify_all();
    return Status::kOk;
  }

  std::atomic<int> alive{0};  ///< items that have not been destroyed
  std::atomic<uint64_t> cost{10'000};

 private:
  struct Work {
    explicit Work(const Request& item) : records(*item.scheme, item.op, 1, 0, item.sk_is_seed) {
      const RecordBytes bytes = record_bytes(*item.scheme, item.op, item.sk_is_seed);
      const BatchView& given = item.records;
      if (bytes.coins != 0) records.coins.assign(given.coins, given.coins + bytes.coins);
      records.request.records.coins = bytes.coins == 0 ? nullptr : records.coins.data();
      if (item.op == Op::kEncaps) records.set_key(Bytes(given.pk, given.pk + bytes.pk));
      if (item.op != Op::kDecaps) return;
      records.set_key(Bytes(given.sk, given.sk + bytes.sk));
      records.set_ct(Bytes(given.ct, given.ct + bytes.ct));
    }
    void compute() {
      engine().run(records.request);
      finished = true;
    }
    Records records;
    Done done = nullptr;
    void* user = nullptr;
    std::mutex calling;  ///< held during the callback
    std::atomic<bool> finished{false}, dropped{false};
    std::atomic<std::thread::id> caller{};
  };
  struct Item final : PendingItem {
    Item(TestSink& all, std::shared_ptr<Work> one) : owner(all), work(std::move(one)) {}
    ~Item() override {
      work->dropped = true;
      if (work->caller.load() != std::this_thread::get_id()) const std::lock_guard wait(work->calling);
      --owner.alive;
    }
    bool finished() const override { return work->finished; }
    Status take(uint8_t* public_out, uint8_t* secret_out) override {
      const Records& r = work->records;
      if (public_out != nullptr) std::copy(r.public_out.begin(), r.public_out.end(), public_out);
      std::copy(r.secret_out.begin(), r.secret_out.end(), secret_out);
      return r.statuses[0];
    }
    TestSink& owner;
    std::shared_ptr<Work> work;
  };

  void loop() {
    std::unique_lock lock(mutex_);
    while (true) {
      wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      if (queue_.empty()) return;
      const std::shared_ptr<Work> work = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      if (!work->dropped) work->compute();
      {
        const std::lock_guard calling(work->calling);
        work->caller = std::this_thread::get_id();
        if (!work->dropped) work->done(work->user);
        work->caller = std::thread::id();
      }
      lock.lock();
    }
  }

  const Kind kind_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::shared_ptr<Work>> queue_;
  bool stopping_ = false;
  std::thread thread_;
};

/// A server at a socket of its own.
struct Daemon {
  explicit Daemon(TestSink::Kind kind = TestSink::Kind::kOnThread, ServerConfig config = {}) : sink(kind) {
    config.path = path.c_str();
    EXPECT_EQ(Server::create(config, sink, server), Status::kOk);
  }
  /// Connects repeatedly while the machine is too busy to answer in time.
  std::unique_ptr<Connection> connect(uint32_t slots = 64) {
    std::unique_ptr<Connection> made;
    eventually([&] {
      made = Connection::open(path.c_str(), slots, problem);
      return made != nullptr || std::string_view(problem) != "the daemon does not answer";
    });
    return made;
  }

  Folder folder;
  const std::string path = folder / "socket";
  const char* problem = "";
  TestSink sink;
  std::unique_ptr<Server> server;
};

/// Submits a batch and waits for its end.
inline Status run(Connection& connection, const Request& request, uint64_t deadline_ns = 0) {
  std::promise<Status> end;
  const Status status = connection.submit(request, deadline_ns, [&end](Status s) { end.set_value(s); });
  return status == Status::kOk ? end.get_future().get() : status;
}

/// Expects that an encapsulation of ML-KEM-512 through the connection equals the engine's.
inline bool serves(Connection& connection, uint8_t seed = 1) {
  const Scheme& scheme = *find_scheme("mlkem512");
  Records keys(scheme, Op::kKeygen, 2, seed), encaps(scheme, Op::kEncaps, 2, seed);
  if (run(connection, keys.request) != Status::kOk) return false;
  encaps.set_key(keys.public_out);
  if (run(connection, encaps.request) != Status::kOk) return false;
  return encaps.expected() == std::pair(encaps.public_out, encaps.secret_out);
}

/// A client that sends what the test says.
struct RawClient {
  explicit RawClient(const std::string& path) : socket(connect_to(path.c_str())) { EXPECT_TRUE(socket); }
  bool send(const void* bytes, size_t size) { return send_message(socket.get(), bytes, size); }
  /// Returns false if the daemon has closed the connection.
  bool wait_for(void* message, size_t size) {
    ssize_t got = 0;
    const bool heard = eventually([&] {
      got = receive_message(socket.get(), message, size, memory_fd);
      return got >= 0 || errno != EAGAIN;
    });
    EXPECT_TRUE(heard) << "neither an answer nor a hang-up";
    return heard && got > 0;
  }
  bool hung_up() {
    char byte;
    while (wait_for(&byte, 1)) {
    }
    return !testing::Test::HasNonfatalFailure();
  }
  bool greet(Hello hello) {
    return send(&hello, sizeof hello) && wait_for(&welcome, sizeof welcome) && welcome.result == HelloResult::kWelcome;
  }
  bool greet() {
    Hello hello;
    hello.registry = registry_fingerprint();
    hello.slots = 8;
    if (!greet(hello) || !memory.map(memory_fd, welcome.map_bytes)) return false;
    view = SharedView(memory.data(), welcome.slots);
    return true;
  }
  void submit(uint32_t index) {
    view.submission(sent++) = index;
    view.header().submitted = sent;
    send_wake(socket.get());
  }

  Fd socket, memory_fd;
  Welcome welcome;
  SharedMemory memory;
  SharedView view;
  uint32_t sent = kFirstEntry;
};

/// A user other than the daemon's.
inline constexpr uid_t kNobody = 65534;

/// Runs `body` in a child process of that user.
template <class Body>
int as_nobody(Body&& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setgid(kNobody) != 0 || ::setuid(kNobody) != 0) ::_exit(99);
    ::_exit(body());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

}  // namespace polykem::broker
