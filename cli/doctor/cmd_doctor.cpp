// SPDX-License-Identifier: Apache-2.0
// polykem doctor: shows what this machine has, which backend would run and why, and whether it works.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

#include "commands.hpp"
#include "common/build_commit.hpp"
#include "common/context.hpp"
#include "common/options.hpp"
#include "common/progress.hpp"
#include "common/streams.hpp"
#include "common/table.hpp"
#include "common/terminal.hpp"
#include "doctor/crossover.hpp"
#include "doctor/self_test.hpp"

namespace polykem::cli {
namespace {

constexpr const char* kDoctorFooter =
    "Examples:\n"
    "  polykem doctor\n"
    "  polykem doctor --backend ref --json -\n"
    "  polykem doctor --tune\n"
    "\n"
    "For each set and each backend that can run here (with --backend or POLYKEM_BACKEND: that one), the self-test "
    "does\n"
    "a round trip with four key pairs, flips bits of ciphertexts or signatures, and checks one published answer.\n"
    "Exit code 1 if anything is wrong.";

struct Limits {
  rlim_t soft = 0, hard = 0;
  unsigned long long memory = 0;
  unsigned cpus = 0;
  const char* why_memory = "unknown";
  const char* why_cpus = "";  ///< affinity and quota
};

struct Diagnosis {
  Scheme scheme;
  std::string chosen;  ///< the backend that would run; "" if the backend that is forced lacks the set
  bool forced = false;
  std::vector<SelfTest> tests;

  bool ok() const {
    if (chosen.empty()) return forced;
    return std::all_of(tests.begin(), tests.end(), [](const SelfTest& t) { return t.ok(); });
  }
};

std::vector<polykem_backend_info_t> backends() {
  std::vector<polykem_backend_info_t> out(polykem_backend_count());
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i].struct_size = sizeof out[i];
    check(polykem_backend_info(i, &out[i]), "backend");
  }
  return out;
}

Limits limits_here(const CommonOptions& options) {
  Limits out;
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    out.soft = files.rlim_cur;
    out.hard = files.rlim_max;
  }
  out.memory = polykem_limit(POLYKEM_MEMORY, &out.why_memory);
  polykem_cpus(&out.why_cpus);
  out.cpus = open_context(0, options.backend).threads();
  return out;
}

/// The reason for the choice of the backend: forced by an option or a variable, or the best one here.
std::string reason(const CommonOptions& options) {
  if (!options.backend.empty()) return "forced by --backend";
  const char* variable = std::getenv(kBackendVariable);
  if (variable != nullptr && *variable != '\0') return std::string("forced by ") + kBackendVariable;
  return "best that runs here";
}

bool is_forced(const CommonOptions& options) {
  return reason(options) != "best that runs here";
}

Diagnosis examine(const Scheme& scheme, const Context& chosen, bool forced) {
  Diagnosis out{scheme, chosen.backend(scheme), forced, {}};
  if (out.chosen.empty()) return out;
  if (forced) {
    out.tests.push_back(run_self_test(chosen, scheme));
    return out;
  }
  for (const polykem_backend_info_t& backend : backends()) {
    if (backend.available == 0) continue;
    const Context context(1, backend.name);
    if (context.backend(scheme) == backend.name) out.tests.push_back(run_self_test(context, scheme));
  }
  return out;
}

std::string fault_of(const SelfTest& test) {
  if (!test.error.empty()) return test.error;
  std::vector<std::string> faults;
  if (!test.round_trip) faults.emplace_back("round trip");
  if (!test.rejection) faults.emplace_back("rejection");
  if (test.has_known_answer && !test.known_answer) faults.emplace_back("known answer");
  return fmt::format("{}", fmt::join(faults, ", "));
}

std::string verdict(const Diagnosis& diagnosis) {
  if (diagnosis.chosen.empty()) return diagnosis.forced ? "not on this backend" : "no backend runs it here";
  std::vector<std::string> good, bad;
  for (const SelfTest& test : diagnosis.tests) {
    if (test.ok()) {
      good.push_back(test.backend);
    } else {
      bad.push_back(fmt::format("{}: {}", test.backend, fault_of(test)));
    }
  }
  if (bad.empty()) return fmt::format("ok ({})", fmt::join(good, ", "));
  return fmt::format("FAILED ({})", fmt::join(bad, "; "));
}

/// A line of the first part, wrapped if it is too long.
void print_fact(const char* name, const std::string& text) {
  constexpr std::size_t kNameColumns = 14;
  print_out("{}", wrap_lines(fmt::format("{:<{}}{}\n", name, kNameColumns, text), text_columns(), kNameColumns));
}

void print_machine(const Limits& limits) {
  print_out("{}", wrap_lines(fmt::format("polykem {} ({}), built with {}\n", polykem_version(), build_commit(),
                                         compiler_name()),
                             text_columns(), 2));
  print_fact("processor", cpu_model());
  if (is_emulated()) print_fact("emulation", "this is AArch64 on another processor: speeds mean nothing");
  const std::string features = polykem_cpu_features();
  print_fact("features", features.empty() ? "none that matter here" : features);
  print_fact("CPUs to use", fmt::format("{} ({})", limits.cpus, limits.why_cpus));
  print_fact("memory", fmt::format("{} ({})", data_size(limits.memory), limits.why_memory));
  print_fact("open files",
             fmt::format("{} (can be raised to {}): about as many clients at once\n", with_commas(limits.soft),
                         limits.hard == RLIM_INFINITY ? "any number" : with_commas(limits.hard)));
}

