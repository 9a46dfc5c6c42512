// SPDX-License-Identifier: Apache-2.0
#include "net/report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/context.hpp"
#include "common/table.hpp"

namespace polykem::cli::net {
namespace {

constexpr double kNano = 1e-9;
constexpr double kMicro = 1e-6;
constexpr double kSmallShare = 0.01;

std::string indented(const std::string& text) {
  std::string out;
  bool at_start = true;
  for (const char c : text) {
    if (at_start && c != '\n') out += "  ";
    out += c;
    at_start = c == '\n';
  }
  return out;
}

double seconds_of(const EndReport& report) {
  return static_cast<double>(report.last_ns - report.first_ns) * kNano;
}

double rate(std::uint64_t count, double seconds) {
  return seconds > 0 ? static_cast<double>(count) / seconds : 0;
}

std::vector<std::uint32_t> sorted_latencies(const EndReport& report) {
  std::vector<std::uint32_t> out = report.latency_us;
  std::sort(out.begin(), out.end());
  return out;
}

void add_batch_rows(Table& table, const char* who, const BatchStats& batches) {
  for (const polykem_op op : {POLYKEM_KEYGEN, POLYKEM_ENCAPS, POLYKEM_DECAPS}) {
    const SizeCounts& counts = batches.by_op[op];
    if (counts.empty()) continue;
    table.row({fmt::format("{} {}", who, op_name(op)), with_commas(counts.batches()), with_commas(counts.min()),
               with_commas(counts.median()), significant(counts.mean()), with_commas(counts.max())});
  }
}

Table batch_table() {
  return Table({{"batches", Align::kLeft}, {"number"}, {"min"}, {"median"}, {"mean"}, {"max"}});
}

/// The steps of one operation. Those below kSmallShare of the total are combined; JSON has them all.
std::vector<StepTime> with_small_steps_merged(const std::vector<StepTime>& steps, double total_ns) {
  std::vector<StepTime> out, small;
  for (const StepTime& step : steps) {
    (static_cast<double>(step.nanoseconds) < kSmallShare * total_ns ? small : out).push_back(step);
  }
  if (small.size() < 2) return steps;
  StepTime merged = small.front();
  merged.step = fmt::format("{} small steps", small.size());
  merged.nanoseconds = 0;
  for (const StepTime& step : small)
    merged.nanoseconds += step.nanoseconds;
  out.push_back(merged);
  return out;
}

void add_step_rows(Table& table, const std::vector<StepTime>& steps, double total_ns) {
  bool first = true;
  for (const StepTime& step : with_small_steps_merged(steps, total_ns)) {
    const auto ns = static_cast<double>(step.nanoseconds);
    table.row({first ? step.op : "", step.step, duration(ns * kNano),
               duration(ns * kNano / static_cast<double>(std::max<std::uint64_t>(step.items, 1))),
               fmt::format("{:.1f} %", 100 * ns / total_ns)});
    first = false;
  }
}

std::string step_table(const std::vector<StepTime>& steps) {
  Table table({{"server time by stage", Align::kLeft}, {"step", Align::kLeft}, {"time"}, {"per item"}, {"share"}});
  double total_ns = 1;
  for (const StepTime& step : steps)
    total_ns += static_cast<double>(step.nanoseconds);
  for (auto begin = steps.begin(); begin != steps.end();) {
    const auto end = std::find_if(begin, steps.end(), [&](const StepTime& step) { return step.op != begin->op; });
    if (begin != steps.begin()) table.rule();
    add_step_rows(table, {begin, end}, total_ns);
    begin = end;
  }
  return table.render();
}

/// Quotes untrusted text. Quotation marks in it are escaped, so that none of it looks like the program's own.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string failure_lines(const OutcomeCounts& outcomes, const PeerErrors& peer_errors) {
  std::string out;
  for (std::size_t i = 1; i < kOutcomeCount; ++i) {
    const auto outcome = static_cast<Outcome>(i);
    if (outcomes.of(outcome) == 0) continue;
    out += fmt::format("{:>10}  {:<17} {}\n", with_commas(outcomes.of(outcome)), outcome_name(outcome),
                       outcome_text(outcome));
  }
  for (const auto& [text, times] : peer_errors.counts()) {
    out += fmt::format("{:>10}  {:<17} {}\n", with_commas(times), "",
                       text == PeerErrors::kOther ? "said something else" : "said " + quoted(text));
  }
  return out;
}

void add_comparison_row(Table& table, const std::string& what, double single_per_s, double batched_per_s) {
  table.row({what, significant(single_per_s) + "/s", significant(batched_per_s) + "/s",
             fmt::format("{:.2f}x", batched_per_s / single_per_s)});
}

std::string comparison_text(const ExchangeResult& result) {
  const Comparison& comparison = *result.comparison;
  const char* work = result.role == Role::kServerDecaps ? "keygen, decaps" : "encaps";
  Table table({{"for comparison", Align::kLeft}, {"one at a time"}, {"in batches"}, {"ratio"}});
  add_comparison_row(table, result.transport == "tcp" ? "this exchange, over tcp" : "this exchange, in one process",
                     result.single_per_s(), result.handshakes_per_s());
  add_comparison_row(table, "the computation of both ends", 1 / comparison.single.whole(),
                     1 / comparison.batched.whole());
  add_comparison_row(table, fmt::format("the computation of the server: {}", work),
                     1 / comparison.single.server(result.role), 1 / comparison.batched.server(result.role));
  std::string out = table.render();
  if (result.transport == "tcp") {
    out += fmt::format("one at a time over tcp: {} clients, one after the other\n",
                       with_commas(result.sequential_clients));
  }
  out += fmt::format("computation: the library alone, {} of {} handshakes with count = 1, and in batches of {}\n",
                     with_commas(comparison.single.handshakes), with_commas(result.clients),
                     with_commas(comparison.batch_size));
  return out;
}

std::string headline(const ExchangeResult& result) {
  const std::string of = fmt::format("{} of {} clients", with_commas(result.agreed()), with_commas(result.clients));
  if (result.agreed() == result.clients)
    return of + " share a secret with the server: both ends confirmed every one.\n";
  std::string out = of + " share a secret with the server. The others failed:\n";
  out += "as the server saw it\n" + failure_lines(result.server.outcomes, result.server.peer_errors);
  out += "as the clients saw it\n" + failure_lines(result.client.outcomes, result.client.peer_errors);
  return out;
}

Json op_batches(const BatchStats& batches) {
  Json out = Json::object();
  for (const polykem_op op : {POLYKEM_KEYGEN, POLYKEM_ENCAPS, POLYKEM_DECAPS}) {
    if (!batches.by_op[op].empty()) out[op_name(op)] = to_json(batches.by_op[op], true);
  }
  return out;
}

SizeCounts all_batches(const BatchStats& batches) {
  SizeCounts out;
  for (const SizeCounts& counts : batches.by_op)
    out.add(counts);
  return out;
}

Json batches_json(const BatchStats& batches) {
  Json out = to_json(all_batches(batches), false);
  out["by_op"] = op_batches(batches);
  return out;
}

Json steps_json(const EndReport& report) {
  return to_json(report).at("stages");
}

Json costs_json(const OpCosts& costs, Role role) {
  return Json{{"handshakes", costs.handshakes},
              {"keygen_s", costs.seconds[POLYKEM_KEYGEN]},
              {"encaps_s", costs.seconds[POLYKEM_ENCAPS]},
              {"decaps_s", costs.seconds[POLYKEM_DECAPS]},
              {"confirm_s", costs.confirm_seconds},
              {"server_kem_per_s", 1 / costs.server(role)},
              {"whole_per_s", 1 / costs.whole()}};
}

void add_comparison(Json& out, const ExchangeResult& result) {
  const Comparison& comparison = *result.comparison;
  const double single = comparison.single.server(result.role);
  const double batched = comparison.batched.server(result.role);
  out["single_per_s"] = result.single_per_s();
  out["ratio"] = single / batched;
  out["whole_ratio"] = result.handshakes_per_s() / result.single_per_s();
  Json in_batches = costs_json(comparison.batched, result.role);
  in_batches["batch_size"] = comparison.batch_size;
  out["comparison"] = Json{{"single", costs_json(comparison.single, result.role)}, {"batched", std::move(in_batches)}};
}

}  // namespace

