// SPDX-License-Identifier: Apache-2.0
#include "profile/steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/context.hpp"

namespace polykem::cli {
namespace {

constexpr std::array kSteps = {"OS randomness",  "hash",      "gen A",    "product",
                               "gen A, product", "inversion", "sampling", "rest"};
constexpr std::size_t kGenA = 2, kProduct = 3, kGenAAndProduct = 4;
constexpr std::size_t kRest = kSteps.size() - 1;

/// Assigns stages to steps by the beginning or end of their names. The first pattern that matches counts.
struct Pattern {
  const char* text;
  bool at_end;
  std::size_t step;
};
constexpr Pattern kPatterns[] = {
    {"randombytes", false, 0}, {"shake", false, 1},  {"sha3", false, 1},       {"sha256", false, 1},
    {"prg", false, 1},         {"gen_a", false, 2},  {"gen_matrix", false, 2}, {"sample_ntt", false, 2},
    {"expand_a", false, 2},    {"matmul", false, 3}, {"multiply", false, 3},   {"expand", false, 6},
    {"_mul", true, 3},         {"ntt", true, 3},     {"inner_prod", false, 3}, {"poly_aff", false, 3},
    {"_inv", true, 5},         {"sample", false, 6}, {"gen_secret", false, 6}, {"gen_psi", false, 6},
};

std::size_t step_of_stage(const std::string& stage) {
  const std::string name = stage.substr(0, stage.find('.'));
  for (const Pattern& pattern : kPatterns) {
    const std::string text = pattern.text;
    if (name.size() < text.size()) continue;
    if (name.compare(pattern.at_end ? name.size() - text.size() : 0, text.size(), text) == 0) return pattern.step;
  }
  return kRest;
}

std::size_t step_of_row(const StageTime& row) {
  const std::size_t step = row.covers.empty() ? kRest : step_of_stage(row.covers.front());
  const bool alike = std::all_of(row.covers.begin(), row.covers.end(),
                                 [&](const std::string& stage) { return step_of_stage(stage) == step; });
  if (alike) return step;
  return step == kGenA && step_of_stage(row.covers.back()) == kProduct ? kGenAAndProduct : kRest;
}

double total_of(const OpProfile& profile) {
  return static_cast<double>(std::max<std::uint64_t>(profile.total_nanoseconds(), 1));
}

std::string step_share_text(double share) {
  return share < 10 ? fmt::format("{:.1f}", share) : fmt::format("{:.0f}", share);
}

/// The steps in which at least one operation spends time.
std::vector<std::size_t> used_steps(const std::vector<SchemeProfile>& profiles) {
  std::vector<std::size_t> out;
  for (std::size_t step = 0; step < kSteps.size(); ++step) {
    const bool used = std::any_of(profiles.begin(), profiles.end(), [&](const SchemeProfile& profile) {
      return std::any_of(profile.ops.begin(), profile.ops.end(),
                         [&](const OpProfile& op) { return steps_of(op)[step].nanoseconds > 0; });
    });
    if (used) out.push_back(step);
  }
  return out;
}

}  // namespace

std::vector<StepTime> steps_of(const OpProfile& profile) {
  std::vector<StepTime> out;
  for (const char* name : kSteps)
    out.push_back({name, 0});
  for (const StageTime& row : profile.stages)
    out[step_of_row(row)].nanoseconds += row.nanoseconds;
  out[kRest].nanoseconds += profile.total_nanoseconds() - profile.stage_nanoseconds();
  return out;
}

Table steps_table(const std::vector<SchemeProfile>& profiles, std::size_t per) {
  const std::vector<std::size_t> steps = used_steps(profiles);
  std::vector<Table::Column> columns = {{"set", Align::kLeft}, {"op", Align::kLeft}, {"backend", Align::kLeft}};
  for (const std::size_t step : steps) {
    columns.push_back({kSteps[step]});
    columns.push_back({"%"});
  }
  columns.push_back({"total"});
  Table table(columns);
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    if (i > 0 && profiles[i].scheme != profiles[i - 1].scheme) table.rule();
    for (const OpProfile& op : profiles[i].ops) {
      const double scale = 1e-6 * static_cast<double>(per) / static_cast<double>(op.count);
      const std::vector<StepTime> times = steps_of(op);
      std::vector<std::string> cells = {profiles[i].scheme.name(), op_name(op.op), profiles[i].backend};
      for (const std::size_t step : steps) {
        const auto ns = static_cast<double>(times[step].nanoseconds);
        cells.push_back(ns > 0 ? significant(ns * scale) : "-");
        cells.push_back(ns > 0 ? step_share_text(100 * ns / total_of(op)) : "-");
      }
      cells.push_back(significant(total_of(op) * scale));
      table.row(cells);
    }
  }
  return table;
}

Json steps_as_json(const OpProfile& profile) {
  Json out = Json::array();
  for (const StepTime& step : steps_of(profile)) {
    const auto ns = static_cast<double>(step.nanoseconds);
    out.push_back({{"step", step.name}, {"ns", step.nanoseconds}, {"share", ns / total_of(profile)}});
  }
  return out;
}

}  // namespace polykem::cli
