// SPDX-License-Identifier: Apache-2.0
// Tests single operations with every allocation and thread start failing once, on the CPU's threads and at a broker.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "broker/support.hpp"
#include "engine/batcher/batcher.hpp"
#include "scenarios.hpp"

namespace polykem::test {
namespace {

constexpr size_t kTogether = 40;

/// A batcher and its operations: key pairs of ML-KEM, or signatures.
class Collected {
 public:
  explicit Collected(std::string broker = {}, polykem_op op = POLYKEM_KEYGEN) : broker_(std::move(broker)) {
    request_.struct_size = sizeof request_;
    request_.op = op;
    request_.count = 1;
    message_.struct_size = sizeof message_;
  }

  void begin() {
    polykem_backend_info_t gpu{};  // its texts are kept for ever once they exist
    gpu.struct_size = sizeof gpu;
    polykem_backend_info(0, &gpu);
    const polykem_config config{sizeof config, 1, nullptr};
    polykem_batcher_config batcher{};
    batcher.struct_size = sizeof batcher;
    batcher.broker = broker_.empty() ? nullptr : broker_.c_str();
    polykem_context_new(&config, &context_);
    polykem_batcher_new(context_, &batcher, &batcher_);
    if (request_.op == POLYKEM_KEYGEN) {
      polykem_scheme_find("mlkem512", &request_.scheme);
    } else {
      polykem_signature_find("mldsa44", &request_.scheme);
      make_key();
      request_.sk = sk_.data();
      request_.messages = &message_;
    }
  }
  /// Operations that share batches. Each ends with a result or an error.
  polykem_status together() {
    polykem_ticket* tickets[kTogether] = {};
    polykem_status first = polykem_batcher_hold(batcher_);
    const bool held = first == POLYKEM_OK;
    for (polykem_ticket*& ticket : tickets)
      keep(first, add(ticket));
    if (held) keep(first, polykem_batcher_release(batcher_));
    for (size_t i = 0; i < kTogether; ++i) {
      made_[i] = tickets[i] == nullptr ? POLYKEM_ERR_BUSY : polykem_ticket_take(tickets[i], signature(i), nullptr);
      if (tickets[i] != nullptr) keep(first, made_[i]);
      polykem_ticket_free(tickets[i]);
    }
    return first;
  }
  /// Checks the results of those that report success.
  std::string check_signatures() {
    for (size_t i = 0; i < kTogether; ++i) {
      polykem_request verify = request_;
      verify.op = POLYKEM_VERIFY;
      verify.pk = pk_.data();
      verify.sig = signature(i);
      if (made_[i] == POLYKEM_OK && polykem_run(context_, &verify) != POLYKEM_OK) return "a signature does not verify";
    }
    return {};
  }
  /// Runs operations until the broker has been tried, which never happens without threads.
  polykem_status at_broker() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(250);
    while (std::chrono::steady_clock::now() < end) {
      polykem_ticket* ticket = nullptr;
      polykem_status status = add(ticket);
      if (status == POLYKEM_OK) status = polykem_ticket_wait(ticket);
      polykem_ticket_free(ticket);
      if (status != POLYKEM_OK || broker_was_tried()) return status;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return POLYKEM_OK;
  }
  void end() {
    polykem_batcher_free(batcher_);
    polykem_context_free(context_);
  }

 private:
  /// Uses another context, since this one must begin with its first signature.
  void make_key() {
    const polykem_config config{sizeof config, 1, nullptr};
    polykem_context* maker = nullptr;
    polykem_context_new(&config, &maker);
    polykem_keygen(maker, request_.scheme, 1, pk_.data(), sk_.data());
    polykem_context_free(maker);
  }
  static void keep(polykem_status& first, polykem_status next) {
    if (first == POLYKEM_OK) first = next;
  }
  polykem_status add(polykem_ticket*& out) { return polykem_batcher_add(batcher_, &request_, nullptr, nullptr, &out); }
  uint8_t* signature(size_t i) { return request_.op == POLYKEM_SIGN ? signatures_.data() + i * 2420 : nullptr; }
  bool broker_was_tried() {
    polykem_executor_health_t health{};
    health.struct_size = sizeof health;
    for (size_t i = 0; polykem_batcher_health(batcher_, i, &health) == POLYKEM_OK; ++i)
      if (std::string(health.name) == "broker") return health.state != POLYKEM_EXECUTOR_UNUSED;
    return false;
  }

