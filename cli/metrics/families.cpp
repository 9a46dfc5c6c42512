// SPDX-License-Identifier: Apache-2.0
#include "metrics/families.hpp"

#include <polykem/polykem.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>

#include "common/build_commit.hpp"
#include "common/context.hpp"

namespace polykem::cli {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;

/// The last bucket of times, about 9 minutes; longer times are in +Inf.
constexpr std::size_t kTimeBuckets = 29;
constexpr double kMicrosecond = 1e-6;

struct OperationStats {
  Labels labels;
  polykem_batcher_stats_t stats;
};

std::vector<OperationStats> used_operations(polykem_batcher* batcher) {
  std::vector<OperationStats> out;
  for (const Scheme& scheme : Scheme::all()) {
    for (const polykem_op op : {POLYKEM_KEYGEN, POLYKEM_ENCAPS, POLYKEM_DECAPS}) {
      polykem_batcher_stats_t stats{};
      stats.struct_size = sizeof stats;
      check(polykem_batcher_stats(batcher, scheme.handle(), op, &stats), "metrics");
      if (stats.operations + stats.waiting + stats.in_flight + stats.refused + stats.abandoned == 0) continue;
      out.push_back({{{"set", scheme.name()}, {"op", op_name(op)}}, stats});
    }
  }
  return out;
}

MetricFamily family(std::string name, std::string help, MetricType type) {
  return {std::move(name), std::move(help), type, {}};
}

void add(MetricFamily& to, Labels labels, double value) {
  ClientMetric metric;
  metric.label = std::move(labels);
  (to.type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = value;
  to.metric.push_back(std::move(metric));
}

Labels with(Labels labels, std::string name, std::string value) {
  labels.push_back({std::move(name), std::move(value)});
  return labels;
}

/// counts[i]: values v with 2^i <= v < 2^(i+1) of `unit`, the first also 0, the last all above; sum: of the values.
/// whole: values are whole numbers.
template <std::size_t N>
ClientMetric histogram(Labels labels, const std::uint64_t (&counts)[N], std::uint64_t sum, std::size_t shown,
                       double unit, bool whole) {
  ClientMetric metric;
  metric.label = std::move(labels);
  ClientMetric::Histogram& out = metric.histogram;
  out.sample_sum = static_cast<double>(sum) * unit;
  for (std::size_t i = 0; i < N; ++i) {
    out.sample_count += counts[i];
    const double end = std::ldexp(1.0, static_cast<int>(i) + 1);
    if (i < std::min(shown, N - 1)) out.bucket.push_back({out.sample_count, (end - (whole ? 1 : 0)) * unit});
  }
  return metric;
}

void add_operations(std::vector<MetricFamily>& out, const std::vector<OperationStats>& used) {
  MetricFamily total =
      family("polykem_operations_total", "Finished operations, by where they were computed", MetricType::Counter);
  constexpr std::pair<const char*, std::uint64_t polykem_batcher_stats_t::*> kWhere[] = {
      {"caller", &polykem_batcher_stats_t::on_caller},
      {"cpu", &polykem_batcher_stats_t::on_cpu},
      {"accelerator", &polykem_batcher_stats_t::on_accelerator},
      {"broker", &polykem_batcher_stats_t::on_broker}};
  for (const OperationStats& one : used) {
    for (const auto& [where, counter] : kWhere)
      add(total, with(one.labels, "where", where), static_cast<double>(one.stats.*counter));
  }
  out.push_back(std::move(total));
}

void add_counters(std::vector<MetricFamily>& out, const std::vector<OperationStats>& used) {
  struct Metric {
    const char *name, *help;
    MetricType type;
    std::uint64_t polykem_batcher_stats_t::*value;
  };
  using Stats = polykem_batcher_stats_t;
  constexpr MetricType kCounter = MetricType::Counter, kGauge = MetricType::Gauge;
  const Metric all[] = {
      {"polykem_spilled_total", "Operations that the CPU took because of the high-water mark", kCounter,
       &Stats::spilled},
      {"polykem_rescued_total", "Operations given to the CPU because another executor failed or was late", kCounter,
       &Stats::rescued},
      {"polykem_refused_total", "Operations refused at the hard limit", kCounter, &Stats::refused},
      {"polykem_abandoned_total", "Operations given up before they began", kCounter, &Stats::abandoned},
      {"polykem_failed_total", "Operations that finished with an error", kCounter, &Stats::failed},
      {"polykem_waiting", "Operations that wait for a batch", kGauge, &Stats::waiting},
      {"polykem_in_flight", "Operations that have not finished", kGauge, &Stats::in_flight}};
  for (const Metric& metric : all) {
    MetricFamily added = family(metric.name, metric.help, metric.type);
    for (const OperationStats& one : used)
      add(added, one.labels, static_cast<double>(one.stats.*metric.value));
    out.push_back(std::move(added));
  }
}

void add_histograms(std::vector<MetricFamily>& out, const std::vector<OperationStats>& used) {
  MetricFamily items = family("polykem_batch_items", "Operations in a batch", MetricType::Histogram);
  MetricFamily wait =
      family("polykem_wait_seconds", "Time of an operation until its batch began", MetricType::Histogram);
  MetricFamily service = family("polykem_service_seconds", "Time that a batch took", MetricType::Histogram);
  for (const OperationStats& one : used) {
    const polykem_batcher_stats_t& s = one.stats;
    items.metric.push_back(histogram(one.labels, s.batch_items, s.batch_items_sum, std::size(s.batch_items), 1, true));
    wait.metric.push_back(histogram(one.labels, s.wait_us, s.wait_us_sum, kTimeBuckets, kMicrosecond, false));
    service.metric.push_back(histogram(one.labels, s.service_us, s.service_us_sum, kTimeBuckets, kMicrosecond, false));
  }
  out.insert(out.end(), {std::move(items), std::move(wait), std::move(service)});
}

void add_executors(std::vector<MetricFamily>& out, polykem_batcher* batcher) {
  MetricFamily state =
      family("polykem_breaker_state", "1 for the state that an executor's breaker is in", MetricType::Gauge);
  MetricFamily opened =
      family("polykem_breaker_opened_total", "Times that an executor's breaker has opened", MetricType::Counter);
  MetricFamily batches = family("polykem_executor_batches", "Batches that an executor has now", MetricType::Gauge);
  constexpr std::pair<polykem_executor_state, const char*> kStates[] = {{POLYKEM_EXECUTOR_UNUSED, "unused"},
                                                                        {POLYKEM_EXECUTOR_CLOSED, "closed"},
                                                                        {POLYKEM_EXECUTOR_OPEN, "open"},
                                                                        {POLYKEM_EXECUTOR_HALF_OPEN, "half_open"}};
  polykem_executor_health_t health{};
  health.struct_size = sizeof health;
  for (std::size_t i = 0; polykem_batcher_health(batcher, i, &health) == POLYKEM_OK; ++i) {
    const Labels labels{{"executor", health.name}};
    for (const auto& [which, name] : kStates)
      add(state, with(labels, "state", name), health.state == which ? 1 : 0);
    add(opened, labels, static_cast<double>(health.opened));
    add(batches, labels, health.batches);
  }
  out.insert(out.end(), {std::move(state), std::move(opened), std::move(batches)});
}

void add_broker(std::vector<MetricFamily>& out, polykem_broker* broker) {
  polykem_broker_stats_t stats{};
  stats.struct_size = sizeof stats;
  check(polykem_broker_stats(broker, &stats), "metrics");
  const auto one = [&](const char* name, const char* help, MetricType type, std::uint64_t value) {
    MetricFamily metric = family(name, help, type);
    add(metric, {}, static_cast<double>(value));
    out.push_back(std::move(metric));
  };
  constexpr MetricType kCounter = MetricType::Counter, kGauge = MetricType::Gauge;
  one("polykem_broker_clients", "Clients that are connected", kGauge, stats.clients);
  one("polykem_broker_in_flight", "Operations of clients that have not finished", kGauge, stats.in_flight);
  one("polykem_broker_accepted_total", "Clients that were admitted", kCounter, stats.accepted);
  one("polykem_broker_refused_total", "Clients that were refused", kCounter, stats.refused);
  one("polykem_broker_short_of_memory_total", "Clients refused because no shared memory was left for their user",
      kCounter, stats.short_of_memory);
  one("polykem_broker_violations_total", "Clients dropped because they broke the protocol", kCounter, stats.violations);
  one("polykem_broker_operations_total", "Operations that clients got a result of", kCounter, stats.operations);
  one("polykem_broker_failed_total", "Operations that clients got an error for", kCounter, stats.failed);
  one("polykem_broker_late_total", "Operations whose deadline had passed before they began", kCounter, stats.late);
  one("polykem_broker_silent_seconds", "Time since the broker's thread last looked at its clients", kGauge,
      stats.silent_ms / 1000);
  one("polykem_broker_dropped_total", "Operations of clients that went away", kCounter, stats.dropped);
}

}  // namespace

std::vector<MetricFamily> metric_families(const MetricsSource& source) {
  std::vector<MetricFamily> out;
  MetricFamily build = family("polykem_build_info", "Always 1; the labels say what runs", MetricType::Gauge);
  add(build, {{"program", source.program}, {"version", polykem_version()}, {"commit", build_commit()}}, 1);
  out.push_back(std::move(build));
  MetricFamily start = family("polykem_start_time_seconds", "The time at which the program began", MetricType::Gauge);
  add(start, {}, source.start_time);
  out.push_back(std::move(start));
  const std::vector<OperationStats> used = used_operations(source.batcher);
  add_operations(out, used);
  add_counters(out, used);
  add_histograms(out, used);
  add_executors(out, source.batcher);
  if (source.broker != nullptr) add_broker(out, source.broker);
  return out;
}

}  // namespace polykem::cli
