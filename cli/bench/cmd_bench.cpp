// SPDX-License-Identifier: Apache-2.0
// polykem bench: operations per second by set, operation, batch size and key mode.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <memory>

#include "bench/commands.hpp"
#include "bench/disturbance.hpp"
#include "bench/measure.hpp"
#include "commands.hpp"
#include "common/context.hpp"
#include "common/options.hpp"
#include "common/progress.hpp"
#include "common/streams.hpp"
#include "common/table.hpp"
#include "common/workload.hpp"

namespace polykem::cli {
namespace {

constexpr const char* kBenchFooter =
    "Examples:\n"
    "  polykem bench --scheme mlkem768\n"
    "  polykem bench --all --op decaps --batch 1,64,4096 --json bench.json\n"
    "  polykem bench --scheme mlkem1024 --op encaps --keys both --threads 1 --backend ref\n"
    "  polykem bench --scheme mldsa65 --op sign,verify\n"
    "\n"
    "Each figure is the median of repeated calls, timed from host to host memory; results are verified afterwards.\n"
    "Spread: the interquartile range of the calls over their median. Doubtful figures are marked, with the reason:\n"
    "a large spread, too little CPU time, a larger batch that is slower.\n"
    "Outputs go to memory that was used before: large batches into fresh memory take longer, see the user guide.\n"
    "A figure takes --seconds, up to three times that if keys must be made first, and at least one batch.\n"
    "Messages that are signed have 32 bytes.\n"
    "Keys: 'per-item' gives every item its own key, 'shared' one key to the whole batch.";

struct BenchOptions {
  CommonOptions common;
  std::string schemes;
  std::string ops = "all";
  std::string batches = "1,64,1024";
  std::string keys = "per-item";
  std::string format = "text";
  double seconds = 0.5;
  std::size_t memory_mib = Workload::kMemory >> 20;
  bool all = false;
};

std::vector<std::size_t> parse_batches(const std::string& list) {
  std::vector<std::size_t> out;
  for (const std::string& word : split(list, ',')) {
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || value == 0) {
      throw CliError(kExitUsage, fmt::format("--batch: '{}' is not a number from 1 up", word),
                     "for example: --batch 1,64,1024");
    }
    out.push_back(value);
  }
  if (out.empty()) throw CliError(kExitUsage, "--batch names no size", "for example: --batch 1,64,1024");
  return out;
}

std::vector<KeyMode> parse_keys(const std::string& word) {
  if (word == "per-item") return {KeyMode::kPerItem};
  if (word == "shared") return {KeyMode::kShared};
  return {KeyMode::kPerItem, KeyMode::kShared};
}

std::vector<BenchPoint> points_of(const BenchOptions& options) {
  std::vector<BenchPoint> out;
  for (const Scheme& scheme : open_schemes(options.all ? "all" : options.schemes)) {
    for (const polykem_op op : parse_ops(options.ops)) {
      for (const KeyMode keys : parse_keys(options.keys)) {
        // A key pair is always made for one item: there is no shared form of keygen.
        if ((op == POLYKEM_KEYGEN && keys == KeyMode::kShared) || !has_op(scheme, op)) continue;
        for (const std::size_t count : parse_batches(options.batches))
          out.push_back({scheme, op, count, keys});
      }
    }
  }
  if (out.empty()) {
    throw CliError(kExitUsage, "nothing to measure: these sets lack the operation, or keygen has no shared key",
                   "KEMs have keygen, encaps and decaps, signatures keygen, sign and verify; use --keys per-item");
  }
  return out;
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  const std::size_t n = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text, n};
}

Json as_json(const std::vector<BenchRow>& rows, const Context& context, const BenchOptions& options) {
  Json result = json_header("polykem-bench-1");
  result["date"] = utc_now();
  result["threads"] = context.threads();
  result["outputs"] = "memory used before";
  result["command"] = fmt::format("polykem bench {} --op {} --batch {} --keys {} --seconds {} --threads {}{}{}",
                                  options.all ? "--all" : "--scheme " + options.schemes, options.ops, options.batches,
                                  options.keys, options.seconds, options.common.threads,
                                  options.common.backend.empty() ? "" : " --backend ", options.common.backend);
  result["failures"] = describe_failures();
  result["records"] = Json::array();
  for (const BenchRow& row : rows) {
    result["records"].push_back({{"scheme", row.point.scheme.name()},
                                 {"op", op_name(row.point.op)},
                                 {"backend", row.backend},
                                 {"count", row.point.count},
                                 {"in_flight", row.result.in_flight},
                                 {"keys", key_mode_name(row.point.keys)},
                                 {"mode", "host"},
                                 {"ops_per_s", row.result.ops_per_second},
                                 {"median_s", row.result.median_seconds},
                                 {"best_s", row.result.best_seconds},
                                 {"q1_s", row.result.first_quartile},
                                 {"q3_s", row.result.third_quartile},
                                 {"worst_s", row.result.worst_seconds},
                                 {"spread", row.result.runs < kMinRuns ? Json(nullptr) : Json(row.result.spread())},
                                 {"cpus_used", row.result.cpu_share},
                                 {"waited_for_cpu", row.result.waited_share},
                                 {"doubt", doubt(row, rows)},
                                 {"runs", row.result.runs},
                                 {"verified", row.result.checked},
                                 {"device", result["device"]},
                                 {"threads", context.threads()},
                                 {"commit", result["commit"]}});
  }
  return result;
}

