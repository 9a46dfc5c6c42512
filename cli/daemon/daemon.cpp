// SPDX-License-Identifier: Apache-2.0
#include "daemon/daemon.hpp"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <polykem/polykem.hpp>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <optional>
#include <vector>

#include "common/context.hpp"
#include "common/exit_codes.hpp"
#include "common/streams.hpp"
#include "common/table.hpp"
#include "daemon/systemd.hpp"
#include "metrics/exporter.hpp"

namespace polykem::cli {
namespace {

constexpr const char* kUsualFolder = "/run/polykem";
constexpr std::time_t kLookSeconds = 10;
/// The priorities of the journal.
enum class Priority { kWarning = 4, kInfo = 6 };

class Log {
 public:
  explicit Log(const std::string& level) : journal_(logs_to_journal()), quiet_(level == "warning") {}
  void write(Priority priority, const std::string& text) const {
    if (quiet_ && priority == Priority::kInfo) return;
    const std::string prefix = journal_ ? fmt::format("<{}>", static_cast<int>(priority)) : "polykemd: ";
    print_error("{}{}\n", prefix, text);
  }

 private:
  bool journal_, quiet_;
};

std::uint32_t number_or(const std::string& word, int base, const std::string& error) {
  std::uint32_t value = 0;
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), value, base);
  if (problem != std::errc() || end != word.data() + word.size()) throw CliError(kExitUsage, error);
  return value;
}

std::vector<std::uint32_t> user_ids(const std::string& list) {
  std::vector<std::uint32_t> out;
  for (const std::string& word : split(list, ',')) {
    const passwd* entry = ::getpwnam(word.c_str());
    out.push_back(entry != nullptr ? entry->pw_uid
                                   : number_or(word, 10, fmt::format("--allow-uid: no user '{}'", printable(word))));
  }
  return out;
}

std::vector<std::uint32_t> group_ids(const std::string& list) {
  std::vector<std::uint32_t> out;
  for (const std::string& word : split(list, ',')) {
    const group* entry = ::getgrnam(word.c_str());
    out.push_back(entry != nullptr ? entry->gr_gid
                                   : number_or(word, 10, fmt::format("--allow-gid: no group '{}'", printable(word))));
  }
  return out;
}

std::uint32_t socket_mode(const DaemonOptions& options) {
  if (options.mode.empty()) return options.uids.empty() && options.gids.empty() ? 0600 : 0666;
  const std::string error = fmt::format("--socket-mode: '{}' is not octal", printable(options.mode));
  const std::uint32_t mode = number_or(options.mode, 8, error);
  if (mode > 0777 || mode == 0) throw CliError(kExitUsage, error, "for example 0660");
  return mode;
}

std::string usual_socket() {
  const char* folder = std::getenv("RUNTIME_DIRECTORY");  // of systemd's RuntimeDirectory=
  return fmt::format("{}/socket", folder == nullptr ? kUsualFolder : folder);
}

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

/// Locks as much memory as workers may share, which the broker does piece by piece, and says so if that is refused.
void warn_if_swappable(const Log& log, std::uint32_t memory_mib) {
  const std::size_t bytes = std::size_t{memory_mib} << 20;
  void* const probe = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  const bool locked = probe != MAP_FAILED && ::mlock2(probe, bytes, MLOCK_ONFAULT) == 0;
  if (probe != MAP_FAILED) ::munmap(probe, bytes);
  if (locked) return;
  log.write(Priority::kWarning,
            fmt::format("the memory that workers share may be swapped out, secret keys with it: this process may not "
                        "lock {} MiB (--memory); raise the limit with 'ulimit -l' or LimitMEMLOCK=",
                        memory_mib));
}

struct FreeBroker {
  void operator()(polykem_broker* broker) const { polykem_broker_free(broker); }
};
using BrokerHandle = std::unique_ptr<polykem_broker, FreeBroker>;

BrokerHandle make_broker(polykem_batcher* batcher, const DaemonOptions& options, int inherited,
                         const std::string& path) {
  const std::vector<std::uint32_t> uids = user_ids(options.uids), gids = group_ids(options.gids);
  polykem_broker_config config{};
  config.struct_size = sizeof config;
  config.path = inherited < 0 ? path.c_str() : nullptr;
  config.listen_fd = inherited;
  config.mode = socket_mode(options);
  config.uids = uids.data();
  config.uid_count = uids.size();
  config.gids = gids.data();
  config.gid_count = gids.size();
  config.clients = options.clients;
  config.clients_of_user = options.clients_per_user;
  config.slots = options.slots;
  config.memory_mib = options.memory_mib;
  polykem_broker* broker = nullptr;
  const polykem_status status = polykem_broker_new(batcher, &config, &broker);
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

/// The signals that the main thread waits for; every thread made later has them blocked.
sigset_t block_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP})
    sigaddset(&signals, signal);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

