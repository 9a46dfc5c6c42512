// SPDX-License-Identifier: Apache-2.0
//
// polykem_tls_load makes full TLS 1.3 handshakes with a server from one thread. Nothing is resumed; signatures are
// checked, certificates are not. Closed loop: --connections are in progress at all times. Open loop: --rate begin each
// second, however long the server takes, with at most --connections in progress. --burst: all --connections begin at
// once, and again when the last has ended. It prints a line of JSON, with --every also one for each interval, and exits
// with 1 if a handshake failed. With --replay the server does all its work of a handshake but the last part, and the
// client hardly any, so that a client on the same machine does not limit the server.
#include <arpa/inet.h>
#include <openssl/err.h>
#include <sys/epoll.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <array>
#include <csignal>
#include <cstdio>
#include <memory>
#include <random>
#include <stdexcept>
#include <thread>

#include "connection.hpp"
#include "report.hpp"

namespace tls_load {
namespace {

using Seconds = std::chrono::duration<double>;

// The longest life of a connection that will be reset: it ends while the server processes its ClientHello.
constexpr double kLatestReset = 0.003;
// After this many connections of a burst, the client serves those in progress, so that the first do not wait for the
// last.
constexpr size_t kBurstStride = 64;

// The pause after a refused connection, so that a server that refuses all is not asked in a busy loop.
constexpr std::chrono::milliseconds kPauseAfterFailures{1};

struct Options {
  uint16_t port = 0;
  std::string group;
  size_t connections = 1;
  double seconds = 5, warm_up = 0, rate = 0, resets = 0, every = 0, patience = 10;
  uint64_t seed = 1;
  bool replay = false, burst = false;
};

struct FreeContext {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
using Context = std::unique_ptr<SSL_CTX, FreeContext>;

Context make_context(const std::string& group) {
  Context context(SSL_CTX_new(TLS_client_method()));
  if (!context) throw std::runtime_error("OpenSSL has no TLS client");
  SSL_CTX_set_min_proto_version(context.get(), TLS1_3_VERSION);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  if (SSL_CTX_set1_groups_list(context.get(), group.c_str()) != 1)
    throw std::runtime_error("OpenSSL here does not know the group '" + group + "'");
  return context;
}

// The connections, the idle ones among them, and what they reported.
class Load {
 public:
  explicit Load(const Options& options)
      : options_(options),
        context_(make_context(options.group)),
        epoll_(epoll_create1(EPOLL_CLOEXEC)),
        connections_(options.connections),
        random_(options.seed) {
    server_.sin_family = AF_INET;
    server_.sin_port = htons(options.port);
    server_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (options.replay) recording_ = record(context_.get(), server_);
    for (size_t i = 0; i < connections_.size(); ++i) {
      if (options.replay) connections_[i].replay(&recording_);
      idle_.push_back(i);
    }
  }

  // Runs the load for a while and returns what ended in that time.
  Report run(double seconds);
  // Begins every connection once and returns what ended; late ones fail as in drain(). Times begin with the burst.
  Report burst();
  // Waits for connections in progress, as long as the patience lasts; those that do not end by then have failed.
  Report drain();

 private:
  void begin(Clock::time_point now);
  void begin_one(Clock::time_point begun);
  void wait_for_all();
  Clock::time_point reset_at(Clock::time_point now);
  void reset_what_is_due(Clock::time_point now);
  void wait(int timeout_ms);
  void advance(size_t index);
  void finish(size_t index);
  void give_up_on_late_ones(Clock::time_point now);
  bool late(const Connection& connection, Clock::time_point now) const {
    return connection.phase() != Phase::kIdle && Seconds(now - connection.begun()).count() > options_.patience;
  }

