// SPDX-License-Identifier: Apache-2.0
// polykem kat: checks this build against known-answer files.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "commands.hpp"
#include "common/context.hpp"
#include "common/input.hpp"
#include "common/options.hpp"
#include "common/output.hpp"
#include "common/progress.hpp"
#include "common/streams.hpp"
#include "common/table.hpp"
#include "kat/accumulated.hpp"
#include "kat/formats.hpp"
#include "kat/runner.hpp"

namespace polykem::cli {
namespace {

constexpr const char* kKatFooter =
    "Examples:\n"
    "  polykem kat mlkem768.json                        keygen, encaps, decaps and rejections, count by count\n"
    "  polykem kat PQCkemKAT_1590.rsp --batch 64        NIST's own file, in batches of 64 different keys\n"
    "  polykem kat accumulated.json --scheme mlkem768\n"
    "  polykem kat internalProjection.json.gz mlkem_768_test.json.gz     NIST's ACVP, Wycheproof; also of ML-DSA\n"
    "\n"
    "Files may be gzipped; their kind is recognised by content. A case is one entry of the file, a check one of its\n"
    "operations. Exit code 1: an answer was wrong, a case was not run, or nothing was run.";

struct KatOptions {
  CommonOptions common;
  std::vector<std::string> files;
  std::vector<std::string> accumulated;
  std::string scheme;
  RunOptions run;
  bool skip_unknown = false;
};

/// A row of the result: a set in a file.
struct Row {
  std::string file, scheme, backend;
  Tally tally;
  std::string error, hint;  ///< why some or all checks could not run; empty if all ran
  bool skipped = false;
};

class KatRun {
 public:
  KatRun(const KatOptions& options, const Context& context) : options_(options), context_(context) {
    if (!options.scheme.empty()) only_ = open_scheme(options.scheme, Sets::kAll).handle();
  }

  void file(const std::string& path) {
    try {
      KnownAnswers answers = parse_known_answers(read_text_maybe_gzip(path), only_);
      if (!answers.suites.empty()) return suites(path, answers.suites);
      accumulated(path, answers.accumulated);
    } catch (const CliError& e) {
      Row row;
      row.file = path;
      row.error = e.what();
      row.hint = e.hint();
      rows_.push_back(row);
      worst_ = std::max(worst_, e.code());
    }
  }

  const std::vector<Row>& rows() const { return rows_; }

  int exit_code() const {
    if (worst_ != kExitOk) return worst_;
    std::size_t run = 0;
    for (const Row& row : rows_) {
      if (row.tally.failed > 0 || (row.tally.run == 0 && !row.skipped)) return kExitCheckFailed;
      run += row.tally.run;
    }
    return run > 0 ? kExitOk : kExitCheckFailed;
  }

 private:
  void suites(const std::string& path, std::vector<Suite>& all) {
    std::size_t others = 0;
    for (Suite& suite : all) {
      const polykem_scheme* handle = find_set(suite.scheme);
      if (handle == nullptr) {
        unknown(path, suite.scheme);
      } else if (only_ != nullptr && only_ != handle) {
        ++others;
      } else {
        cases(path, Scheme(handle), suite);
      }
    }
    if (others < all.size()) return;
    throw CliError(kExitBadInput, fmt::format("the file is of set {}, not of {}",
                                              Scheme(find_set(all[0].scheme)).name(), Scheme(only_).name()));
  }

  void cases(const std::string& path, const Scheme& scheme, Suite& suite) {
    Row row;
    row.file = path;
    row.scheme = scheme.name();
    row.backend = backend_for(context_, scheme, options_.common.backend);
    fit_suite(suite, scheme);
    Progress progress(row.scheme, items_of(suite, options_.run.batch), "items", options_.common.quiet);
    std::size_t done = 0;
    row.tally = run_suite(context_, scheme, suite, options_.run, [&](std::size_t n) { progress.update(done += n); });
    rows_.push_back(row);
  }

  void accumulated(const std::string& path, const std::vector<AccumulatedSet>& sets) {
    std::vector<std::string> absent;
    for (const AccumulatedSet& set : sets) {
      const polykem_scheme* handle = find_set(set.scheme);
      if (handle == nullptr) absent.push_back(set.scheme);
      if (handle == nullptr || (only_ != nullptr && only_ != handle)) continue;
      const Scheme scheme(handle);
      check_kind(scheme, Sets::kKems, kExitBadInput);
      Row row;
      row.file = path;
      row.scheme = scheme.name();
      row.backend = backend_for(context_, scheme, options_.common.backend);
      std::size_t total = 0;
      for (const AccumulatedCase& c : set.cases)
        total += c.rounds;
      Progress progress(row.scheme, total, "rounds", options_.common.quiet);
      std::size_t done = 0;
      for (const AccumulatedCase& c : set.cases) {
        row.tally.add(run_accumulated(context_, scheme, c, options_.run.batch,
                                      [&](std::size_t n) { progress.update(done += n); }));
      }
      rows_.push_back(row);
    }
    if (absent.empty() || only_ != nullptr) return;
    Row row;
    row.file = path;
    row.scheme = fmt::format("{} sets not in this build", absent.size());
    row.skipped = true;
    rows_.push_back(row);
  }

