// SPDX-License-Identifier: Apache-2.0
// polykem bench frodo-scaling: FrodoKEM's matrix and its product at growing dimensions.
#include <fmt/format.h>

#include <charconv>
#include <memory>

#include "bench/commands.hpp"
#include "common/context.hpp"
#include "common/options.hpp"
#include "common/output.hpp"
#include "common/progress.hpp"
#include "common/streams.hpp"
#include "common/table.hpp"
#include "frodo_scaling/scaling.hpp"

namespace polykem::cli {
namespace {

constexpr const char* kFrodoScalingFooter =
    "Examples:\n"
    "  polykem bench frodo-scaling --svg scaling.svg --json scaling.json\n"
    "  polykem bench frodo-scaling --n 640,1344 --size 1344 --width 8,64\n"
    "\n"
    "Generates A (n x n) with AES-128 and with SHAKE128, and multiplies an A by S (n x n-bar), on one core, with "
    "every\n"
    "backend that can run here. Each result is compared word by word with that of 'ref'; times are the best of the "
    "runs.";

struct ScalingOptions {
  CommonOptions common;
  std::string dimensions = "640,976,1344,2048,4096,6144";
  std::string sizes = "640,976,1344,2048,3200";
  std::string widths = "8,16,64,320,1344,3200";
  std::string format = "text";
  std::string svg;
  double seconds = 0.2;
};

std::vector<std::size_t> multiples(const std::string& list, const char* option, std::size_t of, std::size_t max) {
  std::vector<std::size_t> out;
  for (const std::string& word : split(list, ',')) {
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || value == 0 || value % of != 0 || value > max) {
      throw CliError(kExitUsage,
                     fmt::format("{}: '{}' is not a multiple of {} up to {}", option, word, of, with_commas(max)));
    }
    out.push_back(value);
  }
  return out;
}

Table as_table(const bench::ScalingReport& report) {
  Table table({{"part", Align::kLeft}, {"n"}, {"n-bar"}, {"backend", Align::kLeft}, {"ms"}, {"x ref"}});
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    const bench::ScalingRow& row = report.rows[i];
    if (i > 0 && row.part != report.rows[i - 1].part) table.rule();
    table.row({row.part, with_commas(row.n), row.width == 0 ? "" : with_commas(row.width), row.backend,
               significant(row.milliseconds), significant(row.speedup)});
  }
  return table;
}

Json as_json(const bench::ScalingReport& report, const ScalingOptions& options) {
  Json result = json_header("polykem-bench-frodo-scaling-1");
  result["threads"] = 1;
  result["command"] = fmt::format("polykem bench frodo-scaling --n {} --size {} --width {} --seconds {}",
                                  options.dimensions, options.sizes, options.widths, options.seconds);
  result["checked"] = report.checked;
  result["records"] = Json::array();
  for (const bench::ScalingRow& row : report.rows) {
    Json record{
        {"part", row.part}, {"n", row.n}, {"backend", row.backend}, {"ms", row.milliseconds}, {"speedup", row.speedup}};
    if (row.width != 0) record["nbar"] = row.width;
    result["records"].push_back(record);
  }
  return result;
}

void write_svg(const std::string& path, const std::string& text, bool force) {
  OutputFiles out(force);
  out.add(path, FileMode::kPublic);
  out.open();
  out.write(0, ByteView(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
  out.commit();
}

int run_scaling(const ScalingOptions& options) {
  const TableFormat format = parse_table_format(options.format);
  const bench::ScalingRequest request{multiples(options.dimensions, "--n", 8, 65536),
                                      multiples(options.sizes, "--size", 8, 16384),
                                      multiples(options.widths, "--width", 1, 16384), options.seconds};
  if (!options.svg.empty()) check_output_path(options.svg, options.common.json.force);
  const bool silent = options.common.quiet || json_to_stdout(options.common.json) || is_standard_output(options.svg);
  std::uint64_t done = 0;
  Progress progress("frodo-scaling", bench::scaling_points(request), "figures", silent, Progress::Rate::kHidden);
  const bench::ScalingReport report =
      bench::measure_scaling(request, [&](const std::string& part, std::size_t n, std::size_t width) {
        progress.update(done++, fmt::format("{} n = {}{}", part, n, width == 0 ? "" : fmt::format(" x {}", width)));
      });
  progress.finish();
  if (!report.problem.empty()) {
    throw CliError(kExitCheckFailed, "wrong matrix: " + report.problem, "please report this");
  }
  write_json(options.common.json, as_json(report, options));
  if (!options.svg.empty())
    write_svg(options.svg, bench::plot_scaling(report, "FrodoKEM beyond its sets, one core"),
              options.common.json.force);
  if (silent) return kExitOk;
  if (format == TableFormat::kText) {
    print_out("{}, one core; {} matrices compared with ref's, all right\n\n", cpu_model(), report.checked);
  }
  print_out("{}", as_table(report).render(format));
  return kExitOk;
}

}  // namespace

void add_frodo_scaling(CLI::App& bench, int& exit_code) {
  auto options = std::make_shared<ScalingOptions>();
  CLI::App* command = bench.add_subcommand("frodo-scaling", "Measure FrodoKEM's matrix and product as they grow");
  command->footer(kFrodoScalingFooter);
  command->add_option("--n", options->dimensions, "Dimensions of A to generate (default 640 to 6144)")
      ->type_name("N,...");
  command->add_option("--size", options->sizes, "Dimensions of A to multiply (default 640 to 3200)")
      ->type_name("N,...");
  command->add_option("--width", options->widths, "Columns of S, n-bar (default 8 to 3200)")->type_name("N,...");
  command->add_option("--seconds", options->seconds, "Minimum time for each figure except those of ref (default 0.2)")
      ->check(within(0.0, 3600.0))
      ->type_name("S");
  command->add_option("--svg", options->svg, "Write both plots to FILE")->type_name("FILE");
  add_format(*command, options->format);
  add_json(*command, options->common);
  add_quiet(*command, options->common);
  command->callback([options, &exit_code] { exit_code = run_guarded([&] { return run_scaling(*options); }); });
}

}  // namespace polykem::cli
