// SPDX-License-Identifier: Apache-2.0
#include "net/limits.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "common/exit_codes.hpp"
#include "common/table.hpp"

namespace polykem::cli::net {
namespace {

/// Descriptors for other uses than connections: timers, files, a report.
constexpr std::size_t kSpare = 8;

std::size_t open_descriptors() {
  std::error_code error;
  const std::filesystem::directory_iterator entries("/proc/self/fd", error);
  if (error) return 16;
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

}  // namespace

FdBudget budget_connections(std::size_t wanted) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return {wanted, "limit of open files unknown"};
  const std::size_t other = open_descriptors() + kSpare;
  const std::size_t needed = wanted + other;
  const std::size_t before = limit.rlim_cur;
  if (before < needed) {
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, needed);
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) limit.rlim_cur = before;
  }
  const std::size_t now = limit.rlim_cur;
  if (now <= other) {
    throw CliError(kExitResources, fmt::format("the limit of {} open files leaves none for connections", now),
                   fmt::format("raise it, e.g. with 'ulimit -n {}'", other + std::min<std::size_t>(wanted, 1024)));
  }
  const std::size_t connections = std::min(wanted, now - other);
  if (before >= needed) return {connections, fmt::format("limit of {} open files suffices", with_commas(before))};
  std::string note =
      now > before ? fmt::format("limit of open files raised from {} to {}", with_commas(before), with_commas(now))
                   : fmt::format("limit of {} open files cannot be raised", with_commas(now));
  if (connections < wanted) note += fmt::format(", so at most {} connections at once", with_commas(connections));
  return {connections, note};
}

}  // namespace polykem::cli::net
