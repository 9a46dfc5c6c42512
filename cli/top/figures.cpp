// SPDX-License-Identifier: Apache-2.0
#include "top/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "common/table.hpp"

namespace polykem::cli::top {
namespace {

using Labels = std::map<std::string, std::string>;
constexpr double kMax = 1e18;
using Values = std::map<std::pair<std::string, Labels>, double>;

Values by_name(const std::vector<Sample>& samples) {
  Values out;
  for (const Sample& sample : samples)
    out[{sample.name, sample.labels}] = sample.value;
  return out;
}

bool parse_number(const std::string& text, double& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= 0 && value < kMax;
}

/// The samples of one interval.
class Interval {
 public:
  Interval(const std::vector<Sample>& before, const std::vector<Sample>& after, double seconds)
      : before_(by_name(before)), after_(after), seconds_(seconds) {}

  /// The increase of a counter.
  double grown(const Sample& now) const {
    const auto then = before_.find({now.name, now.labels});
    return then == before_.end() || then->second > now.value ? now.value : now.value - then->second;
  }
  double rate(const Sample& now) const { return seconds_ > 0 ? grown(now) / seconds_ : 0; }

  /// The upper end of the bucket with quantile `q` of the interval's values; 0 if there are none.
  double quantile(const std::string& histogram, const Labels& labels, double q) const {
    std::vector<std::pair<double, double>> buckets;
    for (const Sample& sample : after_) {
      if (sample.name != histogram + "_bucket") continue;
      const auto same = [&](const auto& label) { return sample.label(label.first) == label.second; };
      if (!std::all_of(labels.begin(), labels.end(), same)) continue;
      const std::string& end = sample.label("le");
      double bound = std::numeric_limits<double>::infinity();
      if (end != "+Inf" && !parse_number(end, bound)) continue;
      buckets.emplace_back(bound, grown(sample));
    }
    std::sort(buckets.begin(), buckets.end());
    if (buckets.empty() || buckets.back().second <= 0) return 0;
    const double wanted = q * buckets.back().second;
    const auto found = std::find_if(buckets.begin(), buckets.end(), [&](const auto& b) { return b.second >= wanted; });
    const bool unbounded = found == buckets.end() || found->first == std::numeric_limits<double>::infinity();
    return unbounded && buckets.size() > 1 ? buckets[buckets.size() - 2].first : found->first;
  }

