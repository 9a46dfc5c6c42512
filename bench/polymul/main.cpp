// SPDX-License-Identifier: Apache-2.0
// polykem_bench_polymul: every way to multiply polynomials of NTRU, on the GPU, else on this CPU.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <csignal>

#include "common/context.hpp"
#include "common/exit_codes.hpp"
#include "common/options.hpp"
#include "common/progress.hpp"
#include "common/table.hpp"
#include "polymul/polymul.hpp"

namespace polykem::cli {
namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  polykem_bench_polymul\n"
    "  polykem_bench_polymul --n 821 --batch 1,1000,100000 --json polymul.json\n"
    "\n"
    "Each product is checked against the portable one first. The floor is the time that its multiplications, or its\n"
    "bytes where they take longer, need at the rate of the unit that does them; the arrow marks what the library "
    "uses.\n"
    "Without a GPU (or with --cpu) it measures the products of this CPU, one core, in core cycles.";

struct PolymulOptions {
  CommonOptions common;
  std::string degrees;
  std::string batches = "1,1000,10000,100000";
  std::string format = "text";
  bool cpu = false;
};

std::vector<std::size_t> numbers(const std::string& list, const char* option) {
  std::vector<std::size_t> out;
  for (const std::string& word : split(list, ',')) {
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || value == 0 || value > 10'000'000) {
      throw CliError(kExitUsage, fmt::format("{}: '{}' is not a number from 1 to 10,000,000", option, word));
    }
    out.push_back(value);
  }
  return out;
}

std::vector<std::size_t> degrees_of(const PolymulOptions& options) {
  std::vector<std::size_t> out = numbers(options.degrees, "--n");
  for (const std::size_t n : out) {
    if (n != 509 && n != 677 && n != 701 && n != 821 && n != 1229 && n != 1373) {
      throw CliError(kExitUsage, fmt::format("--n: no set of NTRU has degree {}", n),
                     "there are 509, 677, 701, 821, 1229 and 1373");
    }
  }
  return out;
}

Table as_table(const bench::PolymulReport& report) {
  Table table({{"n"},
               {"operands", Align::kLeft},
               {"shared", Align::kLeft},
               {"on", Align::kLeft},
               {"multiplier", Align::kLeft},
               {"batch"},
               {report.time_unit},
               {"floor"},
               {"x floor"},
               {"", Align::kLeft}});
  for (const bench::PolymulRow& row : report.rows) {
    const bool stated = row.floor > 0;
    table.row({fmt::format("{}", row.n), row.kind, row.shared, row.unit, row.multiplier, with_commas(row.batch),
               significant(row.time), stated ? significant(row.floor) : "",
               stated ? fmt::format("{:.2f}", row.time / row.floor) : "", row.chosen ? "<- used" : ""});
  }
  return table;
}

Json as_json(const bench::PolymulReport& report, const std::string& no_gpu) {
  Json result = json_header("polykem-bench-polymul-1");
  result["gpu"] = report.device.empty() ? Json(nullptr) : Json(report.device);
  result["no_gpu"] = no_gpu.empty() ? Json(nullptr) : Json(no_gpu);
  result["ceilings"] = report.ceilings;
  result["time_unit"] = report.time_unit;
  result["checked"] = report.checked;
  result["records"] = Json::array();
  for (const bench::PolymulRow& row : report.rows) {
    result["records"].push_back({{"n", row.n},
                                 {"kind", row.kind},
                                 {"shared", row.shared},
                                 {"on", row.unit},
                                 {"multiplier", row.multiplier},
                                 {"batch", row.batch},
                                 {"time", row.time},
                                 {"floor", row.floor > 0 ? Json(row.floor) : Json(nullptr)},
                                 {"used", row.chosen}});
  }
  return result;
}

int run_polymul(const PolymulOptions& options) {
  const TableFormat format = parse_table_format(options.format);
  bench::PolymulRequest request;
  request.degrees = degrees_of(options);
  request.batches = numbers(options.batches, "--batch");
  const bool silent = options.common.quiet || json_to_stdout(options.common.json);
  std::uint64_t rows = 0;
  Progress progress("polymul", 0, "products", silent, Progress::Rate::kHidden);
  const auto show = [&](const bench::PolymulRow& row) {
    progress.update(++rows, fmt::format("n = {} {} {}", row.n, row.kind, row.multiplier));
  };
  std::string no_gpu = "asked for the CPU";
  bench::PolymulReport report;
  if (!options.cpu) {
    report = bench::polymul_on_gpu(request, show);
    no_gpu = report.wrong || !report.rows.empty() ? "" : report.problem;
  }
  if (!no_gpu.empty()) report = bench::polymul_on_cpu(request, show);
  progress.finish();
  if (report.wrong) throw CliError(kExitCheckFailed, "wrong product: " + report.problem, "please report this");
  if (report.rows.empty()) throw CliError(kExitBackend, "nothing to measure here: " + report.problem);
  write_json(options.common.json, as_json(report, no_gpu));
  if (silent) return kExitOk;
  if (format == TableFormat::kText) {
    if (!no_gpu.empty()) fmt::print("No products on a GPU: {}.\n", no_gpu);
    fmt::print("{}{}\n", report.device.empty() ? cpu_model() + ", one core" : report.device,
               report.ceilings.empty() ? "" : "; " + report.ceilings);
    fmt::print("{} combinations checked, all right\n\n", report.checked);
  }
  fmt::print("{}", as_table(report).render(format));
  return kExitOk;
}

int run(int argc, char** argv) {
  CLI::App app{"Measure every way to multiply polynomials of NTRU.", "polykem_bench_polymul"};
  PolymulOptions options;
  app.footer(kFooter);
  app.add_option("--n", options.degrees, "Degrees, separated by commas (default all)")->type_name("N,...");
  app.add_option("--batch", options.batches, "Products of one launch, on a GPU (default 1,1000,10000,100000)")
      ->type_name("N,...");
  app.add_flag("--cpu", options.cpu, "The products of this CPU, even where there is a GPU");
  app.add_option("--format", options.format, "text (default), markdown or csv")->type_name("F");
  add_json(app, options.common);
  add_quiet(app, options.common);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);
    throw CliError(kExitUsage, e.what(), "'polykem_bench_polymul --help' shows the options");
  }
  return run_polymul(options);
}

}  // namespace
}  // namespace polykem::cli

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  return polykem::cli::run_guarded([&] { return polykem::cli::run(argc, argv); });
}
