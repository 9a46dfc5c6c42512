// SPDX-License-Identifier: Apache-2.0
#include "daemon/daemon.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <polykem/polykem.hpp>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <optional>
#include <utility>

#include "common/context.hpp"
#include "common/exit_codes.hpp"
#include "common/table.hpp"
#include "daemon/broker.hpp"
#include "daemon/limits.hpp"
#include "daemon/log.hpp"
#include "daemon/reload.hpp"
#include "daemon/systemd.hpp"
#include "metrics/exporter.hpp"

namespace polykem::cli {
namespace {

constexpr std::uint64_t kWarningIntervalUs = 10'000'000;

/// Allows as many descriptors as the hard limit does, since each client takes two, and no core dump, which would hold
/// secrets.
void set_limits() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &files);
  }
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
}

/// Blocks the signals that the main thread waits for, in all threads that start later too.
sigset_t block_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP})
    sigaddset(&signals, signal);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

/// Waits for one of the signals, at most `us` microseconds. Returns -1 if none came.
int wait_for_signal(const sigset_t& signals, std::uint64_t us) {
  const timespec timeout{static_cast<std::time_t>(us / 1'000'000), static_cast<long>(us % 1'000'000 * 1000)};
  return ::sigtimedwait(&signals, nullptr, &timeout);
}

/// Logs how many clients were refused or dropped between the two readings.
void log_refusals(const Log& log, const polykem_broker_stats_t& before, const polykem_broker_stats_t& now) {
  const auto warn = [&log](const char* event, std::uint64_t clients, const std::string& text) {
    if (clients != 0) log.write(Priority::kWarning, event, text, {{"clients", clients}});
  };
  const std::uint64_t refused = now.refused - before.refused, violations = now.violations - before.violations;
  const std::uint64_t without_memory = now.short_of_memory - before.short_of_memory;
  warn("refused", refused, fmt::format("refused {} clients", refused));
  warn("short_of_memory", without_memory,
       fmt::format("{} of them for lack of memory to share with their user (--memory)", without_memory));
  warn("violations", violations, fmt::format("dropped {} clients that broke the protocol", violations));
}

/// A running polykemd.
class Daemon {
 public:
  Daemon(Configuration configuration, std::vector<std::string> arguments)
      : arguments_(std::move(arguments)),
        options_(std::move(configuration.options)),
        log_(options_.log, options_.log_format),
        socket_{inherited_socket(), socket_path(options_)} {}

  int run() {
    try {
      return serve();
    } catch (const CliError& e) {
      if (!log_.is_structured()) throw;
      log_.write(Priority::kError, "fails", e.what(), {{"hint", e.hint()}, {"exit_code", static_cast<int>(e.code())}});
      return e.code();
    }
  }

 private:
  int serve() {
    const std::vector<Finding> missing = shortages(limits_of(options_));
    if (!missing.empty()) throw CliError(kExitResources, missing.front().what, missing.front().hint);
    if (socket_.inherited >= 0 && !options_.socket.empty())
      throw CliError(kExitUsage, "--socket was given, but systemd has passed a socket",
                     "leave --socket out; ListenStream= in polykemd.socket sets the path");
    set_limits();
    const sigset_t signals = block_signals();
    const Context context = open_context(options_.common.threads, options_.common.backend);
    polykem_batcher_config config{};
    config.batch_items = options_.batch_items;
    const Batcher batcher(context, config);
    BrokerHandle broker = make_broker(batcher.handle(), options_, socket_);
    std::optional<Exporter> exporter;
    if (!options_.metrics.empty())
      exporter.emplace(options_.metrics, MetricsSource{"polykemd", batcher.handle(), broker.get()});
    log_start(context, broker.get());
    if (exporter)
      log_.write(Priority::kInfo, "metrics", fmt::format("metrics at port {}", exporter->port()),
                 {{"port", exporter->port()}});
    notify_manager("READY=1");
    serve_until_signal(signals, broker.get());
    notify_manager("STOPPING=1");
    const polykem_broker_stats_t last = stats_of(broker.get());
    if (exporter) exporter->begin_drain();
    broker.reset();
    log_.write(Priority::kInfo, "ends", fmt::format("ends: {}", describe_stats(last)), fields_of(last));
    return kExitOk;
  }

  void log_start(const Context& context, const polykem_broker* broker) const {
    const std::string where = socket_.inherited < 0 ? socket_.path : "systemd's socket",
                      backend = context.backend(Scheme::all().front());
    log_.write(
        Priority::kInfo, "listens",
        fmt::format("polykemd {} listens at {}; backend {}, {} threads, a client may fill {} of memory",
                    polykem_version(), where, backend, context.threads(), data_size(stats_of(broker).bytes_of_client)),
        {{"version", polykem_version()}, {"socket", where}, {"backend", backend}, {"threads", context.threads()}});
    warn_if_swappable(log_, options_);
  }

  void serve_until_signal(const sigset_t& signals, polykem_broker* broker) {
    const std::uint64_t watchdog = watchdog_us();
    const std::uint64_t interval = watchdog == 0 ? kWarningIntervalUs : std::min(kWarningIntervalUs, watchdog / 2);
    polykem_broker_stats_t before = stats_of(broker);
    while (true) {
      const int signal = wait_for_signal(signals, interval);
      if (signal == SIGTERM || signal == SIGINT) return;
      if (signal == SIGHUP) reload({options_, log_, broker, socket_}, arguments_);
      const polykem_broker_stats_t now = stats_of(broker);
      log_refusals(log_, before, now);
      before = now;
      if (watchdog != 0 && now.silent_ms < kHungAfterMs) notify_manager("WATCHDOG=1");
    }
  }

  const std::vector<std::string> arguments_;
  DaemonOptions options_;
  Log log_;
  const ListeningSocket socket_;
};

}  // namespace

int run_daemon(Configuration configuration, std::vector<std::string> arguments) {
  return Daemon(std::move(configuration), std::move(arguments)).run();
}

}  // namespace polykem::cli
