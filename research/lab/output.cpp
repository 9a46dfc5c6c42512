// SPDX-License-Identifier: Apache-2.0
#include "output.hpp"

#include <sstream>

#include "text.hpp"

namespace polykem::lab {

namespace {

std::string json_row(const Row& row) {
  const Problem& p = *row.problem;
  std::ostringstream out;
  out << "{\"problem\": " << quoted(p.name) << ", \"n\": " << p.n << ", \"nbar\": " << p.rows << ", \"q\": " << p.q
      << ", \"method\": " << quoted(row.method->name) << ", \"on\": " << quoted(row.method->on) << ", \"shared\": \""
      << sharing_name(row.sharing) << "\", \"items\": " << row.items;
  if (row.seconds > 0) out << ", \"ns\": " << 1e9 * row.seconds << ", \"per_second\": " << 1 / row.seconds;
  if (row.floor > 0) out << ", \"floor_ns\": " << 1e9 * row.floor;
  if (row.cycles > 0) out << ", \"cycles\": " << row.cycles;
  out << resources_json(row.resources) << ", \"used\": " << (row.method->used ? "true" : "false") << "}";
  return out.str();
}

}  // namespace

std::string as_table(const Results& results) {
  std::vector<Cells> lines{{"problem", "n", "shared", "method", "on", "items", "ns", "M/s", "floor ns", "x floor",
                            "cycles", "registers / shared / threads x blocks / occupancy"}};
  for (const Row& row : results.rows) {
    const Problem& p = *row.problem;
    const bool timed = row.seconds > 0, stated = row.floor > 0;
    const std::string n = (p.rows == 1 ? "" : std::to_string(p.rows) + " x ") + std::to_string(p.n);
    lines.push_back({p.name, n, sharing_name(row.sharing),
                     std::string(row.method->name) + (row.method->used ? " *" : ""), row.method->on,
                     std::to_string(row.items), timed ? format("%.4g", 1e9 * row.seconds) : "",
                     timed ? format("%.4g", 1e-6 / row.seconds) : "", stated ? format("%.3g", 1e9 * row.floor) : "",
                     timed && stated ? format("%.2f", row.seconds / row.floor) : "",
                     row.cycles > 0 ? format("%.0f", row.cycles) : "", resources_text(row.resources)});
  }
  return aligned(lines, 5);
}

std::string as_json(const Results& results, const Laboratory& laboratory) {
  const auto rate = [&](Unit unit) { return results.gpu_rates.of[static_cast<size_t>(unit)]; };
  std::ostringstream out;
  out << "{\n \"schema\": \"polykem-lab-1\",\n \"cpu\": " << quoted(cpu_name())
      << ",\n \"gpu\": " << (laboratory.gpu().empty() ? "null" : quoted(laboratory.gpu()))
      << ",\n \"no_gpu\": " << (laboratory.no_gpu().empty() ? "null" : quoted(laboratory.no_gpu())) << ",\n "
      << build_json() << ",\n \"compiler\": " << quoted(__VERSION__) << ",\n \"command\": " << quoted(results.command)
      << ",\n \"complete\": " << (results.complete ? "true" : "false") << ",\n \"planned\": " << results.planned
      << ",\n \"compared\": " << results.compared << ",\n";
  if (results.gpu_rates.bytes > 0)
    out << " \"gpu_rates\": {\"imma\": " << rate(Unit::kImma) << ", \"dp4a\": " << rate(Unit::kDp4a)
        << ", \"dp2a\": " << rate(Unit::kDp2a) << ", \"imad\": " << rate(Unit::kImad)
        << ", \"butterfly\": " << rate(Unit::kButterfly) << ", \"bytes\": " << results.gpu_rates.bytes << "},\n";
  out << " \"records\": [";
  const char* between = "\n  ";
  for (const Row& row : results.rows) {
    out << between << json_row(row);
    between = ",\n  ";
  }
  out << "\n ]\n}\n";
  return out.str();
}

std::string as_list(const Laboratory& laboratory) {
  std::vector<Cells> lines{{"problem", "", "n", "rows", "q"}};
  for (const Problem& p : problems())
    lines.push_back({p.name + (p.usual ? "" : " (if named)"), p.title, std::to_string(p.n), std::to_string(p.rows),
                     std::to_string(p.q)});
  std::string out = aligned(lines, 2) + "\n";
  lines = {{"method", "on", ""}};
  for (const Method* method : laboratory.methods())
    lines.push_back({std::string(method->name) + (method->used ? " *" : ""), method->on, method->idea});
  out += aligned(lines, 3) + "\n* what the library uses\n";
  if (laboratory.gpu().empty()) out += "No methods on a GPU: " + laboratory.no_gpu() + ".\n";
  return out;
}

}  // namespace polykem::lab