void print_diagnoses(const std::vector<Diagnosis>& diagnoses, bool well, const CommonOptions& options) {
  Table table(
      {{"set", Align::kLeft}, {"would run on", Align::kLeft}, {"because", Align::kLeft}, {"self-test", Align::kLeft}});
  for (const Diagnosis& diagnosis : diagnoses) {
    table.row({diagnosis.scheme.name(), diagnosis.chosen, reason(options), verdict(diagnosis)});
  }
  print_out("{}\n{}{}\n", table.render_text(text_columns()), wrap_lines(describe_failures(), text_columns(), 2),
            well ? "All is well." : "Something is wrong: do not use what failed.");
}

void print_next_steps(bool well, const std::vector<Crossover>& gpu_crossovers) {
  constexpr std::size_t kCommandColumns = 34;
  std::vector<std::pair<const char*, const char*>> steps;
  if (!well) {
    steps = {{"polykem doctor --json doctor.json", "for a report, as SECURITY.md describes"},
             {"polykem doctor --backend ref", "does the portable code work? POLYKEM_BACKEND=ref chooses it"}};
  } else {
    if (std::any_of(gpu_crossovers.begin(), gpu_crossovers.end(), [](const Crossover& c) { return !c.measured; }))
      steps.emplace_back("polykem doctor --tune", "from which batch size is the GPU faster?");
    steps.insert(steps.end(), {{"polykem exchange", "exchange keys with a crowd of clients"},
                               {"polykem bench --scheme mlkem768", "how fast is it here?"},
                               {"polykem tls-check", "which TLS groups do programs here offer?"}});
  }
  print_out("\nWhat next:\n");
  for (const auto& [command, purpose] : steps) {
    print_out("{}", wrap_lines(fmt::format("  {:<{}}{}\n", command, kCommandColumns, purpose), text_columns(),
                               kCommandColumns + 2));
  }
}

Json as_json(const std::vector<Diagnosis>& diagnoses, const std::vector<Crossover>& gpu_crossovers,
             const Limits& limits, const CommonOptions& options) {
  Json result = json_header("polykem-doctor-1");
  result["cpu_features"] = split(polykem_cpu_features(), ' ');
  result["emulated"] = is_emulated();
  result["cpus"] = limits.cpus;
  result["cpus_reason"] = limits.why_cpus;
  result["memory_bytes"] = limits.memory;
  result["open_files"] = {{"soft", limits.soft}, {"hard", limits.hard}};
  result["backends"] = Json::array();
  for (const polykem_backend_info_t& backend : backends()) {
    result["backends"].push_back({{"name", backend.name},
                                  {"description", backend.description},
                                  {"requirements", backend.requirements},
                                  {"available", backend.available != 0},
                                  {"fallbacks", backend.fallbacks}});
  }
  result["crossover"] = crossovers_as_json(gpu_crossovers);
  bool well = describe_failures().empty();
  result["schemes"] = Json::array();
  for (const Diagnosis& diagnosis : diagnoses) {
    Json entry{{"name", diagnosis.scheme.name()}, {"backend", diagnosis.chosen}, {"because", reason(options)}};
    entry["known_answer_digest"] = known_answer_digest(diagnosis.scheme.name());
    entry["self_tests"] = Json::array();
    for (const SelfTest& test : diagnosis.tests) {
      Json t{
          {"backend", test.backend}, {"ok", test.ok()}, {"round_trip", test.round_trip}, {"rejection", test.rejection}};
      t["known_answer"] = test.has_known_answer ? Json(test.known_answer) : Json(nullptr);
      t["error"] = test.error;
      entry["self_tests"].push_back(t);
    }
    entry["ok"] = diagnosis.ok();
    well = well && diagnosis.ok();
    result["schemes"].push_back(entry);
  }
  result["ok"] = well;
  return result;
}

struct DoctorOptions {
  CommonOptions common;
  bool tune = false;
};

int run_doctor(const DoctorOptions& all_options) {
  const CommonOptions& options = all_options.common;
  const bool silent = options.quiet || json_to_stdout(options.json);
  const Context context = open_context(options.threads, options.backend);
  const Limits limits = limits_here(options);
  if (!silent) {
    print_machine(limits);
    print_out("{}\n", describe_backends());
    flush_output();
  }
  if (all_options.tune) tune_crossovers(silent);
  const std::vector<Crossover> gpu_crossovers = crossovers();
  if (!silent) print_crossovers(gpu_crossovers);
  std::vector<Diagnosis> diagnoses;
  const std::vector<Scheme> schemes = all_sets();
  Progress progress("self-test", schemes.size(), "sets", silent, Progress::Rate::kHidden);
  bool well = true;
  for (const Scheme& scheme : schemes) {
    diagnoses.push_back(examine(scheme, context, is_forced(options)));
    well = well && diagnoses.back().ok();
    progress.update(diagnoses.size(), scheme.name());
  }
  progress.finish();
  well = well && describe_failures().empty();
  write_json(options.json, as_json(diagnoses, gpu_crossovers, limits, options));
  if (!silent) {
    print_diagnoses(diagnoses, well, options);
    print_next_steps(well, gpu_crossovers);
  }
  return well ? kExitOk : kExitCheckFailed;
}

}  // namespace

void register_doctor(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<DoctorOptions>();
  CLI::App* command = app.add_subcommand("doctor", "Examine this machine and test every set on it");
  command->footer(kDoctorFooter);
  command->add_flag("--tune", options->tune,
                    "First measure from which batch size the GPU is faster, and store the result");
  add_backend(*command, options->common);
  add_threads(*command, options->common, 0);
  add_json(*command, options->common);
  add_quiet(*command, options->common);
  command->callback([options, &exit_code] { exit_code = run_guarded([&] { return run_doctor(*options); }); });
}

}  // namespace polykem::cli