  const std::string broker_;
  polykem_request request_{};
  polykem_messages message_{};
  std::vector<uint8_t> pk_ = std::vector<uint8_t>(1312), sk_ = std::vector<uint8_t>(2560),
                       signatures_ = std::vector<uint8_t>(kTogether * 2420);
  polykem_status made_[kTogether] = {};
  polykem_context* context_ = nullptr;
  polykem_batcher* batcher_ = nullptr;
};

Scenario collected(const std::string& broker, polykem_status (Collected::*act)()) {
  auto all = std::make_shared<Collected>(broker);
  return {.begin = [all] { all->begin(); },
          .act = [all, act] { return (*all.*act)(); },
          .end = [all] { all->end(); },
          .allows = documented};
}

TEST(SingleOperations, Together) {
  const auto together = [] { return collected("", &Collected::together); };
  EXPECT_GT(sweep(Call::kMemory, together), 0);
  EXPECT_GT(sweep(Call::kRandom, together), 0);
  EXPECT_GT(sweep(Call::kThread, together), 0);
}

TEST(SingleOperations, SignaturesTogether) {
  const auto together = [] {
    auto all = std::make_shared<Collected>("", POLYKEM_SIGN);
    return Scenario{.begin = [all] { all->begin(); },
                    .act = [all] { return all->together(); },
                    .check = [all](polykem_status) { return all->check_signatures(); },
                    .end = [all] { all->end(); },
                    .allows = documented};
  };
  EXPECT_GT(sweep(Call::kMemory, together), 0);
  EXPECT_GT(sweep(Call::kRandom, together), 0);
  EXPECT_GT(sweep(Call::kThread, together), 0);
}

/// Operations that end at once for lack of memory must not make an operation look cheap.
TEST(SingleOperations, WithoutMemoryAreNotMeasured) {
  std::unique_ptr<Engine> engine;
  ASSERT_EQ(Engine::create({.threads = 1, .backend = cpu::kRef, .accelerators = {}}, engine), Status::kOk);
  Request request{.op = Op::kKeygen, .scheme = find_scheme("mlkem512")};
  request.records.count = 1;
  const auto cost = [&](Batcher& batcher) { return batcher.cost(*request.scheme, request.op, false); };
  bool failed = false;
  for (int nth = 1; !failed; ++nth) {
    Batcher batcher(*engine, {});
    const Clock::duration unmeasured = cost(batcher);
    Ticket* ticket = nullptr;
    arm({Call::kMemory, nth, true});
    const Status added = batcher.add(request, nullptr, nullptr, ticket);
    ASSERT_TRUE(disarm()) << "no operation was taken and then lacked memory";
    if (added != Status::kOk) continue;
    if (ticket->wait() == Status::kOutOfMemory) {
      failed = true;
      EXPECT_EQ(cost(batcher), unmeasured);
    }
    Batcher::abandon(ticket);
  }
  EXPECT_FALSE(disarm()) << "what follows in this process would take this fault for its own";
}

/// The broker is in this process, where nothing fails; the workers are in child processes.
TEST(SingleOperations, AtABroker) {
  const std::string path = "/tmp/polykem-faults-" + std::to_string(::getpid());
  polykem_context* context = nullptr;
  polykem_batcher* batcher = nullptr;
  polykem_broker* broker = nullptr;
  const polykem_config one_thread{sizeof one_thread, 1, nullptr};
  polykem_broker_config config{};
  config.struct_size = sizeof config;
  config.path = path.c_str();
  ASSERT_EQ(polykem_context_new(&one_thread, &context), POLYKEM_OK);
  ASSERT_EQ(polykem_batcher_new(context, nullptr, &batcher), POLYKEM_OK);
  ASSERT_EQ(polykem_broker_new(batcher, &config, &broker), POLYKEM_OK);
  const auto at_broker = [&path] { return collected(path, &Collected::at_broker); };
  EXPECT_GT(sweep(Call::kMemory, at_broker), 0);
  EXPECT_GT(sweep(Call::kRandom, at_broker), 0);
  EXPECT_GT(sweep(Call::kThread, at_broker), 0);
  polykem_broker_free(broker);
  polykem_batcher_free(batcher);
  polykem_context_free(context);
  ::unlink((path + ".lock").c_str());
}

/// The server continues, whatever fails while it drops a client.
Scenario dropping(void (*misbehave)(broker::RawClient&)) {
  struct Both {
    broker::Daemon daemon{broker::TestSink::Kind::kNever};
    broker::RawClient client{daemon.path};
  };
  auto both = std::make_shared<std::unique_ptr<Both>>();
  const auto begin = [both] {
    *both = std::make_unique<Both>();
    broker::RawClient& client = (*both)->client;
    client.greet();
    for (uint32_t i = 0; i < 8; ++i)
      client.submit(i);
    EXPECT_TRUE(broker::eventually([&] { return (*both)->daemon.sink.alive == 8; }));
  };
  const auto act = [both, misbehave] {
    misbehave((*both)->client);
    const bool dropped = broker::eventually([&] { return (*both)->daemon.server->counts().clients == 0; });
    return dropped ? POLYKEM_OK : POLYKEM_ERR_INTERNAL;
  };
  return {.begin = begin, .act = act, .end = [both] { both->reset(); }, .allows = documented};
}

TEST(SingleOperations, TheBrokerDropsAClient) {
  sweep(Call::kMemory, [] { return dropping([](broker::RawClient& client) { client.socket.reset(); }); });
  sweep(Call::kMemory, [] { return dropping([](broker::RawClient& client) { client.submit(99); }); });
}

}  // namespace
}  // namespace polykem::test
