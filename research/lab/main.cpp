// SPDX-License-Identifier: Apache-2.0
// polykem-lab: checks and measures all methods to compute the products of lattice KEMs.
#include <sys/stat.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "ckks_command.hpp"
#include "draw.hpp"
#include "exit_codes.hpp"
#include "files.hpp"
#include "options.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "text.hpp"

namespace polykem::lab {

namespace {

volatile std::sig_atomic_t ended_by = 0;

extern "C" void note_signal(int number) {
  ended_by = number;
}

/// The first SIGTERM or SIGINT ends the run after the current figure, the second at once.
void watch_signals() {
  struct sigaction action {};
  action.sa_handler = note_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
}

struct Interrupted {};

void stop_if_asked() {
  if (ended_by != 0) throw Interrupted();
}

/// The files to which figures are written.
std::vector<std::string> files_of(const Options& options) {
  std::vector<std::string> out;
  if (!options.json.empty() && options.json != "-") out.push_back(options.json);
  if (!options.report.empty()) out.push_back(options.report + "/lab.json");
  return out;
}

/// All figures so far. Only files that are replaced are written before the end.
void save(const Options& options, const Laboratory& laboratory, Results& results, bool at_end) {
  results.compared = laboratory.compared();
  const std::string json = as_json(results, laboratory);
  for (const std::string& path : files_of(options)) {
    if (at_end || is_replaceable(path)) write_file(path, json);
  }
  if (at_end && options.json == "-") std::fputs(json.c_str(), stdout);
}

/// Saves after each problem.
void measure_all(const Options& options, Laboratory& laboratory, const std::vector<Step>& steps, Results& results) {
  const bool silent = options.quiet || options.json == "-";
  Progress progress(results.planned, silent);
  const double budget = options.request.check_only ? 0 : options.request.seconds;
  for (size_t i = 0; i < steps.size(); ++i) {
    laboratory.measure(steps[i], budget, [&](const Row& row) {
      results.rows.push_back(row);
      progress.show(row.problem->name + " " + row.method->name + " on " + row.method->on + ", " +
                    std::to_string(row.items) + " items");
      stop_if_asked();
    });
    stop_if_asked();
    const bool last = i + 1 == steps.size();
    if (!last && steps[i].problem != steps[i + 1].problem) save(options, laboratory, results, false);
  }
  progress.end();
}

/// Writes what was measured, and ends by the signal.
void end_early(const Options& options, const Laboratory& laboratory, Results& results) {
  std::fprintf(stderr, "\npolykem-lab: interrupted after %zu of %zu figures\n", results.rows.size(), results.planned);
  if (!results.rows.empty()) {
    save(options, laboratory, results, true);
    for (const std::string& path : files_of(options))
      std::fprintf(stderr, "%s has them; research/lab/report.py makes tables of it\n", path.c_str());
    std::fflush(stdout);
  }
  const int number = ended_by;
  std::signal(number, SIG_DFL);
  std::raise(number);
}

void print_table(const Results& results, const Laboratory& laboratory) {
  if (laboratory.gpu().empty()) std::printf("No methods on a GPU: %s.\n", laboratory.no_gpu().c_str());
  std::printf("%s%s%s, one core; %zu products compared, all right\n\n", laboratory.gpu().c_str(),
              laboratory.gpu().empty() ? "" : " and ", cpu_name().c_str(), results.compared);
  std::fputs(as_table(results).c_str(), stdout);
}

int run(int argc, char** argv) {
  const Options options = parse_options(argc, argv);
  if (options.help) return std::fputs(kHelp, stdout), kOk;
  Laboratory laboratory;
  if (options.list) return std::fputs(as_list(laboratory).c_str(), stdout), kOk;
  if (!options.report.empty() && mkdir(options.report.c_str(), 0777) != 0 && errno != EEXIST)
    throw std::runtime_error("cannot make the folder " + options.report + ": " + std::strerror(errno));
  const std::vector<Step> steps = plan(options.request, laboratory.methods());
  Results results;
  results.command = command_line("polykem-lab", argc, argv);
  results.planned = count_figures(steps);
  if (steps.empty()) {
    std::fprintf(stderr, "polykem-lab: nothing here can do that%s%s\n", laboratory.gpu().empty() ? "; no GPU: " : "",
                 laboratory.no_gpu().c_str());
    return kNothing;
  }
  watch_signals();
  try {
    if (!options.request.check_only) results.gpu_rates = laboratory.gpu_rates();
    measure_all(options, laboratory, steps, results);
  } catch (const Interrupted&) {
    end_early(options, laboratory, results);
  }
  std::signal(SIGTERM, SIG_DFL);
  std::signal(SIGINT, SIG_DFL);
  results.complete = true;
  save(options, laboratory, results, true);
  if (!options.quiet && options.json != "-") print_table(results, laboratory);
  if (!options.report.empty())
    draw_report(POLYKEM_LAB_FOLDER "/report.py", options.report + "/lab.json", options.report);
  return kOk;
}

int guarded(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const UsageError& error) {
    std::fprintf(stderr, "polykem-lab: %s\n", error.what());
    return kUsage;
  } catch (const WrongProduct& error) {
    std::fprintf(stderr, "\npolykem-lab: wrong product: %s\n", error.what());
    return kWrong;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "\npolykem-lab: %s\n", error.what());
    return kFailed;
  }
}

}  // namespace

}  // namespace polykem::lab

int main(int argc, char** argv) {
#ifdef POLYKEM_CKKS_BENCH
  if (argc > 1 && std::strcmp(argv[1], "ckks") == 0) return polykem::lab::run_ckks(argc - 1, argv + 1);
#endif
  return polykem::lab::guarded(argc, argv);
}
