// SPDX-License-Identifier: Apache-2.0
// A worker process. It keeps encapsulations and decapsulations in flight through a broker until SIGTERM, compares each
// result with the library's own, and prints a line of JSON with counts.
//
//   broker_worker SOCKET SET IN_FLIGHT [fork]     fork: works, forks, and continues in both processes
#include <polykem/polykem.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

using Bytes = std::vector<uint8_t>;

/// The pause after each round of operations, which leaves CPU time to other tests.
constexpr auto kRest = std::chrono::milliseconds(5);
constexpr auto kPatience = std::chrono::seconds(50);

std::atomic<bool> stop{false};

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "broker_worker: %s\n", what);
  std::exit(1);
}

void require(polykem_status status, const char* what) {
  if (status != POLYKEM_OK) fail(what);
}

/// An operation and its right results.
struct Case {
  polykem_request request{};
  Bytes coins, key, ct, public_out, secret_out;
};

class Worker {
 public:
  Worker(const char* socket, const char* set) {
    polykem_config config{sizeof config, 1, nullptr};
    require(polykem_context_new(&config, &context_), "context");
    require(polykem_scheme_find(set, &scheme_), "set");
    info_.struct_size = sizeof info_;
    require(polykem_scheme_info(scheme_, &info_), "info");
    polykem_batcher_config batcher{};
    batcher.struct_size = sizeof batcher;
    batcher.broker = socket;
    batcher.deadline_us = 500000;  // so long that operations are lost only if the daemon dies, not on a slow machine
    require(polykem_batcher_new(context_, &batcher, &batcher_), "batcher");
    for (uint8_t i = 0; i < 4; ++i)
      add_cases(i);
  }
  ~Worker() {
    polykem_batcher_free(batcher_);
    polykem_context_free(context_);
  }

  void work(size_t in_flight) {
    work_while(in_flight, [] { return true; });
  }
  /// Works for at least a second, until the broker has computed something.
  void work_until_served(size_t in_flight) {
    using std::chrono::steady_clock;
    const uint64_t before = computed_by_broker();
    const auto begin = steady_clock::now();
    work_while(in_flight, [&] {
      const auto worked = steady_clock::now() - begin;
      return worked < std::chrono::seconds(1) || (worked < kPatience && computed_by_broker() == before);
    });
  }

  void report() const {
    std::printf(
        "{\"started\": %zu, \"right\": %zu, \"wrong\": %zu, \"failed\": %zu, \"refused\": %zu, "
        "\"on_broker\": %llu, \"rescued\": %llu, \"longest_ms\": %lld}\n",
        started_, right_, wrong_, failed_, refused_, static_cast<unsigned long long>(computed_by_broker()),
        static_cast<unsigned long long>(sum(&polykem_batcher_stats_t::rescued)),
        static_cast<long long>(longest_.count()));
    std::fflush(stdout);
  }

 private:
  struct Pending {
    polykem_ticket* ticket = nullptr;
    const Case* expected = nullptr;
  };

  template <class Condition>
  void work_while(size_t in_flight, Condition&& goes_on) {
    std::vector<Pending> pending(in_flight);
    for (size_t next = 0; !stop && goes_on(); ++next) {
      Pending& one = pending[next % in_flight];
      finish(one);
      one.expected = &cases_[next % cases_.size()];
      const polykem_status status =
          polykem_batcher_add(batcher_, &one.expected->request, nullptr, nullptr, &one.ticket);
      status == POLYKEM_OK ? ++started_ : ++refused_;
      if (next % in_flight == in_flight - 1) std::this_thread::sleep_for(kRest);
    }
    for (Pending& one : pending)
      finish(one);
  }

  uint64_t sum(uint64_t polykem_batcher_stats_t::*counter) const {
    uint64_t all = 0;
    for (const polykem_op op : {POLYKEM_ENCAPS, POLYKEM_DECAPS}) {
      polykem_batcher_stats_t stats{};
      stats.struct_size = sizeof stats;
      require(polykem_batcher_stats(batcher_, scheme_, op, &stats), "stats");
      all += stats.*counter;
    }
    return all;
  }
  uint64_t computed_by_broker() const { return sum(&polykem_batcher_stats_t::on_broker); }

  polykem_request request(polykem_op op) const {
    polykem_request out{};
    out.struct_size = sizeof out;
    out.op = op;
    out.scheme = scheme_;
    out.count = 1;
    return out;
  }

  void add_cases(uint8_t seed) {
    Bytes pk(info_.public_key_bytes), sk(info_.secret_key_bytes);
    require(polykem_keygen(context_, scheme_, 1, pk.data(), sk.data()), "keygen");
    Case encaps{request(POLYKEM_ENCAPS), Bytes(info_.encaps_coin_bytes, seed), pk, {}, {}, {}};
    encaps.public_out.resize(info_.ciphertext_bytes);
    encaps.secret_out.resize(info_.shared_secret_bytes);
    encaps.request.coins = encaps.coins.data();
    encaps.request.pk = encaps.key.data();
    polykem_request run = encaps.request;
    run.ct_out = encaps.public_out.data();
    run.ss_out = encaps.secret_out.data();
    require(polykem_run(context_, &run), "encaps");
    Case decaps{request(POLYKEM_DECAPS), {}, sk, encaps.public_out, {}, encaps.secret_out};
    decaps.request.sk = decaps.key.data();
    decaps.request.ct = decaps.ct.data();
    cases_.push_back(std::move(encaps));
    cases_.push_back(std::move(decaps));
  }

  void finish(Pending& one) {
    if (one.ticket == nullptr) return;
    Bytes public_out(one.expected->public_out.size()), secret_out(one.expected->secret_out.size());
    const auto begin = std::chrono::steady_clock::now();
    const polykem_status status =
        polykem_ticket_take(one.ticket, public_out.empty() ? nullptr : public_out.data(), secret_out.data());
    const auto waited = std::chrono::steady_clock::now() - begin;
    longest_ = std::max(longest_, std::chrono::duration_cast<std::chrono::milliseconds>(waited));
    const bool same = public_out == one.expected->public_out && secret_out == one.expected->secret_out;
    ++(status != POLYKEM_OK ? failed_ : same ? right_ : wrong_);
    polykem_ticket_free(one.ticket);
    one.ticket = nullptr;
  }

  polykem_context* context_ = nullptr;
  const polykem_scheme* scheme_ = nullptr;
  polykem_scheme_info_t info_{};
  polykem_batcher* batcher_ = nullptr;
  std::vector<Case> cases_;
  size_t started_ = 0, right_ = 0, wrong_ = 0, failed_ = 0, refused_ = 0;
  std::chrono::milliseconds longest_{0};
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) fail("usage: broker_worker SOCKET SET IN_FLIGHT [fork]");
  std::signal(SIGTERM, [](int) { stop = true; });
  const size_t in_flight = std::strtoul(argv[3], nullptr, 10);
  Worker worker(argv[1], argv[2]);
  pid_t child = 0;
  if (argc > 4) {
    worker.work_until_served(in_flight);
    child = ::fork();
    worker.work_until_served(in_flight);
  } else {
    worker.work(in_flight);
  }
  if (child > 0) ::waitpid(child, nullptr, 0);
  worker.report();
  return 0;
}
