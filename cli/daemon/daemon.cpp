// SPDX-License-Identifier: Apache-2.0
#include "daemon/daemon.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <polykem/polykem.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "common/context.hpp"
#include "common/exit_codes.hpp"
#include "common/table.hpp"
#include "daemon/check.hpp"
#include "daemon/limits.hpp"
#include "daemon/log.hpp"
#include "daemon/systemd.hpp"
#include "metrics/exporter.hpp"

namespace polykem::cli {
namespace {

constexpr std::uint64_t kLookUs = 10'000'000;

/// Each client takes two descriptors; secrets belong in no core dump.
void set_limits() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &files);
  }
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
}

void warn_if_swappable(const Log& log, const DaemonOptions& options) {
  if (may_lock_memory(options)) return;
  const std::uint32_t mib = memory_mib(options);
  log.write(Priority::kWarning, "swappable",
            fmt::format("the memory that workers share may be swapped out, secret keys with it: this process may not "
                        "lock {} MiB (--memory); raise the limit with 'ulimit -l' or LimitMEMLOCK=",
                        mib),
            {{"memory_mib", mib}});
}

struct FreeBroker {
  void operator()(polykem_broker* broker) const { polykem_broker_free(broker); }
};
using BrokerHandle = std::unique_ptr<polykem_broker, FreeBroker>;

/// A broker's configuration, with what it points to.
class BrokerConfig {
 public:
  /// inherited: the socket that was handed over; -1: it listens at `path`.
  BrokerConfig(const DaemonOptions& options, int inherited, const std::string& path)
      : path_(path), uids_(user_ids(options.uids)), gids_(group_ids(options.gids)) {
    config_.struct_size = sizeof config_;
    config_.path = inherited < 0 ? path_.c_str() : nullptr;
    config_.listen_fd = inherited;
    config_.mode = socket_mode(options);
    config_.uids = uids_.data();
    config_.uid_count = uids_.size();
    config_.gids = gids_.data();
    config_.gid_count = gids_.size();
    config_.clients = options.clients;
    config_.clients_of_user = options.clients_per_user;
    config_.slots = options.slots;
    config_.memory_mib = memory_mib(options);
  }
  BrokerConfig(const BrokerConfig&) = delete;
  BrokerConfig& operator=(const BrokerConfig&) = delete;
  const polykem_broker_config* get() const { return &config_; }

 private:
  const std::string path_;
  const std::vector<std::uint32_t> uids_, gids_;
  polykem_broker_config config_{};
};

BrokerHandle make_broker(polykem_batcher* batcher, const DaemonOptions& options, int inherited,
                         const std::string& path) {
  const BrokerConfig config(options, inherited, path);
  polykem_broker* broker = nullptr;
  const polykem_status status = polykem_broker_new(batcher, config.get(), &broker);
  const std::string where = inherited < 0 ? fmt::format("'{}'", path) : "the socket that was handed over";
  if (status == POLYKEM_ERR_BUSY)
    throw CliError(kExitIo, fmt::format("another process listens at {}", where), "one polykemd serves all workers");
  if (status == POLYKEM_ERR_ARGUMENT) {
    throw CliError(kExitIo, fmt::format("cannot listen at {}: {}", where, std::strerror(errno)),
                   "--socket names another place; its folder must exist");
  }
  check(status, "broker");
  return BrokerHandle(broker);
}

polykem_broker_stats_t stats_of(const polykem_broker* broker) {
  polykem_broker_stats_t stats{};
  stats.struct_size = sizeof stats;
  check(polykem_broker_stats(broker, &stats), "broker");
  return stats;
}

std::string describe_stats(const polykem_broker_stats_t& s) {
  return fmt::format("{} clients, {} operations, {} failed ({} too late), {} dropped, {} in flight", s.clients,
                     with_commas(s.operations), with_commas(s.failed), with_commas(s.late), with_commas(s.dropped),
                     s.in_flight);
}

