// SPDX-License-Identifier: Apache-2.0
#include "statistics.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

namespace polykem::provider {

namespace {

constexpr std::int64_t kPeriodMs = 1000;
constexpr const char* kOperations[] = {"keygen", "encaps", "decaps", "sign", "verify"};
constexpr const char* kStates[] = {"unused", "closed", "open", "half-open"};

void add(std::string& out, const char* name, std::uint64_t value) {
  out.append(", \"").append(name).append("\": ").append(std::to_string(value));
}

template <std::size_t kBuckets>
void add(std::string& out, const char* name, const std::uint64_t (&buckets)[kBuckets]) {
  out.append(", \"").append(name).append("\": [");
  for (std::size_t i = 0; i < kBuckets; ++i)
    out.append(i == 0 ? "" : ", ").append(std::to_string(buckets[i]));
  out += ']';
}

void add_counters(std::string& out, const char* set, polykem_op op, const polykem_batcher_stats_t& stats) {
  out.append("{\"set\": \"").append(set).append("\", \"op\": \"").append(kOperations[op]).append("\"");
  add(out, "operations", stats.operations);
  add(out, "on_caller", stats.on_caller);
  add(out, "on_cpu", stats.on_cpu);
  add(out, "on_accelerator", stats.on_accelerator);
  add(out, "on_broker", stats.on_broker);
  add(out, "spilled", stats.spilled);
  add(out, "rescued", stats.rescued);
  add(out, "refused", stats.refused);
  add(out, "abandoned", stats.abandoned);
  add(out, "failed", stats.failed);
  add(out, "waiting", stats.waiting);
  add(out, "in_flight", stats.in_flight);
  add(out, "batches", stats.batches);
  add(out, "batch_items", stats.batch_items);
  add(out, "wait_us", stats.wait_us);
  add(out, "service_us", stats.service_us);
  out += "}, ";
}

void add_set(std::string& out, polykem_batcher* batcher, const polykem_scheme* scheme) {
  polykem_scheme_info_t info{};
  info.struct_size = sizeof info;
  polykem_scheme_info(scheme, &info);
  for (const polykem_op op : {POLYKEM_KEYGEN, POLYKEM_ENCAPS, POLYKEM_DECAPS, POLYKEM_SIGN, POLYKEM_VERIFY}) {
    polykem_batcher_stats_t stats{};
    stats.struct_size = sizeof stats;  // an operation that the set does not have is an error
    if (polykem_batcher_stats(batcher, scheme, op, &stats) == POLYKEM_OK &&
        stats.operations + stats.in_flight + stats.abandoned + stats.refused > 0)
      add_counters(out, info.name, op, stats);
  }
}

void add_health(std::string& out, const polykem_executor_health_t& health) {
  out.append("{\"executor\": \"").append(health.name).append("\", \"state\": \"").append(kStates[health.state]);
  out.append("\", \"reason\": \"").append(health.reason).append("\"");
  add(out, "opened", health.opened);
  out += "}, ";
}

void close_list(std::string& out) {
  if (out.back() == ' ') out.resize(out.size() - 2);
  out += ']';
}

/// The statistics of every set and operation that was used.
std::string json(polykem_batcher* batcher, const Pauses& pauses) {
  std::string out = "{\"operations\": [";
  for (std::size_t i = 0; i < polykem_scheme_count(); ++i)
    add_set(out, batcher, polykem_scheme_at(i));
  for (std::size_t i = 0; i < polykem_signature_count(); ++i)
    add_set(out, batcher, polykem_signature_at(i));
  close_list(out);
  out += ", \"executors\": [";
  polykem_executor_health_t health{};
  health.struct_size = sizeof health;
  for (std::size_t i = 0; polykem_batcher_health(batcher, i, &health) == POLYKEM_OK; ++i)
    add_health(out, health);
  close_list(out);
  add(out, "abandoned_pauses", pauses.abandoned());
  out.append(", \"pauses\": ").append(pauses.allowed() ? "true" : "false");
  return out + "}\n";
}

}  // namespace

void Statistics::write_when_due(polykem_batcher* batcher) {
  if (path_.empty()) return;
  process_.store(getpid(), std::memory_order_relaxed);
  using std::chrono::milliseconds;
  const std::int64_t now =
      std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
  std::int64_t due = next_.load(std::memory_order_relaxed);
  if (now >= due && next_.compare_exchange_strong(due, now + kPeriodMs)) write(batcher);
}

void Statistics::write_at_end(polykem_batcher* batcher) const {
  if (process_.load(std::memory_order_relaxed) == getpid()) write(batcher);
}

/// Replaces the file, so that readers see the old one or the new one. Failures are ignored, because a server does not
/// depend on it. In a folder that others can write to, a link or pipe of theirs at that path is not followed and does
/// not block.
void Statistics::write(polykem_batcher* batcher) const {
  const std::string name = path_ + "." + std::to_string(getpid()), fresh = name + ".new",
                    text = json(batcher, *pauses_);
  unlink(fresh.c_str());
  const int fd = open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) return;
  const bool whole = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (close(fd) != 0 || !whole || std::rename(fresh.c_str(), name.c_str()) != 0) unlink(fresh.c_str());
}

}  // namespace polykem::provider