 private:
  Values before_;
  const std::vector<Sample>& after_;
  double seconds_;
};

OperationFigures& figures_of(Figures& all, const Sample& sample) {
  const std::string &set = sample.label("set"), &op = sample.label("op");
  for (OperationFigures& one : all.operations) {
    if (one.set == set && one.op == op) return one;
  }
  all.operations.emplace_back();
  all.operations.back().set = set;
  all.operations.back().op = op;
  return all.operations.back();
}

void add_operation(Figures& out, const Sample& sample, const Interval& interval) {
  OperationFigures& figures = figures_of(out, sample);
  const double rate = interval.rate(sample);
  if (sample.name == "polykem_operations_total") {
    figures.rates[sample.label("where")] = rate;
    figures.rate += rate;
  }
  if (sample.name == "polykem_waiting") figures.waiting = sample.value;
  if (sample.name == "polykem_in_flight") figures.in_flight = sample.value;
  if (sample.name == "polykem_spilled_total") figures.spilled = rate;
  if (sample.name == "polykem_rescued_total") figures.rescued = rate;
  if (sample.name == "polykem_refused_total") figures.refused = rate;
  if (sample.name == "polykem_failed_total") figures.failed = rate;
}

void add_sample(Figures& out, const Sample& sample, const Interval& interval) {
  constexpr std::string_view kBroker = "polykem_broker_";
  if (!sample.label("set").empty()) return add_operation(out, sample, interval);
  if (sample.name == "polykem_build_info") {
    out.program = sample.label("program");
    out.version = sample.label("version");
  }
  if (sample.name == "polykem_breaker_state" && sample.value == 1)
    out.executors.push_back({sample.label("executor"), sample.label("state"), 0});
  if (sample.name == "polykem_breaker_opened_total") {
    for (ExecutorFigures& executor : out.executors)
      executor.opened = executor.name == sample.label("executor") ? sample.value : executor.opened;
  }
  if (sample.name.rfind(kBroker, 0) == 0) {
    const std::string name = sample.name.substr(kBroker.size());
    const bool counter = name.size() > 6 && name.substr(name.size() - 6) == "_total";
    out.broker[counter ? name.substr(0, name.size() - 6) : name] = counter ? interval.grown(sample) : sample.value;
  }
}

/// The executor that computed most operations, with its share unless that is all of them.
std::string main_executor(const OperationFigures& figures) {
  std::string best;
  double max_rate = 0;
  for (const auto& [where, rate] : figures.rates) {
    if (rate > max_rate) best = where;
    max_rate = std::max(max_rate, rate);
  }
  if (best.empty()) return "";
  const auto percent = std::lround(100 * max_rate / figures.rate);
  return percent == 100 ? best : fmt::format("{} {} %", best, percent);
}

std::string time_or_nothing(double seconds) {
  return seconds > 0 ? duration(seconds) : "";
}

std::string whole(double value) {
  return with_commas(static_cast<unsigned long long>(std::llround(std::min(value, kMax))));
}

std::string failure_rates(const Figures& figures) {
  double spilled = 0, rescued = 0, refused = 0, failed = 0;
  for (const OperationFigures& one : figures.operations) {
    spilled += one.spilled;
    rescued += one.rescued;
    refused += one.refused;
    failed += one.failed;
  }
  return fmt::format("spilled {}/s, rescued {}/s, refused {}/s, failed {}/s", whole(spilled), whole(rescued),
                     whole(refused), whole(failed));
}

}  // namespace

Figures compare(const std::vector<Sample>& before, const std::vector<Sample>& after, double seconds) {
  Figures out;
  out.seconds = seconds;
  const Interval interval(before, after, seconds);
  for (const Sample& sample : after)
    add_sample(out, sample, interval);
  for (OperationFigures& one : out.operations) {
    const Labels labels{{"set", one.set}, {"op", one.op}};
    one.batch_p50 = interval.quantile("polykem_batch_items", labels, 0.5);
    one.batch_p99 = interval.quantile("polykem_batch_items", labels, 0.99);
    one.wait_p50 = interval.quantile("polykem_wait_seconds", labels, 0.5);
    one.wait_p99 = interval.quantile("polykem_wait_seconds", labels, 0.99);
    one.service_p50 = interval.quantile("polykem_service_seconds", labels, 0.5);
    one.service_p99 = interval.quantile("polykem_service_seconds", labels, 0.99);
  }
  std::stable_sort(out.operations.begin(), out.operations.end(),
                   [](const auto& a, const auto& b) { return a.rate > b.rate; });
  return out;
}

std::string render(const Figures& figures, const std::string& endpoint) {
  std::string out = fmt::format("{} {} at {}\n", figures.program, figures.version, endpoint);
  if (!figures.broker.empty()) {
    const auto gauge = [&](const char* name) {
      return whole(figures.broker.count(name) ? figures.broker.at(name) : 0);
    };
    out += fmt::format("clients {}, {} operations in flight\n", gauge("clients"), gauge("in_flight"));
    out += fmt::format("clients refused {}, {} of them for lack of memory; violations {}\n", gauge("refused"),
                       gauge("short_of_memory"), gauge("violations"));
  }
  if (!figures.executors.empty()) out += "breakers: ";
  for (const ExecutorFigures& executor : figures.executors)
    out += fmt::format("{} {}{}", executor.name, executor.state, &executor == &figures.executors.back() ? "\n" : ", ");
  out += failure_rates(figures) + "\n\n";
  Table table({{"set", Align::kLeft},
               {"op", Align::kLeft},
               {"op/s"},
               {"computed by", Align::kLeft},
               {"batch"},
               {"queue"},
               {"wait p99"},
               {"service"}});
  for (const OperationFigures& one : figures.operations) {
    table.row({one.set, one.op, one.rate > 0 ? significant(one.rate) : "0", main_executor(one),
               one.batch_p50 > 0 ? whole(one.batch_p50) : "", whole(one.waiting), time_or_nothing(one.wait_p99),
               time_or_nothing(one.service_p50)});
  }
  return out + (table.empty() ? "no operation so far\n" : table.render());
}

Json to_json(const Figures& figures, const std::string& endpoint) {
  Json out = json_header("polykem-top-1");
  out["place"] = endpoint;
  out["program"] = figures.program;
  out["program_version"] = figures.version;
  out["seconds"] = figures.seconds;
  out["operations"] = Json::array();
  for (const OperationFigures& one : figures.operations) {
    out["operations"].push_back({{"set", one.set},
                                 {"op", one.op},
                                 {"per_second", one.rate},
                                 {"per_second_by", one.rates},
                                 {"batch_p50", one.batch_p50},
                                 {"batch_p99", one.batch_p99},
                                 {"wait_p50", one.wait_p50},
                                 {"wait_p99", one.wait_p99},
                                 {"service_p50", one.service_p50},
                                 {"service_p99", one.service_p99},
                                 {"waiting", one.waiting},
                                 {"in_flight", one.in_flight},
                                 {"spilled", one.spilled},
                                 {"rescued", one.rescued},
                                 {"refused", one.refused},
                                 {"failed", one.failed}});
  }
  out["executors"] = Json::array();
  for (const ExecutorFigures& executor : figures.executors)
    out["executors"].push_back({{"executor", executor.name}, {"state", executor.state}, {"opened", executor.opened}});
  out["broker"] = figures.broker;
  return out;
}

}  // namespace polykem::cli::top