Json fields_of(const polykem_broker_stats_t& s) {
  return {{"clients", s.clients}, {"operations", s.operations}, {"failed", s.failed},
          {"late", s.late},       {"dropped", s.dropped},       {"in_flight", s.in_flight}};
}

/// The signals that the main thread waits for; every thread made later has them blocked.
sigset_t block_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP})
    sigaddset(&signals, signal);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

/// The signal that came, -1 if none came for so long.
int next_signal(const sigset_t& signals, std::uint64_t us) {
  const timespec look{static_cast<std::time_t>(us / 1'000'000), static_cast<long>(us % 1'000'000 * 1000)};
  return ::sigtimedwait(&signals, nullptr, &look);
}

std::uint64_t monotonic_us() {
  using namespace std::chrono;
  return static_cast<std::uint64_t>(duration_cast<microseconds>(steady_clock::now().time_since_epoch()).count());
}

/// A running polykemd.
class Daemon {
 public:
  Daemon(Configuration configuration, std::vector<std::string> words)
      : words_(std::move(words)),
        options_(std::move(configuration.options)),
        log_(options_.log, options_.log_format),
        inherited_(inherited_socket()),
        path_(socket_path(options_)) {}

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
    const std::vector<Finding> lacks = lacking(limits_of(options_));
    if (!lacks.empty()) throw CliError(kExitResources, lacks.front().what, lacks.front().hint);
    if (inherited_ >= 0 && !options_.socket.empty())
      throw CliError(kExitUsage, "--socket was given, but systemd has passed a socket",
                     "leave --socket out; ListenStream= in polykemd.socket sets the path");
    set_limits();
    const sigset_t signals = block_signals();
    const Context context = open_context(options_.common.threads, options_.common.backend);
    polykem_batcher_config config{};
    config.batch_items = options_.batch_items;
    const Batcher batcher(context, config);
    BrokerHandle broker = make_broker(batcher.handle(), options_, inherited_, path_);
    broker_ = broker.get();
    std::optional<Exporter> exporter;
    if (!options_.metrics.empty())
      exporter.emplace(options_.metrics, MetricsSource{"polykemd", batcher.handle(), broker_});
    tell_beginning(context);
    if (exporter)
      log_.write(Priority::kInfo, "metrics", fmt::format("metrics at port {}", exporter->port()),
                 {{"port", exporter->port()}});
    notify_manager("READY=1");
    serve_until_signal(signals);
    notify_manager("STOPPING=1");
    const polykem_broker_stats_t last = stats_of(broker_);
    if (exporter) exporter->begin_drain();
    broker.reset();
    log_.write(Priority::kInfo, "ends", fmt::format("ends: {}", describe_stats(last)), fields_of(last));
    return kExitOk;
  }

  void tell_beginning(const Context& context) const {
    const std::string where = inherited_ < 0 ? path_ : "systemd's socket",
                      backend = context.backend(Scheme::all().front());
    log_.write(
        Priority::kInfo, "listens",
        fmt::format("polykemd {} listens at {}; backend {}, {} threads, a client may fill {} of memory",
                    polykem_version(), where, backend, context.threads(), data_size(stats_of(broker_).bytes_of_client)),
        {{"version", polykem_version()}, {"socket", where}, {"backend", backend}, {"threads", context.threads()}});
    warn_if_swappable(log_, options_);
  }

  void serve_until_signal(const sigset_t& signals) {
    const std::uint64_t watchdog = watchdog_us();
    const std::uint64_t look = watchdog == 0 ? kLookUs : std::min(kLookUs, watchdog / 2);
    polykem_broker_stats_t before = stats_of(broker_);
    while (true) {
      const int signal = next_signal(signals, look);
      if (signal == SIGTERM || signal == SIGINT) return;
      if (signal == SIGHUP) reload();
      const polykem_broker_stats_t now = stats_of(broker_);
      tell_troubles(before, now);
      before = now;
      if (watchdog != 0 && now.silent_ms < kHangsMs) notify_manager("WATCHDOG=1");
    }
  }

  void tell_troubles(const polykem_broker_stats_t& before, const polykem_broker_stats_t& now) const {
    const auto warn = [this](const char* event, std::uint64_t clients, const std::string& text) {
      if (clients != 0) log_.write(Priority::kWarning, event, text, {{"clients", clients}});
    };
    const std::uint64_t refused = now.refused - before.refused, violations = now.violations - before.violations;
    const std::uint64_t without_memory = now.short_of_memory - before.short_of_memory;
    warn("refused", refused, fmt::format("refused {} clients", refused));
    warn("short_of_memory", without_memory,
         fmt::format("{} of them for lack of memory to share with their user (--memory)", without_memory));
    warn("violations", violations, fmt::format("dropped {} clients that broke the protocol", violations));
  }

  /// Nothing changes unless everything is right. Whoever is connected notices nothing.
  void reload() {
    notify_manager(fmt::format("RELOADING=1\nMONOTONIC_USEC={}", monotonic_us()));
    try {
      const Configuration next = read_configuration(words_);
      std::vector<Finding> findings = next.findings;
      const std::vector<Finding> lacks = lacking(limits_of(next.options));
      findings.insert(findings.end(), lacks.begin(), lacks.end());
      if (findings.empty()) {
        change_to(next.options);
      } else {
        refuse(findings);
      }
    } catch (const CliError& e) {
      refuse({{"", e.what(), e.hint()}});
    } catch (const std::exception& e) {  // no memory, or a user of the command line who is no more
      refuse({{"", e.what(), ""}});
    }
    const polykem_broker_stats_t now = stats_of(broker_);
    log_.write(Priority::kInfo, "figures", describe_stats(now), fields_of(now));
    notify_manager("READY=1");
  }

  void refuse(const std::vector<Finding>& findings) const {
    for (const Finding& finding : findings)
      log_.write(Priority::kError, "configuration_wrong", sentence(finding), {{"hint", finding.hint}});
    log_.write(Priority::kError, "configuration_kept",
               "the configuration stays as it was; 'polykemd --check' shows what is wrong");
  }

  void change_to(DaemonOptions next) {
    keep_until_restart(next);
    const BrokerConfig config(next, inherited_, path_);
    check(polykem_broker_admit(broker_, config.get()), "broker");
    if (inherited_ < 0 && ::chmod(path_.c_str(), socket_mode(next)) != 0)
      log_.write(Priority::kWarning, "mode_kept",
                 fmt::format("the mode of '{}' stays: {}", path_, std::strerror(errno)));
    const bool locks_more = memory_mib(next) != memory_mib(options_);
    options_ = std::move(next);
    log_.set_level(options_.log);
    log_.write(Priority::kInfo, "configuration_read", "the configuration was read again");
    if (locks_more) warn_if_swappable(log_, options_);
  }

  /// Gives `next` the present values of what cannot change while it runs.
  void keep_until_restart(DaemonOptions& next) const {
    const auto keep = [this](const char* name, auto& value, const auto& present) {
      if (value == present) return;
      log_.write(Priority::kWarning, "needs_restart",
                 fmt::format("'{}' changes from '{}' to '{}' when polykemd starts again", name, present, value),
                 {{"setting", name}});
      value = present;
    };
    keep("socket", next.socket, options_.socket);
    keep("backend", next.common.backend, options_.common.backend);
    keep("threads", next.common.threads, options_.common.threads);
    keep("batch-items", next.batch_items, options_.batch_items);
    keep("metrics", next.metrics, options_.metrics);
    keep("log-format", next.log_format, options_.log_format);
  }

  const std::vector<std::string> words_;  ///< of the command line
  DaemonOptions options_;
  Log log_;
  const int inherited_;
  const std::string path_;
  polykem_broker* broker_ = nullptr;  ///< while it serves
};

}  // namespace

int run_daemon(Configuration configuration, std::vector<std::string> words) {
  return Daemon(std::move(configuration), std::move(words)).run();
}

}  // namespace polykem::cli