/// Until SIGTERM or SIGINT; SIGHUP writes the figures into the log.
void serve_until_signal(const sigset_t& signals, const polykem_broker* broker, const Log& log) {
  polykem_broker_stats_t before = stats_of(broker);
  while (true) {
    const timespec look{kLookSeconds, 0};
    const int signal = ::sigtimedwait(&signals, nullptr, &look);
    const polykem_broker_stats_t now = stats_of(broker);
    if (now.refused != before.refused)
      log.write(Priority::kWarning, fmt::format("refused {} clients", now.refused - before.refused));
    if (now.short_of_memory != before.short_of_memory)
      log.write(Priority::kWarning, fmt::format("{} of them for lack of memory to share with their user (--memory)",
                                                now.short_of_memory - before.short_of_memory));
    if (now.violations != before.violations)
      log.write(Priority::kWarning,
                fmt::format("dropped {} clients that broke the protocol", now.violations - before.violations));
    before = now;
    if (signal == SIGHUP) log.write(Priority::kInfo, describe_stats(now));
    if (signal == SIGTERM || signal == SIGINT) return;
  }
}

}  // namespace

void add_daemon_options(CLI::App& app, DaemonOptions& o) {
  app.add_option("--socket", o.socket,
                 "Where workers connect (default: the socket that systemd hands over, else /run/polykem/socket)")
      ->type_name("FILE");
  app.add_option("--socket-mode", o.mode, "Mode of the socket's file (default 0600, with --allow-uid or -gid 0666)")
      ->type_name("OCTAL");
  app.add_option("--allow-uid", o.uids, "Users that may connect besides the daemon's own, by name or number")
      ->type_name("USER,...");
  app.add_option("--allow-gid", o.gids, "Groups whose members may connect, by name or number")->type_name("GROUP,...");
  add_backend(app, o.common);
  add_threads(app, o.common, 0);
  app.add_option("--batch-items", o.batch_items, "Limit of operations in a batch (default 1024)")
      ->check(CLI::Range(1, 65536))
      ->type_name("N");
  app.add_option("--clients", o.clients, "Limit of worker processes (default 256)")
      ->check(CLI::Range(1, 65536))
      ->type_name("N");
  app.add_option("--clients-per-user", o.clients_per_user, "Limit of worker processes of a user (default 128)")
      ->check(CLI::Range(1, 65536))
      ->type_name("N");
  app.add_option("--slots", o.slots, "Limit of operations in flight of a worker, a power of two (default 256)")
      ->check(CLI::Range(1, 4096))
      ->type_name("N");
  app.add_option("--memory", o.memory_mib,
                 "Limit of memory that all workers share with the daemon, in MiB; each of several users may take half "
                 "of what the others leave, a worker half of what its user has left (default 4096)")
      ->check(CLI::Range(1, 1 << 24))
      ->type_name("MIB");
  app.add_option("--metrics", o.metrics, "HOST:PORT; publish figures for Prometheus at http://HOST:PORT/metrics")
      ->type_name("ADDRESS");
  app.add_option("--log", o.log, "What to write on standard error (default info)")
      ->check(CLI::IsMember({"info", "warning"}))
      ->type_name("info|warning");
}

int run_daemon(const DaemonOptions& options) {
  if ((options.slots & (options.slots - 1)) != 0)
    throw CliError(kExitUsage, "--slots is not a power of two", "for example 256");
  const Log log(options.log);
  set_limits();
  const sigset_t signals = block_signals();
  const int inherited = inherited_socket();
  const std::string path = options.socket.empty() ? usual_socket() : options.socket;
  if (inherited >= 0 && !options.socket.empty())
    throw CliError(kExitUsage, "--socket was given, but systemd has passed a socket",
                   "leave --socket out; ListenStream= in polykemd.socket sets the path");
  const Context context = open_context(options.common.threads, options.common.backend);
  polykem_batcher_config config{};
  config.batch_items = options.batch_items;
  const Batcher batcher(context, config);
  BrokerHandle broker = make_broker(batcher.handle(), options, inherited, path);
  std::optional<Exporter> exporter;
  if (!options.metrics.empty())
    exporter.emplace(options.metrics, MetricsSource{"polykemd", batcher.handle(), broker.get()});
  log.write(
      Priority::kInfo,
      fmt::format("polykemd {} listens at {}; backend {}, {} threads, a client may fill {} of memory",
                  polykem_version(), inherited < 0 ? path : "systemd's socket", context.backend(Scheme::all().front()),
                  context.threads(), data_size(stats_of(broker.get()).bytes_of_client)));
  warn_if_swappable(log, options.memory_mib);
  if (exporter) log.write(Priority::kInfo, fmt::format("metrics at port {}", exporter->port()));
  notify_manager("READY=1");
  serve_until_signal(signals, broker.get(), log);
  notify_manager("STOPPING=1");
  const polykem_broker_stats_t last = stats_of(broker.get());
  exporter.reset();
  broker.reset();
  log.write(Priority::kInfo, fmt::format("ends: {}", describe_stats(last)));
  return kExitOk;
}

}  // namespace polykem::cli
