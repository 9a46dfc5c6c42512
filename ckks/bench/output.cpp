// SPDX-License-Identifier: Apache-2.0
#include "output.hpp"

#include <sstream>

#include "research/lab/text.hpp"

namespace polykem::ckks::lab {

namespace {

using polykem::lab::Cells;
using polykem::lab::format;
using polykem::lab::quoted;

std::string json_rates(const Rates& rates) {
  std::ostringstream out;
  out << "{\"bytes\": " << rates.bytes << ", \"slots\": " << rates.slots;
  if (rates.byte_products > 0) out << ", \"byte_products\": " << rates.byte_products;
  for (const auto& [name, rate] : rates.instructions)
    out << ", " << quoted(name) << ": " << rate;
  out << "}";
  return out.str();
}

std::string json_row(const Row& row, const Rates& rates) {
  std::ostringstream out;
  out << "{\"operation\": " << quoted(row.operation) << ", \"on\": " << quoted(row.on);
  if (!row.form.empty()) out << ", \"form\": " << quoted(row.form);
  out << ", \"unit\": " << quoted(row.unit) << ", \"log_n\": " << row.log_n << ", \"bits\": " << row.bits
      << ", \"limbs\": " << row.level.limbs;
  if (row.level.digit_limbs != 0)
    out << ", \"specials\": " << row.level.specials << ", \"digits\": " << row.level.digits();
  out << ", \"batch\": " << row.batch << ", \"ns\": " << 1e9 * row.seconds << ", \"per_second\": " << 1 / row.seconds
      << ", \"floor_ns\": " << 1e9 * floor_of(row.cost, rates) << ", \"limit\": " << quoted(limit_of(row.cost, rates))
      << ", \"bytes\": " << row.cost.bytes << ", \"slots\": " << row.cost.slots
      << ", \"byte_products\": " << row.cost.byte_products;
  if (row.sustained > 0) out << ", \"sustained_ns\": " << 1e9 * row.sustained;
  if (row.launches > 0) out << ", \"launches\": " << row.launches;
  out << resources_json(row.resources) << ", \"used\": " << (row.used ? "true" : "false") << "}";
  return out.str();
}

std::string chain_of(const Row& row) {
  const std::string limbs = std::to_string(row.level.limbs);
  return row.level.digit_limbs == 0 ? limbs : limbs + " + " + std::to_string(row.level.specials);
}

}  // namespace

std::string as_table(const Results& results) {
  std::vector<Cells> lines{{"operation", "form", "on", "N", "bits", "limbs", "batch", "us", "a second", "floor us",
                            "x floor", "limit", "registers / shared / threads x blocks / occupancy"}};
  for (const Row& row : results.rows) {
    const Rates& rates = results.rates.at(row.on);
    const double floor = floor_of(row.cost, rates);
    const std::string form = row.form.empty() ? row.unit : row.form;
    lines.push_back({row.operation, form + (row.used ? " *" : ""), row.on, "2^" + std::to_string(row.log_n),
                     std::to_string(row.bits), chain_of(row), std::to_string(row.batch),
                     format("%.4g", 1e6 * row.seconds), format(row.seconds < 1e-2 ? "%.0f" : "%.3g", 1 / row.seconds),
                     format("%.3g", 1e6 * floor), format("%.2f", row.seconds / floor), limit_of(row.cost, rates),
                     resources_text(row.resources)});
  }
  return polykem::lab::aligned(lines, 3) + "\n* what the library uses\n";
}

std::string as_json(const Results& results) {
  std::ostringstream out;
  out << "{\n \"schema\": \"polykem-lab-ckks-1\",\n \"version\": " << quoted(POLYKEM_LAB_VERSION) << ",\n "
      << polykem::lab::build_json() << ",\n \"compiler\": " << quoted(__VERSION__)
      << ",\n \"command\": " << quoted(results.command) << ",\n \"cpu\": " << quoted(results.cpu)
      << ",\n \"gpu\": " << (results.gpu.empty() ? "null" : quoted(results.gpu))
      << ",\n \"no_gpu\": " << (results.no_gpu.empty() ? "null" : quoted(results.no_gpu))
      << ",\n \"complete\": " << (results.complete ? "true" : "false") << ",\n \"compared\": " << results.compared
      << ",\n \"rates\": {";
  const char* between = "\n  ";
  for (const auto& [name, rates] : results.rates) {
    out << between << quoted(name) << ": " << json_rates(rates);
    between = ",\n  ";
  }
  out << "\n },\n \"records\": [";
  between = "\n  ";
  for (const Row& row : results.rows) {
    out << between << json_row(row, results.rates.at(row.on));
    between = ",\n  ";
  }
  out << "\n ]\n}\n";
  return out.str();
}

}  // namespace polykem::ckks::lab
