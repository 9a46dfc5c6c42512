// SPDX-License-Identifier: Apache-2.0
#include "research/lab/ckks_command.hpp"

#include <chrono>
#include <cstdio>
#include <filesystem>

#include "options.hpp"
#include "output.hpp"
#include "research/lab/draw.hpp"
#include "research/lab/exit_codes.hpp"
#include "research/lab/files.hpp"
#include "research/lab/progress.hpp"
#include "research/lab/text.hpp"

namespace polykem::ckks::lab {

namespace {

using polykem::lab::Exit;

/// The requested devices that this machine has, by their names in rows.
struct Devices {
  std::vector<std::pair<std::string, Device*>> list;
  std::string gpu, no_gpu;
};

Devices open_devices(const Options& options) {
  Devices devices;
  if (options.cpu) devices.list.emplace_back("cpu", &open_core());
  if (!options.cuda) {
    devices.no_gpu = "not asked for";
    return devices;
  }
  Device* gpu = open_gpu(devices.no_gpu);
  if (gpu == nullptr) return devices;
  devices.gpu = gpu->name();
  devices.list.emplace_back("cuda", gpu);
  return devices;
}

std::string json_of_report(const Options& options) {
  return options.report + "/ckks.json";
}

/// Only files that are replaced are written before the end.
void save(const Options& options, const Results& results, bool at_end) {
  const std::string json = as_json(results);
  const auto write = [&](const std::string& path) {
    if (at_end || polykem::lab::is_replaceable(path)) polykem::lab::write_file(path, json);
  };
  if (!options.json.empty() && options.json != "-") write(options.json);
  if (!options.report.empty()) write(json_of_report(options));
  if (at_end && options.json == "-") std::fputs(json.c_str(), stdout);
}

/// Results are saved every few seconds.
void measure(const Options& options, const Devices& devices, Results& results) {
  polykem::lab::Progress progress(0, options.quiet || options.json == "-");
  auto saved = std::chrono::steady_clock::now();
  for (const auto& [name, device] : devices.list) {
    results.rates[name] = device->rates();
    device->time(options.request, [&](const Row& row) {
      results.rows.push_back(row);
      progress.show(row.operation + " " + (row.form.empty() ? row.unit : row.form) + " on " + row.on + ", 2^" +
                    std::to_string(row.log_n) + ", " + std::to_string(row.batch) + " at a time");
      if (std::chrono::steady_clock::now() - saved < std::chrono::seconds(5)) return;
      save(options, results, false);
      saved = std::chrono::steady_clock::now();
    });
  }
  progress.end();
}

/// Returns whether all results were right.
bool check_all(const Options& options, const Devices& devices, Results& results) {
  size_t wrong = 0;
  for (const auto& [name, device] : devices.list) {
    const Checked checked = device->check(options.request);
    results.compared += checked.compared;
    wrong += checked.wrong;
    if (checked.wrong != 0)
      std::fprintf(stderr, "polykem-lab: %zu of %zu numbers are wrong on %s\n", checked.wrong, checked.compared,
                   name.c_str());
  }
  return wrong == 0;
}

void print_table(const Results& results) {
  if (results.gpu.empty()) std::printf("No figures of a GPU: %s.\n", results.no_gpu.c_str());
  std::printf("%s%s%s; %zu numbers compared, all right\n", results.gpu.c_str(),
              results.gpu.empty() || results.cpu.empty() ? "" : " and one core of ", results.cpu.c_str(),
              results.compared);
  if (!results.rows.empty()) std::printf("\n%s", as_table(results).c_str());
}

int run(int argc, char** argv) {
  const Options options = parse_options(argc, argv);
  if (options.help) return std::fputs(kHelp, stdout), Exit::kOk;
  const Devices devices = open_devices(options);
  if (devices.list.empty()) {
    std::fprintf(stderr, "polykem-lab: nothing here can do that; no GPU: %s\n", devices.no_gpu.c_str());
    return Exit::kNothing;
  }
  if (!options.report.empty()) std::filesystem::create_directories(options.report);
  Results results;
  results.command = polykem::lab::command_line("polykem-lab ckks", argc, argv);
  results.cpu = options.cpu ? polykem::lab::cpu_name() : "";
  results.gpu = devices.gpu;
  results.no_gpu = devices.no_gpu;
  if (!check_all(options, devices, results)) return Exit::kWrong;
  if (!options.check_only) measure(options, devices, results);
  results.complete = true;
  save(options, results, true);
  if (!options.quiet && options.json != "-") print_table(results);
  if (!options.report.empty())
    polykem::lab::draw_report(POLYKEM_CKKS_BENCH "/report_ckks.py", json_of_report(options), options.report);
  return Exit::kOk;
}

}  // namespace

}  // namespace polykem::ckks::lab

int polykem::lab::run_ckks(int argc, char** argv) {
  try {
    return ckks::lab::run(argc, argv);
  } catch (const UsageError& error) {
    std::fprintf(stderr, "polykem-lab: %s\n", error.what());
    return Exit::kUsage;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "\npolykem-lab: %s\n", error.what());
    return Exit::kFailed;
  }
}