  Options options_;
  Context context_;
  Recording recording_;
  int epoll_;
  sockaddr_in server_{};
  std::vector<Connection> connections_;
  std::vector<size_t> idle_;
  std::mt19937_64 random_;
  Clock::time_point next_ = Clock::now();  // open loop: when the next connection begins
  Clock::time_point checked_ = Clock::now();
  Report report_;
};

Report Load::run(double seconds) {
  report_.clear();
  Clock::time_point end = Clock::now() + std::chrono::duration_cast<Clock::duration>(Seconds(seconds));
  for (Clock::time_point now = Clock::now(); now < end; now = Clock::now()) {
    const uint64_t failed = report_.failed();
    begin(now);
    wait(options_.rate > 0 || options_.resets > 0 ? 1 : 100);
    reset_what_is_due(Clock::now());
    give_up_on_late_ones(now);
    if (report_.failed() > failed) std::this_thread::sleep_for(kPauseAfterFailures);
  }
  return report_;
}

Report Load::burst() {
  report_.clear();
  Clock::time_point begun = Clock::now();
  for (size_t i = 1; i <= connections_.size(); ++i) {
    begin_one(begun);
    if (i % kBurstStride == 0) wait(0);
  }
  wait_for_all();
  return report_;
}

Report Load::drain() {
  report_.clear();
  wait_for_all();
  return report_;
}

void Load::wait_for_all() {
  while (idle_.size() < connections_.size()) {
    wait(100);
    give_up_on_late_ones(Clock::now());
  }
}

void Load::begin(Clock::time_point now) {
  std::exponential_distribution<double> gap(options_.rate > 0 ? options_.rate : 1);
  // Each is started once, because those that fail at once are idle again and would be started forever.
  for (size_t left = idle_.size(); left > 0 && (options_.rate <= 0 || next_ <= now); --left) {
    begin_one(Clock::now());
    if (options_.rate > 0) next_ += std::chrono::duration_cast<Clock::duration>(Seconds(gap(random_)));
  }
}

void Load::begin_one(Clock::time_point begun) {
  size_t index = idle_.back();
  idle_.pop_back();
  connections_[index].open(context_.get(), server_, epoll_, index, begun, reset_at(begun));
  if (connections_[index].phase() == Phase::kFailed) finish(index);
}

Clock::time_point Load::reset_at(Clock::time_point now) {
  std::bernoulli_distribution chosen(options_.resets);
  std::uniform_real_distribution<double> after(0, kLatestReset);
  if (!chosen(random_)) return Clock::time_point::max();
  return now + std::chrono::duration_cast<Clock::duration>(Seconds(after(random_)));
}

void Load::reset_what_is_due(Clock::time_point now) {
  for (size_t i = 0; options_.resets > 0 && i < connections_.size(); ++i)
    if (connections_[i].phase() == Phase::kHandshake && connections_[i].reset_at() <= now) advance(i);
}

void Load::wait(int timeout_ms) {
  std::array<epoll_event, 256> events;
  int count = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), timeout_ms);
  for (int i = 0; i < count; ++i) {
    advance(events[static_cast<size_t>(i)].data.u64);
  }
}

void Load::advance(size_t index) {
  if (connections_[index].advance() >= Phase::kDone) finish(index);
}

void Load::finish(size_t index) {
  report_.add(connections_[index]);
  connections_[index].close();
  idle_.push_back(index);
}

void Load::give_up_on_late_ones(Clock::time_point now) {
  if (now - checked_ < std::chrono::milliseconds(500)) return;
  checked_ = now;
  for (size_t i = 0; i < connections_.size(); ++i) {
    if (!late(connections_[i], now)) continue;
    connections_[i].give_up();
    finish(i);
  }
}

void print(const nlohmann::json& line) {
  std::puts(line.dump().c_str());
  std::fflush(stdout);
}

// Both add to `whole` and return the seconds that they took.
double measure_spans(const Options& options, Load& load, Report& whole) {
  double left = options.seconds;
  while (left > 0) {
    double span = options.every > 0 ? std::min(options.every, left) : left;
    Report part = load.run(span);
    if (options.every > 0) print(part.json(span));
    whole.merge(part);
    left -= span;
  }
  return options.seconds;
}

double measure_bursts(const Options& options, Load& load, Report& whole) {
  Clock::time_point begun = Clock::now();
  double spent = 0;
  while (spent < options.seconds) {
    whole.merge(load.burst());
    spent = Seconds(Clock::now() - begun).count();
  }
  return spent;
}

int measure(const Options& options) {
  Load load(options);
  if (options.warm_up > 0) load.run(options.warm_up);
  Report whole;
  double spent = options.burst ? measure_bursts(options, load, whole) : measure_spans(options, load, whole);
  nlohmann::json out = whole.json(spent);
  Report rest = load.drain();
  out["failed_at_the_end"] = rest.failed();
  if (rest.failed() > 0) out["errors_at_the_end"] = rest.json(1)["errors"];
  out["group"] = options.group;
  out["connections"] = options.connections;
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  out["client_cpu_seconds"] = static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                              1e-6 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
  print(out);
  return whole.failed() == 0 && out["failed_at_the_end"] == 0 ? 0 : 1;
}

void raise_limit_of_files(size_t connections) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, std::max<rlim_t>(limit.rlim_cur, connections + 64));
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace
}  // namespace tls_load

int main(int argc, char** argv) {
  tls_load::Options options;
  CLI::App app{"Measures full TLS 1.3 handshakes with a server on this host"};
  app.add_option("port", options.port, "Port of the server on 127.0.0.1")->required();
  app.add_option("--group", options.group, "Group of the key exchange")->required();
  app.add_option("--connections", options.connections, "Connections under way at once, at most");
  app.add_option("--seconds", options.seconds, "How long to measure");
  app.add_option("--warm-up", options.warm_up, "Seconds to run before counting");
  app.add_option("--rate", options.rate, "Connections begun each second, at random; without it, one when one ends");
  app.add_option("--resets", options.resets, "Share of connections that are reset within 3 ms, 0 to 1");
  app.add_option("--every", options.every, "Also report each interval of this many seconds");
  app.add_option("--patience", options.patience, "Seconds after which a handshake has failed");
  CLI::Option* burst = app.add_flag("--burst", options.burst, "Begin all at once, and again when all have ended");
  for (const char* other : {"--warm-up", "--rate", "--resets", "--every"})
    burst->excludes(app.get_option(other));
  app.add_flag("--replay", options.replay,
               "Send one recorded ClientHello each time and only count the server's answers");
  app.add_option("--seed", options.seed, "Of what is random");
  CLI11_PARSE(app, argc, argv);
  std::signal(SIGPIPE, SIG_IGN);
  tls_load::raise_limit_of_files(options.connections);
  try {
    return tls_load::measure(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "polykem_tls_load: %s\n", error.what());
    return 2;
  }
}