/// A client counts once it has verified the server's tag, the server once it has verified the client's.
std::uint64_t ExchangeResult::agreed() const {
  return std::min(server.outcomes.agreed(), client.outcomes.agreed());
}

double ExchangeResult::seconds() const {
  return seconds_of(client);
}

double ExchangeResult::handshakes_per_s() const {
  return rate(agreed(), seconds());
}

double ExchangeResult::single_per_s() const {
  return transport == "tcp" ? sequential_per_s : 1 / comparison->single.whole();
}

Json failed_reasons(const OutcomeCounts& outcomes) {
  Json out = Json::object();
  for (std::size_t i = 1; i < kOutcomeCount; ++i) {
    const auto outcome = static_cast<Outcome>(i);
    if (outcomes.of(outcome) != 0) out[std::string(outcome_name(outcome))] = outcomes.of(outcome);
  }
  return out;
}

std::string render(const ExchangeResult& result) {
  const std::vector<std::uint32_t> latencies = sorted_latencies(result.client);
  std::string out = headline(result);
  out += "\n";
  out += fmt::format("  handshakes  {}/s  ({} in {})\n", significant(result.handshakes_per_s()),
                     with_commas(result.agreed()), duration(result.seconds()));
  out += fmt::format("  latency     p50 {}, p99 {}  (a client's wait from {} to confirmed{})\n",
                     duration(percentile(latencies, 50) * kMicro), duration(percentile(latencies, 99) * kMicro),
                     result.transport == "tcp" ? "connecting" : "its first frame",
                     result.role == Role::kServerDecaps ? "; all come at once" : "");
  Table batches = batch_table();
  add_batch_rows(batches, "server", result.server.batches);
  add_batch_rows(batches, "clients", result.client.batches);
  out += "\n" + indented(batches.render());
  if (!result.server.steps.empty()) out += "\n" + indented(step_table(result.server.steps));
  if (result.comparison) out += "\n" + indented(comparison_text(result));
  return out;
}

