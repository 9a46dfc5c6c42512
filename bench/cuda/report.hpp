// SPDX-License-Identifier: Apache-2.0
// The results as text and as JSON.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "host.hpp"
#include "published_rates.hpp"
#include "resident.hpp"

namespace polykem::bench {

struct SetResult {
  Set set;
  size_t items;  ///< items of the batches on the GPU, and of the largest one from the host
  ResidentResult resident;
  std::vector<HostResult> host;
};

/// What applies to all sets of a run.
struct Machine {
  std::string device, command;
  std::string build;  ///< what the module was built from, as members of JSON
  int devices;
  Rates rates;
};

inline double host_per_second(const HostResult& h) {
  return static_cast<double>(h.items) / h.milliseconds * 1e3;
}

inline const char* name_of(Op op) {
  return kOpNames[static_cast<int>(op)];
}

/// Returns the sum of the floors of all steps but wiping, which no specification asks for.
inline double floor_of(const OpResult& op) {
  return std::accumulate(op.steps.begin(), op.steps.end(), 0.0, [](double sum, const StepResult& step) {
    return sum + (step.name == "wipe" ? 0 : step.floor);
  });
}

/// True if the step took less time than its floor says, which is then wrong.
inline bool beats_floor(const StepResult& step) {
  return step.ns_per_item < step.floor;
}

inline bool beats_floors(const std::vector<OpResult>& ops) {
  return std::any_of(ops.begin(), ops.end(),
                     [](const OpResult& op) { return std::any_of(op.steps.begin(), op.steps.end(), beats_floor); });
}

inline void print_op(const SetResult& r, const OpResult& op, bool shared) {
  const double peer = shared ? 0 : peer_per_second(r.set.name(), r.items, op.op), ns = 1e9 / op.items_per_second;
  std::printf("\n%s %s%s: %.3f M/s, %zu items on the GPU (%.1f ns each, floor of its steps %.1f: x%.2f)",
              r.set.info.name, name_of(op.op), shared ? ", one key" : "", op.items_per_second / 1e6, r.items, ns,
              floor_of(op), ns / floor_of(op));
  if (peer > 0) std::printf("; %s %.1f M/s: %.2fx", kPeer, peer / 1e6, op.items_per_second / peer);
  std::printf("\n");
  for (const StepResult& step : op.steps) {
    const double ratio = step.floor > 0 ? step.ns_per_item / step.floor : 0;
    std::printf("  %-22s %10.2f ns  floor %9.2f  x%.1f%s\n", step.name.c_str(), step.ns_per_item, step.floor, ratio,
                beats_floor(step) ? "  (no floor: the step is faster)" : "");
  }
}

inline void print(const SetResult& r) {
  for (const OpResult& op : r.resident.ops)
    print_op(r, op, false);
  for (const OpResult& op : r.resident.shared_ops)
    print_op(r, op, true);
  for (const HostResult& h : r.host) {
    std::printf("%s %s host to host, %zu items%s: %.3f ms, %.3f M/s (PCIe alone %.3f ms)", r.set.info.name,
                name_of(h.op), h.items, h.pinned ? ", pinned" : "", h.milliseconds, host_per_second(h) / 1e6,
                h.pcie_milliseconds);
    if (h.copy_milliseconds > 0) std::printf(" (copies alone %.3f ms)", h.copy_milliseconds);
    if (h.row_milliseconds > 0) std::printf("; in a row %.3f ms each", h.row_milliseconds);
    if (const double peer = host_peer_per_second(r.set.name(), h.items, h.op); peer > 0)
      std::printf("; %s %.2f M/s: %.1fx", kHostPeer, peer / 1e6, host_per_second(h) / peer);
    std::printf("\n");
  }
}

inline void write_ops(std::ostream& out, const SetResult& r, const std::vector<OpResult>& ops, bool shared) {
  for (size_t o = 0; o < ops.size(); ++o) {
    const OpResult& op = ops[o];
    const double peer = shared ? 0 : peer_per_second(r.set.name(), r.items, op.op);
    out << (o == 0 ? "\n" : ",\n") << "    {\"op\": \"" << name_of(op.op)
        << "\", \"per_second\": " << static_cast<long long>(op.items_per_second);
    if (peer > 0)
      out << ", \"peer\": \"" << kPeer << "\", \"peer_per_second\": " << static_cast<long long>(peer)
          << ", \"ratio\": " << op.items_per_second / peer;
    out << ", \"steps\": [";
    for (size_t i = 0; i < op.steps.size(); ++i) {
      out << (i == 0 ? "" : ", ") << "{\"name\": \"" << op.steps[i].name << "\", \"ns\": " << op.steps[i].ns_per_item
          << ", \"floor_ns\": " << op.steps[i].floor << "}";
    }
    out << "]}";
  }
}

inline void write_host(std::ostream& out, const SetResult& r) {
  for (size_t i = 0; i < r.host.size(); ++i) {
    const HostResult& h = r.host[i];
    out << (i == 0 ? "\n" : ",\n") << "    {\"op\": \"" << name_of(h.op) << "\", \"items\": " << h.items
        << ", \"pinned\": " << (h.pinned ? "true" : "false") << ", \"ms\": " << h.milliseconds;
    if (h.row_milliseconds > 0) out << ", \"row_ms\": " << h.row_milliseconds;
    if (h.copy_milliseconds > 0) out << ", \"copy_ms\": " << h.copy_milliseconds;
    if (const double peer = host_peer_per_second(r.set.name(), h.items, h.op); peer > 0)
      out << ", \"peer\": \"" << kHostPeer << "\", \"peer_per_second\": " << static_cast<long long>(peer)
          << ", \"ratio\": " << host_per_second(h) / peer;
    out << ", \"pcie_ms\": " << h.pcie_milliseconds << "}";
  }
}

/// "items" is given for each set and, if all sets have the same number, also at the top.
inline void write_json(const std::string& path, const std::vector<SetResult>& sets, const Machine& machine) {
  std::ofstream out(path);
  int driver = 0, runtime = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  const Rates& rates = machine.rates;
  out << "{\n \"device\": \"" << machine.device << "\", \"devices\": " << machine.devices << ", \"driver\": " << driver
      << ", \"cuda\": " << runtime << ", \"version\": \"" << polykem_version() << "\", " << machine.build
      << ",\n \"command\": \"" << machine.command << "\"";
  const auto same = [&](const SetResult& r) { return r.items == sets.front().items; };
  if (std::all_of(sets.begin(), sets.end(), same)) out << ", \"items\": " << sets.front().items;
  out << ", \"samples\": " << kSamples << ",\n \"pcie_gb_per_s\": {\"in\": " << rates.in / 1e9
      << ", \"out\": " << rates.out / 1e9 << ", \"both\": " << rates.both / 1e9
      << "}, \"host_copy_gb_per_s\": " << rates.host_copy / 1e9 << ",\n \"sets\": [";
  for (size_t s = 0; s < sets.size(); ++s) {
    const SetResult& r = sets[s];
    out << (s == 0 ? "\n" : ",\n") << "  {\"name\": \"" << r.set.name() << "\", \"family\": \"" << r.set.family()
        << "\", \"items\": " << r.items << ", \"resident\": [";
    write_ops(out, r, r.resident.ops, false);
    if (!r.resident.shared_ops.empty()) {
      out << "],\n   \"shared_key\": [";
      write_ops(out, r, r.resident.shared_ops, true);
    }
    out << "],\n   \"host_to_host\": [";
    write_host(out, r);
    out << "]}";
  }
  out << "\n ]\n}\n";
  out.close();
  if (!out) die("cannot write " + path);
}

}  // namespace polykem::bench
