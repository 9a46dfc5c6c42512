// SPDX-License-Identifier: Apache-2.0
#include "daemon/limits.hpp"

#include <fmt/format.h>
#include <polykem/polykem.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>

#include "common/table.hpp"

namespace polykem::cli {
namespace {

constexpr std::uint64_t kMib = std::uint64_t{1} << 20;
constexpr std::uint32_t kDefaultMemoryMib = 4096;
/// The resources of the process itself: code, workspaces, queues. tests/broker compares them with a busy polykemd.
constexpr std::uint64_t kOwnMemory = 64 * kMib, kMemoryOfThread = 8 * kMib;
constexpr std::uint64_t kOwnDescriptors = 32, kDescriptorsOfClient = 2;
constexpr std::uint64_t kOwnThreads = 16;

std::optional<std::uint64_t> limit_of(int resource) {
  rlimit limit{};
  if (::getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0 || limit.rlim_max == RLIM_INFINITY) return {};
  return limit.rlim_max;
}

std::optional<std::uint64_t> limit_of(polykem_resource resource, const char*& why) {
  const std::uint64_t limit = ::polykem_limit(resource, &why);
  return limit == 0 ? std::nullopt : std::optional(limit);
}

std::uint64_t threads_of(const DaemonOptions& options) {
  return options.common.threads != 0 ? options.common.threads : ::polykem_cpus(nullptr);
}

std::uint64_t own_memory(const DaemonOptions& options) {
  return kOwnMemory + threads_of(options) * kMemoryOfThread;
}

LimitRow memory_row(const DaemonOptions& options) {
  const std::uint64_t threads = threads_of(options), own = own_memory(options);
  const std::uint32_t shared = memory_mib(options);
  const char* why = "unknown";
  const std::optional<std::uint64_t> available = limit_of(POLYKEM_MEMORY, why);
  return {.resource = "memory",
          .needed = shared * kMib + own,
          .available = available,
          .needed_by = fmt::format("memory = {}, and {} for itself and {} threads", shared, data_size(own), threads),
          .limited_by = why,
          .what_to_do = "lower memory, or raise MemoryMax= of the unit or of what is above it",
          .in_bytes = true};
}

LimitRow locked_row(const DaemonOptions& options) {
  const std::uint32_t shared = memory_mib(options);
  return {.resource = "locked memory",
          .needed = shared * kMib,
          .available = may_lock_memory(options) ? std::nullopt : std::optional(limit_of(RLIMIT_MEMLOCK).value_or(0)),
          .needed_by = fmt::format("memory = {}, so that keys are not swapped out", shared),
          .limited_by = "RLIMIT_MEMLOCK",
          .what_to_do = "LimitMEMLOCK=infinity in the unit, or 'ulimit -l'",
          .in_bytes = true,
          .is_required = false};
}

LimitRow descriptors_row(const DaemonOptions& options) {
  return {
      .resource = "descriptors",
      .needed = options.clients * kDescriptorsOfClient + kOwnDescriptors,
      .available = limit_of(RLIMIT_NOFILE),
      .needed_by = fmt::format("clients = {}, {} each, and {}", options.clients, kDescriptorsOfClient, kOwnDescriptors),
      .limited_by = "RLIMIT_NOFILE",
      .what_to_do = "lower clients, or raise LimitNOFILE= of the unit ('ulimit -Hn')"};
}

LimitRow threads_row(const DaemonOptions& options) {
  const std::uint64_t threads = threads_of(options);
  const char* why = "unknown";
  const std::optional<std::uint64_t> available = limit_of(POLYKEM_THREADS, why);
  return {.resource = "threads",
          .needed = threads + kOwnThreads,
          .available = available,
          .needed_by = fmt::format("threads = {}, and {} that wait", threads, kOwnThreads),
          .limited_by = why,
          .what_to_do = "lower threads, or raise TasksMax= of the unit"};
}

LimitRow clients_row(const DaemonOptions& options) {
  const std::optional<std::uint64_t> descriptors = limit_of(RLIMIT_NOFILE);
  LimitRow row{.resource = "clients",
               .needed = options.clients,
               .available = {},
               .needed_by = fmt::format("clients = {}, {} of a user", options.clients, options.clients_per_user),
               .limited_by = "descriptors",
               .what_to_do = "",
               .is_required = false};
  if (descriptors) row.available = (std::max(*descriptors, kOwnDescriptors) - kOwnDescriptors) / kDescriptorsOfClient;
  return row;
}

std::string amount(const LimitRow& row, std::uint64_t value) {
  return row.in_bytes ? data_size(value) : with_commas(value);
}

}  // namespace

std::uint32_t memory_mib(const DaemonOptions& options) {
  if (options.memory_mib != 0) return options.memory_mib;
  const std::uint64_t all = ::polykem_limit(POLYKEM_MEMORY, nullptr);
  if (all == 0) return kDefaultMemoryMib;
  const std::uint64_t own = own_memory(options), left = std::max(all, own) - own;
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(left / 2 / kMib, 1, kDefaultMemoryMib));
}

/// Tries to lock one mapping of that size. The kernel allows it if it allows the broker's smaller mappings together.
bool may_lock_memory(const DaemonOptions& options) {
  const std::size_t bytes = memory_mib(options) * kMib;
  void* const probe = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (probe == MAP_FAILED) return false;
  const bool locked = ::mlock2(probe, bytes, MLOCK_ONFAULT) == 0;
  ::munmap(probe, bytes);
  return locked;
}

std::vector<LimitRow> limits_of(const DaemonOptions& options) {
  return {clients_row(options), memory_row(options), locked_row(options), descriptors_row(options),
          threads_row(options)};
}

std::string render_limits(const std::vector<LimitRow>& rows) {
  Table table({{"limit", Align::kLeft},
               {"needed"},
               {"available"},
               {"", Align::kLeft},
               {"needed by", Align::kLeft},
               {"limited by", Align::kLeft}});
  for (const LimitRow& row : rows) {
    const char* verdict = row.is_enough() ? "" : row.is_required ? "LACKS" : "less";
    table.row({row.resource, amount(row, row.needed), row.available ? amount(row, *row.available) : "any", verdict,
               row.needed_by, row.available ? row.limited_by : ""});
  }
  return table.render();
}

std::vector<Finding> shortages(const std::vector<LimitRow>& rows) {
  std::vector<Finding> out;
  for (const LimitRow& row : rows) {
    if (!row.is_required || row.is_enough()) continue;
    out.push_back({"",
                   fmt::format("not enough {}: {} needed ({}), {} available ({})", row.resource,
                               amount(row, row.needed), row.needed_by, amount(row, *row.available), row.limited_by),
                   row.what_to_do});
  }
  return out;
}

}  // namespace polykem::cli