Json to_json(const ExchangeResult& result) {
  const std::vector<std::uint32_t> latencies = sorted_latencies(result.client);
  Json out = json_header("polykem.exchange.v1");
  out.update(Json{{"scheme", result.scheme},
                  {"role", role_name(result.role)},
                  {"transport", result.transport},
                  {"backend", result.server.backend},
                  {"threads", result.server.threads},
                  {"clients", result.clients},
                  {"client_processes", result.client_processes},
                  {"agreed", result.agreed()},
                  {"failed", result.clients - std::min(result.agreed(), result.clients)},
                  {"failed_reasons", failed_reasons(result.client.outcomes)},
                  {"server_failed_reasons", failed_reasons(result.server.outcomes)},
                  {"seconds", result.seconds()},
                  {"handshakes_per_s", result.handshakes_per_s()},
                  {"p50_us", percentile(latencies, 50)},
                  {"p99_us", percentile(latencies, 99)},
                  {"batches", batches_json(result.server.batches)},
                  {"client_batches", batches_json(result.client.batches)},
                  {"server_busy_s", std::chrono::duration<double>(result.server.batches.busy).count()},
                  {"limits", Json{{"server", result.server.limits}, {"clients", result.client.limits}}},
                  {"stages", steps_json(result.server)}});
  if (result.comparison) add_comparison(out, result);
  return out;
}

std::string render_end(const EndReport& report, const char* who, bool with_steps) {
  const std::vector<std::uint32_t> latencies = sorted_latencies(report);
  std::string out = fmt::format("{} handshakes agreed, {} failed, {}/s\n", with_commas(report.outcomes.agreed()),
                                with_commas(report.outcomes.failed()),
                                significant(rate(report.outcomes.agreed(), seconds_of(report))));
  out += failure_lines(report.outcomes, report.peer_errors);
  if (!latencies.empty()) {
    out += fmt::format("\n  latency  p50 {}, p99 {}  (from connecting to confirmed)\n",
                       duration(percentile(latencies, 50) * kMicro), duration(percentile(latencies, 99) * kMicro));
  }
  Table batches = batch_table();
  add_batch_rows(batches, who, report.batches);
  if (!batches.empty()) out += "\n" + indented(batches.render());
  if (with_steps && !report.steps.empty()) out += "\n" + indented(step_table(report.steps));
  return out;
}

Json end_to_json(const EndReport& report, const NetOptions& options, const std::string& command) {
  const std::vector<std::uint32_t> latencies = sorted_latencies(report);
  Json out = json_header("polykem." + command + ".v1");
  out.update(Json{{"scheme", options.scheme},
                  {"role", options.role},
                  {"backend", report.backend},
                  {"threads", report.threads},
                  {"clients", report.outcomes.total()},
                  {"agreed", report.outcomes.agreed()},
                  {"failed", report.outcomes.failed()},
                  {"failed_reasons", failed_reasons(report.outcomes)},
                  {"peer_errors", report.peer_errors.counts()},
                  {"seconds", seconds_of(report)},
                  {"handshakes_per_s", rate(report.outcomes.agreed(), seconds_of(report))},
                  {"limits", report.limits},
                  {"batches", batches_json(report.batches)}});
  if (!latencies.empty()) {
    out["p50_us"] = percentile(latencies, 50);
    out["p99_us"] = percentile(latencies, 99);
  }
  if (!report.steps.empty()) out["stages"] = steps_json(report);
  return out;
}

}  // namespace polykem::cli::net
