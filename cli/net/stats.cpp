// SPDX-License-Identifier: Apache-2.0
#include "net/stats.hpp"

#include <algorithm>
#include <cmath>

#include "common/exit_codes.hpp"

namespace polykem::cli::net {

void SizeCounts::add(const SizeCounts& other) {
  for (const auto& [size, times] : other.counts_)
    add(size, times);
}

std::uint64_t SizeCounts::batches() const {
  std::uint64_t sum = 0;
  for (const auto& [size, times] : counts_)
    sum += times;
  return sum;
}

std::uint64_t SizeCounts::items() const {
  std::uint64_t sum = 0;
  for (const auto& [size, times] : counts_)
    sum += size * times;
  return sum;
}

std::size_t SizeCounts::median() const {
  const std::uint64_t half = (batches() + 1) / 2;
  std::uint64_t seen = 0;
  for (const auto& [size, times] : counts_) {
    seen += times;
    if (seen >= half) return size;
  }
  return max();
}

void PeerErrors::add(std::string_view text, std::uint64_t times) {
  std::string key = printable(text, kMaxBytes);
  const bool full = counts_.size() - counts_.count(std::string(kOther)) >= kMaxTexts;
  if (full && counts_.count(key) == 0) key = kOther;
  counts_[key] += times;
}

void PeerErrors::add(const PeerErrors& other) {
  for (const auto& [text, times] : other.counts_)
    add(text, times);
}

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::uint32_t percentile(const std::vector<std::uint32_t>& sorted, double p) {
  if (sorted.empty()) return 0;
  const auto rank = static_cast<std::size_t>(std::ceil(p / 100.0 * static_cast<double>(sorted.size())));
  return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

void merge(EndReport& into, const EndReport& other) {
  for (std::size_t i = 0; i < kOutcomeCount; ++i)
    into.outcomes.by_outcome[i] += other.outcomes.by_outcome[i];
  into.peer_errors.add(other.peer_errors);
  for (std::size_t op = 0; op < into.batches.by_op.size(); ++op)
    into.batches.by_op[op].add(other.batches.by_op[op]);
  into.batches.busy += other.batches.busy;
  into.latency_us.insert(into.latency_us.end(), other.latency_us.begin(), other.latency_us.end());
  if (other.first_ns != 0 && (into.first_ns == 0 || other.first_ns < into.first_ns)) into.first_ns = other.first_ns;
  into.last_ns = std::max(into.last_ns, other.last_ns);
  if (into.backend.empty()) into.backend = other.backend;
  into.threads += other.threads;
  into.limits.insert(into.limits.end(), other.limits.begin(), other.limits.end());
}

Json to_json(const SizeCounts& counts, bool with_sizes) {
  if (counts.empty()) return Json{{"number", 0}};
  Json out{{"number", counts.batches()},
           {"min", counts.min()},
           {"median", counts.median()},
           {"mean", counts.mean()},
           {"max", counts.max()}};
  if (with_sizes) {
    Json sizes = Json::array();
    for (const auto& [size, times] : counts.counts())
      sizes.push_back(Json::array({size, times}));
    out["sizes"] = std::move(sizes);
  }
  return out;
}

namespace {

Json step_to_json(const StepTime& step) {
  return Json{{"op", step.op},       {"step", step.step},   {"stages", step.stages},
              {"calls", step.calls}, {"items", step.items}, {"nanoseconds", step.nanoseconds}};
}

StepTime step_from_json(const Json& json) {
  return {json.at("op").get<std::string>(),      json.at("step").get<std::string>(),
          json.at("stages").get<std::string>(),  json.at("calls").get<std::uint64_t>(),
          json.at("items").get<std::uint64_t>(), json.at("nanoseconds").get<std::uint64_t>()};
}

}  // namespace

Json to_json(const EndReport& report) {
  Json batches = Json::array();
  for (const SizeCounts& counts : report.batches.by_op)
    batches.push_back(to_json(counts, true));
  Json steps = Json::array();
  for (const StepTime& step : report.steps)
    steps.push_back(step_to_json(step));
  return Json{{"outcomes", report.outcomes.by_outcome},
              {"peer_errors", report.peer_errors.counts()},
              {"batches", std::move(batches)},
              {"busy_ns", report.batches.busy.count()},
              {"stages", std::move(steps)},
              {"latency_us", report.latency_us},
              {"first_ns", report.first_ns},
              {"last_ns", report.last_ns},
              {"backend", report.backend},
              {"threads", report.threads},
              {"limits", report.limits}};
}

EndReport end_report_from_json(const Json& json) {
  EndReport report;
  report.outcomes.by_outcome = json.at("outcomes").get<std::array<std::uint64_t, kOutcomeCount>>();
  for (const auto& [text, times] : json.at("peer_errors").items())
    report.peer_errors.add(text, times.get<std::uint64_t>());
  for (std::size_t op = 0; op < report.batches.by_op.size(); ++op) {
    const Json& counts = json.at("batches").at(op);
    if (!counts.contains("sizes")) continue;
    for (const Json& entry : counts.at("sizes")) {
      report.batches.by_op[op].add(entry.at(0).get<std::size_t>(), entry.at(1).get<std::uint64_t>());
    }
  }
  report.batches.busy = std::chrono::nanoseconds(json.at("busy_ns").get<std::int64_t>());
  for (const Json& step : json.at("stages"))
    report.steps.push_back(step_from_json(step));
  report.latency_us = json.at("latency_us").get<std::vector<std::uint32_t>>();
  report.first_ns = json.at("first_ns").get<std::int64_t>();
  report.last_ns = json.at("last_ns").get<std::int64_t>();
  report.backend = json.at("backend").get<std::string>();
  report.threads = json.at("threads").get<unsigned>();
  report.limits = json.at("limits").get<std::vector<std::string>>();
  return report;
}

}  // namespace polykem::cli::net
