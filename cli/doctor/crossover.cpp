// SPDX-License-Identifier: Apache-2.0
#include "doctor/crossover.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>

#include "common/context.hpp"
#include "common/progress.hpp"
#include "common/streams.hpp"
#include "common/table.hpp"
#include "common/terminal.hpp"

namespace polykem::cli {
namespace {

constexpr const char* kGpu = "cuda";

polykem_backend_info_t gpu_backend() {
  polykem_backend_info_t info{};
  info.struct_size = sizeof info;
  for (std::size_t i = 0; i < polykem_backend_count(); ++i) {
    check(polykem_backend_info(i, &info), "backend");
    if (std::strcmp(info.name, kGpu) == 0) return info;
  }
  return {};
}

std::vector<Scheme> schemes_with_gpu() {
  std::vector<Scheme> out;
  if (gpu_backend().available == 0) return out;
  const Context context(1, kGpu);
  for (const Scheme& scheme : all_sets()) {
    if (context.backend(scheme) == kGpu) out.push_back(scheme);
  }
  return out;
}

using Ops = std::array<polykem_op, 3>;

Ops ops_of(const Scheme& scheme) {
  return scheme.is_signature() ? Ops{POLYKEM_KEYGEN, POLYKEM_SIGN, POLYKEM_VERIFY}
                               : Ops{POLYKEM_KEYGEN, POLYKEM_ENCAPS, POLYKEM_DECAPS};
}

std::string in_words(std::size_t items) {
  return items == SIZE_MAX ? "never" : with_commas(items);
}

}  // namespace

std::vector<Crossover> crossovers() {
  std::vector<Crossover> out;
  for (const Scheme& scheme : schemes_with_gpu()) {
    Crossover entry{scheme, {}, false};
    int measured = 0;
    const Ops ops = ops_of(scheme);
    for (std::size_t i = 0; i < ops.size(); ++i)
      check(polykem_crossover(scheme.handle(), ops[i], &entry.items[i], &measured), "crossover");
    entry.measured = measured != 0;
    out.push_back(entry);
  }
  return out;
}

void tune_crossovers(bool silent) {
  const std::vector<Scheme> schemes = schemes_with_gpu();
  if (schemes.empty()) {
    const char* needs = gpu_backend().requirements;
    throw CliError(kExitBackend, "there is no GPU to compare with",
                   fmt::format("the backend cuda needs {}", needs == nullptr ? "a library that has it" : needs));
  }
  Progress progress("tune", schemes.size(), "sets", silent, Progress::Rate::kHidden);
  std::uint64_t done = 0;
  for (const Scheme& scheme : schemes) {
    check(polykem_tune(scheme.handle()), scheme.name());
    progress.update(++done, scheme.name());
  }
}

void print_crossovers(const std::vector<Crossover>& all) {
  if (all.empty()) return;
  Table table(
      {{"items for the GPU", Align::kLeft}, {"keygen"}, {"encaps, sign"}, {"decaps, verify"}, {"", Align::kLeft}});
  for (const Crossover& entry : all) {
    table.row({entry.scheme.name(), in_words(entry.items[0]), in_words(entry.items[1]), in_words(entry.items[2]),
               entry.measured ? "measured" : "guessed"});
  }
  print_out("{}{}\n", table.render_text(text_columns()),
            wrap_lines(fmt::format("  {}\n", polykem_crossover_note()), text_columns(), 2));
}

Json crossovers_as_json(const std::vector<Crossover>& all) {
  Json sets = Json::array();
  const auto number = [](std::size_t items) { return items == SIZE_MAX ? Json(nullptr) : Json(items); };
  for (const Crossover& entry : all) {
    Json set{{"name", entry.scheme.name()}};
    const Ops ops = ops_of(entry.scheme);
    for (std::size_t i = 0; i < ops.size(); ++i)
      set[op_name(ops[i])] = number(entry.items[i]);
    set["measured"] = entry.measured;
    sets.push_back(set);
  }
  return {{"note", polykem_crossover_note()}, {"sets", sets}};
}

}  // namespace polykem::cli