Table as_table(const std::vector<BenchRow>& rows, bool rules) {
  Table table({{"set", Align::kLeft},
               {"op", Align::kLeft},
               {"backend", Align::kLeft},
               {"keys", Align::kLeft},
               {"batch", Align::kRight},
               {"ops/s", Align::kRight},
               {"spread", Align::kRight},
               {"per op", Align::kRight},
               {"per batch", Align::kRight}});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const BenchRow& row = rows[i];
    if (rules && i > 0 && rows[i - 1].point.scheme != row.point.scheme) table.rule();
    table.row({row.point.scheme.name(), op_name(row.point.op), row.backend, key_mode_name(row.point.keys),
               with_commas(row.point.count), significant(row.result.ops_per_second),
               row.result.runs < kMinRuns ? "-" : fmt::format("{:.1f} %", row.result.spread() * 100),
               duration(row.result.median_seconds / static_cast<double>(row.point.count)),
               duration(row.result.median_seconds)});
  }
  return table;
}

/// Says which batches were larger than the memory limit and ran in parts.
void print_parts(const std::vector<BenchRow>& rows, const BenchOptions& options) {
  std::vector<std::string> parts;
  for (const BenchRow& row : rows) {
    if (row.result.in_flight == row.point.count) continue;
    parts.push_back(fmt::format("  {} {} of {}: {} at a time\n", row.point.scheme.name(), op_name(row.point.op),
                                with_commas(row.point.count), with_commas(row.result.in_flight)));
  }
  if (parts.empty()) return;
  print_out("\nThese batches ran in parts, to hold no more than {} MiB of records (--memory):\n{}", options.memory_mib,
            fmt::join(parts, ""));
}

void print_bench(const std::vector<BenchRow>& rows, const Context& context, const BenchOptions& options,
                 TableFormat format) {
  if (format == TableFormat::kText) {
    print_out("{}, {} thread{}\noutputs to memory used before\n\n", cpu_model(), context.threads(),
              context.threads() == 1 ? "" : "s");
  }
  print_out("{}", as_table(rows, format == TableFormat::kText).render(format));
  if (format == TableFormat::kText) print_parts(rows, options);
}

int run_bench(const BenchOptions& options) {
  const TableFormat format = parse_table_format(options.format);
  const std::vector<BenchPoint> points = points_of(options);
  const Context context = open_context(options.common.threads, options.common.backend);
  const bool silent = options.common.quiet || json_to_stdout(options.common.json);
  std::vector<BenchRow> rows;
  Progress progress("bench", points.size(), "points", silent, Progress::Rate::kHidden);
  for (const BenchPoint& point : points) {
    progress.update(rows.size(), fmt::format("{} {} x {}", point.scheme.name(), op_name(point.op), point.count));
    const std::string backend = backend_for(context, point.scheme, options.common.backend);
    rows.push_back({point, measure(context, point, options.seconds, options.memory_mib << 20), backend});
  }
  progress.finish();
  write_json(options.common.json, as_json(rows, context, options));
  if (!silent) print_bench(rows, context, options, format);
  flush_output();
  if (options.common.quiet) return kExitOk;
  for (const std::string& sentence : doubts(rows))
    print_error("polykem: doubtful: {}\n", sentence);
  print_error("{}", describe_failures());
  return kExitOk;
}

}  // namespace

void register_bench(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App* command = app.add_subcommand("bench", "Measure operations per second");
  command->footer(kBenchFooter);
  CLI::Option* scheme =
      command->add_option("-s,--scheme", options->schemes, "Parameter sets or families, separated by commas")
          ->type_name("NAMES");
  command->add_flag("--all", options->all, "All parameter sets")->excludes(scheme);
  command->add_option("--op", options->ops, "keygen, encaps, decaps, sign, verify or all (default)")->type_name("OPS");
  command->add_option("--batch", options->batches, "Batch sizes, separated by commas (default 1,64,1024)")
      ->type_name("N,...");
  command->add_option("--keys", options->keys, "per-item (default), shared or both")
      ->check(CLI::IsMember({"per-item", "shared", "both"}))
      ->type_name("K");
  command->add_option("--seconds", options->seconds, "Minimum time for each figure (default 0.5)")
      ->check(within(0.0, 3600.0))
      ->type_name("S");
  command
      ->add_option("--memory", options->memory_mib,
                   "Limit of memory for records, in MiB (default 1024); a larger batch runs in parts")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 24))
      ->type_name("MIB");
  add_format(*command, options->format);
  add_backend(*command, options->common);
  add_threads(*command, options->common, 0);
  add_json(*command, options->common);
  add_quiet(*command, options->common);
  add_frodo_scaling(*command, exit_code);
  command->callback([command, options, &exit_code] {
    if (command->get_subcommands().empty()) exit_code = run_guarded([&] { return run_bench(*options); });
  });
}

}  // namespace polykem::cli
