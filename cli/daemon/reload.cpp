// SPDX-License-Identifier: Apache-2.0
#include "daemon/reload.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <polykem/polykem.hpp>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>
#include <utility>

#include "common/exit_codes.hpp"
#include "daemon/limits.hpp"
#include "daemon/settings.hpp"
#include "daemon/systemd.hpp"

namespace polykem::cli {
namespace {

std::uint64_t monotonic_us() {
  using namespace std::chrono;
  return static_cast<std::uint64_t>(duration_cast<microseconds>(steady_clock::now().time_since_epoch()).count());
}

void log_refusal(const Log& log, const std::vector<Finding>& findings) {
  for (const Finding& finding : findings)
    log.write(Priority::kError, "configuration_wrong", sentence(finding), {{"hint", finding.hint}});
  log.write(Priority::kError, "configuration_kept",
            "the configuration stays as it was; 'polykemd --check' shows what is wrong");
}

/// Gives `next` the present values of the settings that change only when polykemd starts again.
void keep_until_restart(const Log& log, const DaemonOptions& present, DaemonOptions& next) {
  const auto keep = [&log](const char* name, auto& next_value, const auto& value) {
    if (next_value == value) return;
    log.write(Priority::kWarning, "needs_restart",
              fmt::format("'{}' changes from '{}' to '{}' when polykemd starts again", name, value, next_value),
              {{"setting", name}});
    next_value = value;
  };
  keep("socket", next.socket, present.socket);
  keep("backend", next.common.backend, present.common.backend);
  keep("threads", next.common.threads, present.common.threads);
  keep("batch-items", next.batch_items, present.batch_items);
  keep("metrics", next.metrics, present.metrics);
  keep("log-format", next.log_format, present.log_format);
}

void apply(const Reloadable& daemon, DaemonOptions next) {
  keep_until_restart(daemon.log, daemon.options, next);
  const BrokerConfig config(next, daemon.socket);
  check(polykem_broker_admit(daemon.broker, config.get()), "broker");
  const std::string& path = daemon.socket.path;
  if (daemon.socket.inherited < 0 && ::chmod(path.c_str(), socket_mode(next)) != 0)
    daemon.log.write(Priority::kWarning, "mode_kept",
                     fmt::format("the mode of '{}' stays: {}", path, std::strerror(errno)));
  const bool locks_more = memory_mib(next) != memory_mib(daemon.options);
  daemon.options = std::move(next);
  daemon.log.set_level(daemon.options.log);
  daemon.log.write(Priority::kInfo, "configuration_read", "the configuration was read again");
  if (locks_more) warn_if_swappable(daemon.log, daemon.options);
}

}  // namespace

void reload(Reloadable daemon, const std::vector<std::string>& arguments) {
  notify_manager(fmt::format("RELOADING=1\nMONOTONIC_USEC={}", monotonic_us()));
  try {
    const Configuration next = read_configuration(arguments);
    std::vector<Finding> findings = next.findings;
    const std::vector<Finding> here = shortages(limits_of(next.options));
    findings.insert(findings.end(), here.begin(), here.end());
    if (findings.empty()) {
      apply(daemon, next.options);
    } else {
      log_refusal(daemon.log, findings);
    }
  } catch (const CliError& e) {
    log_refusal(daemon.log, {{"", e.what(), e.hint()}});
  } catch (const std::exception& e) {  // out of memory, or a user named on the command line no longer exists
    log_refusal(daemon.log, {{"", e.what(), ""}});
  }
  const polykem_broker_stats_t now = stats_of(daemon.broker);
  daemon.log.write(Priority::kInfo, "figures", describe_stats(now), fields_of(now));
  notify_manager("READY=1");
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

}  // namespace polykem::cli