  void unknown(const std::string& path, const std::string& scheme) {
    if (!options_.skip_unknown) {
      throw CliError(kExitBadInput, fmt::format("this build has no parameter set '{}'", printable(scheme)),
                     suggestion(scheme) + "; --skip-unknown skips such files");
    }
    Row row;
    row.file = path;
    row.scheme = printable(scheme);
    row.skipped = true;
    rows_.push_back(row);
  }

  const KatOptions& options_;
  const Context& context_;
  const polykem_scheme* only_ = nullptr;
  std::vector<Row> rows_;
  ExitCode worst_ = kExitOk;
};

std::string verdict(const Row& row) {
  if (!row.error.empty()) return "not run";
  if (row.skipped) return "skipped";
  if (row.tally.run == 0) return "nothing run";
  return row.tally.failed == 0 ? "ok" : "FAILED";
}

void print_rows(const std::vector<Row>& rows) {
  Table table({{"file", Align::kLeft},
               {"set", Align::kLeft},
               {"backend", Align::kLeft},
               {"cases", Align::kRight},
               {"checks", Align::kRight},
               {"passed", Align::kRight},
               {"failed", Align::kRight},
               {"", Align::kLeft}});
  Tally total;
  for (const Row& row : rows) {
    total.add(row.tally);
    table.row({without_controls(row.file), row.scheme, row.backend, with_commas(row.tally.cases),
               with_commas(row.tally.run), with_commas(row.tally.passed()), with_commas(row.tally.failed),
               verdict(row)});
  }
  table.rule();
  table.row({"total", "", "", with_commas(total.cases), with_commas(total.run), with_commas(total.passed()),
             with_commas(total.failed), ""});
  print_out("{}", table.render());
}

void print_faults(const std::vector<Row>& rows) {
  flush_output();
  for (const Row& row : rows) {
    if (!row.error.empty()) print_error("polykem: '{}': {}\n", without_controls(row.file), without_controls(row.error));
    if (!row.hint.empty()) print_error("  {}\n", row.hint);
    for (const std::string& message : row.tally.messages)
      print_error("polykem: '{}': {}\n", without_controls(row.file), message);
    if (row.tally.failed > row.tally.messages.size()) {
      print_error("  and {} more\n", row.tally.failed - row.tally.messages.size());
    }
  }
}

Json rows_as_json(const std::vector<Row>& rows, const KatOptions& options) {
  Json result = json_header("polykem-kat-1");
  result["batch"] = options.run.batch;
  Tally total;
  result["files"] = Json::array();
  for (const Row& row : rows) {
    total.add(row.tally);
    result["files"].push_back({{"file", row.file},
                               {"scheme", row.scheme},
                               {"backend", row.backend},
                               {"cases", row.tally.cases},
                               {"run", row.tally.run},
                               {"passed", row.tally.passed()},
                               {"failed", row.tally.failed},
                               {"skipped", row.skipped},
                               {"error", row.error},
                               {"failures", row.tally.messages}});
  }
  result["cases"] = total.cases;
  result["run"] = total.run;
  result["passed"] = total.passed();
  result["failed"] = total.failed;
  return result;
}

/// Throws CliError (usage) if the result would overwrite a file of known answers.
void check_result_path(const KatOptions& options) {
  if (options.common.json.path.empty()) return;
  OutputFiles result(options.common.json.force);
  result.add(options.common.json.path, FileMode::kPublic);
  for (const auto* paths : {&options.files, &options.accumulated}) {
    for (const std::string& path : *paths)
      result.add_input(path);
  }
  result.check();
}

int run_kat(const KatOptions& options) {
  check_result_path(options);
  const Context context = open_context(options.common.threads, options.common.backend);
  KatRun run(options, context);
  for (const std::string& path : options.files)
    run.file(path);
  for (const std::string& path : options.accumulated)
    run.file(path);
  write_json(options.common.json, rows_as_json(run.rows(), options));
  if (!json_to_stdout(options.common.json) && !options.common.quiet) print_rows(run.rows());
  print_faults(run.rows());
  return run.exit_code();
}

}  // namespace

void register_kat(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<KatOptions>();
  CLI::App* command = app.add_subcommand("kat", "Check known-answer files against this build");
  command->footer(kKatFooter);
  auto* files =
      command
          ->add_option("files", options->files,
                       "NIST .rsp, known-answer JSON, accumulated hashes, ACVP, Wycheproof or CCTV; plain or gzip")
          ->type_name("FILE");
  auto* accumulated =
      command->add_option("--accumulated", options->accumulated, "A file of accumulated hashes")->type_name("FILE");
  command->add_option("-s,--scheme", options->scheme, "Only this set; also the set of a file that names none")
      ->type_name("NAME");
  add_count(*command, "--batch", options->run.batch,
            "Items per call, the cases repeated to fill it (default: one batch)");
  command->add_flag("--key-sets", options->run.key_sets, "Import the keys into key sets and use them from there");
  command->add_flag("--skip-unknown", options->skip_unknown, "Skip files of sets that this build does not have");
  add_backend(*command, options->common);
  add_threads(*command, options->common, 0);
  add_json(*command, options->common);
  add_quiet(*command, options->common);
  command->callback([options, files, accumulated, &exit_code] {
    exit_code = run_guarded([&] {
      if (files->count() + accumulated->count() == 0) {
        throw CliError(kExitUsage, "no file named", "for example: polykem kat tests/data/mlkem768.json");
      }
      return run_kat(*options);
    });
  });
}

}  // namespace polykem::cli
