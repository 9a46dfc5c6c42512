// SPDX-License-Identifier: Apache-2.0
// NTRU on the GPU: kernels with all data on the card, step by step beside what the hardware allows, then host to host.
//   polykem_bench_cuda_ntru [--items N] [--scheme NAME]... [--json FILE]
// Every run is checked: both sides must have the same secrets.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "engine/cuda/loader.hpp"
#include "host.hpp"
#include "resident.hpp"

namespace polykem::bench {
namespace {

const std::pair<const char*, NtruParams> kSets[] = {
    {"ntruhps4096821", ntru::kHps4096821},   {"ntruhps2048677", ntru::kHps2048677},
    {"ntruhps2048509", ntru::kHps2048509},   {"ntruhrss701", ntru::kHrss701},
    {"ntruhps40961229", ntru::kHps40961229}, {"ntruhrss1373", ntru::kHrss1373},
};

struct SetResult {
  std::string name;
  std::vector<OpResult> ops;
  std::vector<HostResult> host;
};

void print(const SetResult& set, size_t items) {
  for (const OpResult& op : set.ops) {
    std::printf("\n%s %s: %.2f M/s, %zu items on the card (%.1f ns each)\n", set.name.c_str(),
                kOpNames[static_cast<int>(op.op)], op.items_per_second / 1e6, items, 1e9 / op.items_per_second);
    for (const StepResult& step : op.steps) {
      std::printf("  %-22s %8.2f ns  floor %7.2f  x%.1f\n", step.name.c_str(), step.ns_per_item, step.floor,
                  step.ns_per_item / step.floor);
    }
  }
  for (const HostResult& h : set.host) {
    std::printf("%s %s host to host, %zu items%s: %.3f ms, %.2f M/s (PCIe alone %.3f ms)", set.name.c_str(),
                kOpNames[static_cast<int>(h.op)], h.items, h.pinned ? ", pinned" : "", h.milliseconds,
                static_cast<double>(h.items) / h.milliseconds / 1e3, h.pcie_milliseconds);
    if (h.copy_milliseconds > 0) std::printf(" (copies alone %.3f ms)", h.copy_milliseconds);
    if (h.row_milliseconds > 0) std::printf("; in a row %.3f ms each", h.row_milliseconds);
    std::printf("\n");
  }
}

void write_json(const std::string& path, const std::vector<SetResult>& sets, const Rates& rates, size_t items,
                const std::string& device, int devices, const std::string& command) {
  std::ofstream out(path);
  int driver = 0, runtime = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  const char* commit = std::getenv("POLYKEM_COMMIT");
  out << "{\n \"device\": \"" << device << "\", \"devices\": " << devices << ", \"driver\": " << driver
      << ", \"cuda\": " << runtime << ", \"version\": \"" << polykem_version() << "\", \"commit\": \""
      << (commit == nullptr ? "" : commit) << "\",\n \"command\": \"" << command << "\", \"items\": " << items
      << ", \"samples\": " << kSamples << ",\n \"pcie_gb_per_s\": {\"in\": " << rates.in / 1e9
      << ", \"out\": " << rates.out / 1e9 << ", \"both\": " << rates.both / 1e9
      << "}, \"host_copy_gb_per_s\": " << rates.host_copy / 1e9 << ",\n \"sets\": [";
  for (size_t s = 0; s < sets.size(); ++s) {
    out << (s == 0 ? "\n" : ",\n") << "  {\"name\": \"" << sets[s].name << "\", \"resident\": [";
    for (size_t o = 0; o < sets[s].ops.size(); ++o) {
      const OpResult& op = sets[s].ops[o];
      out << (o == 0 ? "\n" : ",\n") << "    {\"op\": \"" << kOpNames[static_cast<int>(op.op)]
          << "\", \"per_second\": " << static_cast<long long>(op.items_per_second) << ", \"steps\": [";
      for (size_t i = 0; i < op.steps.size(); ++i) {
        out << (i == 0 ? "" : ", ") << "{\"name\": \"" << op.steps[i].name << "\", \"ns\": " << op.steps[i].ns_per_item
            << ", \"floor_ns\": " << op.steps[i].floor << "}";
      }
      out << "]}";
    }
    out << "],\n   \"host_to_host\": [";
    for (size_t i = 0; i < sets[s].host.size(); ++i) {
      const HostResult& h = sets[s].host[i];
      out << (i == 0 ? "\n" : ",\n") << "    {\"op\": \"" << kOpNames[static_cast<int>(h.op)]
          << "\", \"items\": " << h.items << ", \"pinned\": " << (h.pinned ? "true" : "false")
          << ", \"ms\": " << h.milliseconds;
      if (h.row_milliseconds > 0) out << ", \"row_ms\": " << h.row_milliseconds;
      if (h.copy_milliseconds > 0) out << ", \"copy_ms\": " << h.copy_milliseconds;
      out << ", \"pcie_ms\": " << h.pcie_milliseconds << "}";
    }
    out << "]}";
  }
  out << "\n ]\n}\n";
}

int run(int argc, char** argv) {
  size_t items = 100000;
  std::string json, command = "polykem_bench_cuda_ntru";
  std::vector<std::string> only;
  constexpr const char* kUsage = "usage: [--items N] [--scheme NAME]... [--json FILE]";
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 == argc) die(kUsage);
    const std::string option = argv[i];
    if (option != "--json") command += " " + option + " " + argv[i + 1];
    if (option == "--items")
      items = std::strtoul(argv[i + 1], nullptr, 10);
    else if (option == "--json")
      json = argv[i + 1];
    else if (option == "--scheme")
      only.emplace_back(argv[i + 1]);
    else
      die(kUsage);
  }
  const auto& module = cuda::loaded_module();
  if (module.table == nullptr) die(module.problem);
  const auto info = module.table->device_info(0);
  const int devices = module.table->device_count();
  std::printf("%d x %s, %d multiprocessors each\n", devices, info.name, info.multiprocessors);
  const Rates rates = measure_rates(devices);
  std::vector<SetResult> results;
  for (const auto& [name, params] : kSets) {
    if (!only.empty() && std::find(only.begin(), only.end(), name) == only.end()) continue;
    SetResult set{name, {}, {}};
    set.ops = Resident(*module.table, name, params, items).run();
    const auto measure = [&](size_t count, bool pinned, bool with_row) {
      for (const auto& h : host_to_host(rates, name, params, count, pinned, with_row))
        set.host.push_back(h);
    };
    measure(1, false, false);
    measure(10000, true, false);
    measure(items, true, true);
    measure(10000, false, false);
    measure(items, false, false);
    print(set, items);
    results.push_back(std::move(set));
  }
  if (!json.empty()) write_json(json, results, rates, items, info.name, devices, command);
  return 0;
}

}  // namespace
}  // namespace polykem::bench

int main(int argc, char** argv) {
  return polykem::bench::run(argc, argv);
}
