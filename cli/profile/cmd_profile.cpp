// SPDX-License-Identifier: Apache-2.0
// polykem profile: the time of the specification's stages.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include "commands.hpp"
#include "common/context.hpp"
#include "common/options.hpp"
#include "common/progress.hpp"
#include "common/streams.hpp"
#include "common/table.hpp"
#include "profile/stages.hpp"
#include "profile/steps.hpp"

namespace polykem::cli {
namespace {

constexpr const char* kProfileFooter =
    "Examples:\n"
    "  polykem profile --scheme mlkem768\n"
    "  polykem profile --scheme mlkem512,mlkem1024 --format markdown\n"
    "  polykem profile --scheme mldsa65 --op sign --json profile.json\n"
    "  polykem profile --scheme frodokem --steps --backend all --seconds 0.2\n"
    "\n"
    "Times are for --per operations (default 1,000, so ms reads as microseconds per operation).\n"
    "Stages are those of the specification; a row in parentheses names what a backend has fused into one step.\n"
    "cycles, with --backend rtl: by the core's own counters, for one operation.\n"
    "--steps adds the stages up to the steps of the FrodoKEM paper, a line for each set, operation and backend.\n"
    "--all does the same: a table of the stages of all sets would be too wide (--format csv and --json have them).";

constexpr const char* kRestName = "outside the stages";

struct ProfileOptions {
  CommonOptions common;
  std::string schemes;
  std::string ops = "all";
  std::string format = "text";
  std::size_t count = 0;
  std::size_t batch = 0;
  std::size_t per = 1000;
  double seconds = 1;
  bool all = false;
  bool no_merge = false;
  bool steps = false;
};

/// A printed row of one operation: a stage, or the time outside the stages.
struct ProfileRow {
  std::string name;
  std::uint64_t steps;
  double milliseconds;
  double share;
  double cycles;  ///< cycles of one operation, from a device's own counter
};

std::vector<ProfileRow> profile_rows(const OpProfile& profile, std::size_t per) {
  const double total = static_cast<double>(std::max<std::uint64_t>(profile.total_nanoseconds(), 1));
  const double scale = 1e-6 * static_cast<double>(per) / static_cast<double>(profile.count);
  std::vector<ProfileRow> out;
  for (const StageTime& stage : profile.stages) {
    const auto ns = static_cast<double>(stage.nanoseconds);
    const double cycles = static_cast<double>(stage.cycles) / static_cast<double>(profile.count);
    out.push_back({stage.name, stage.steps, ns * scale, 100 * ns / total, cycles});
  }
  const std::uint64_t rest = profile.total_nanoseconds() - profile.stage_nanoseconds();
  if (rest > 0)
    out.push_back({kRestName, 0, static_cast<double>(rest) * scale, 100 * static_cast<double>(rest) / total, 0});
  return out;
}

ProfileRow total_of(const OpProfile& profile, std::size_t per) {
  const double scale = 1e-6 * static_cast<double>(per) / static_cast<double>(profile.count);
  return {"total", 0, static_cast<double>(profile.total_nanoseconds()) * scale, 100, 0};
}

std::string stage_share_text(double share) {
  return share < 1 ? fmt::format("{:.2f}", share) : fmt::format("{:.1f}", share);
}

std::string steps_text(const ProfileRow& row) {
  return row.steps == 0 ? "" : std::to_string(row.steps);
}

std::string cycles_text(const ProfileRow& row) {
  return row.cycles > 0 ? with_commas(static_cast<std::uint64_t>(std::llround(row.cycles))) : "";
}

/// False for the phases of a core: only their cycles are known, and their time is part of another row.
bool has_time(const ProfileRow& row, const OpProfile& profile) {
  return row.milliseconds > 0 || !profile.has_cycles();
}

std::string time_text(const ProfileRow& row, const OpProfile& profile) {
  return has_time(row, profile) ? significant(row.milliseconds) : "";
}

std::string share_text(const ProfileRow& row, const OpProfile& profile) {
  return has_time(row, profile) ? stage_share_text(row.share) : "";
}

/// One set: function, calls, ms, %, and the cycles of an operation where a device counts them.
Table single_table(const OpProfile& profile, std::size_t per) {
  std::vector<Table::Column> columns = {
      {op_name(profile.op), Align::kLeft}, {"calls", Align::kRight}, {"ms", Align::kRight}, {"%", Align::kRight}};
  const bool cycles = profile.has_cycles();
  if (cycles) columns.push_back({"cycles", Align::kRight});
  Table table(columns);
  const auto add = [&](std::vector<std::string> cells, const ProfileRow& row) {
    if (cycles) cells.push_back(cycles_text(row));
    table.row(cells);
  };
  for (const ProfileRow& row : profile_rows(profile, per))
    add({row.name, steps_text(row), time_text(row, profile), share_text(row, profile)}, row);
  const ProfileRow total = total_of(profile, per);
  table.rule();
  add({total.name, "", significant(total.milliseconds), stage_share_text(total.share)}, total);
  return table;
}

/// The names of the rows of several sets, merged so that each set's order is kept.
std::vector<std::string> merged_names(const std::vector<SchemeProfile>& profiles, std::size_t op, std::size_t per) {
  std::vector<std::string> out;
  for (const SchemeProfile& profile : profiles) {
    auto position = out.begin();
    for (const ProfileRow& row : profile_rows(profile.ops[op], per)) {
      const auto found = std::find(out.begin(), out.end(), row.name);
      position = (found != out.end() ? found : out.insert(position, row.name)) + 1;
    }
  }
  const auto rest = std::find(out.begin(), out.end(), kRestName);
  if (rest != out.end()) std::rotate(rest, rest + 1, out.end());
  return out;
}

/// Several sets side by side: function, then ms and % of each, and the cycles of an operation where a device counts.
Table side_by_side(const std::vector<SchemeProfile>& profiles, std::size_t op, std::size_t per) {
  std::vector<Table::Column> columns = {{op_name(profiles.front().ops[op].op), Align::kLeft}};
  for (const SchemeProfile& profile : profiles) {
    columns.push_back({fmt::format("{} ms", profile.scheme.name()), Align::kRight});
    columns.push_back({"%", Align::kRight});
    if (profile.ops[op].has_cycles()) columns.push_back({"cycles", Align::kRight});
  }
  Table table(columns);
  for (const std::string& name : merged_names(profiles, op, per)) {
    std::vector<std::string> cells = {name};
    for (const SchemeProfile& profile : profiles) {
      const std::vector<ProfileRow> rows = profile_rows(profile.ops[op], per);
      const auto row =
          std::find_if(rows.begin(), rows.end(), [&](const ProfileRow& each) { return each.name == name; });
      cells.push_back(row == rows.end() ? "-" : time_text(*row, profile.ops[op]));
      cells.push_back(row == rows.end() ? "-" : share_text(*row, profile.ops[op]));
      if (profile.ops[op].has_cycles()) cells.push_back(row == rows.end() ? "-" : cycles_text(*row));
    }
    table.row(cells);
  }
  std::vector<std::string> totals = {"total"};
  for (const SchemeProfile& profile : profiles) {
    const ProfileRow total = total_of(profile.ops[op], per);
    totals.push_back(significant(total.milliseconds));
    totals.push_back(stage_share_text(total.share));
    if (profile.ops[op].has_cycles()) totals.emplace_back();
  }
  table.rule();
  table.row(totals);
  return table;
}

/// The table for programs: one line per set, operation and stage.
std::string as_csv(const std::vector<SchemeProfile>& profiles, std::size_t per) {
  Table table(
      {{"scheme"}, {"backend"}, {"op"}, {"function"}, {"calls"}, {"ms"}, {"percent"}, {"per"}, {"count"}, {"cycles"}});
  for (const SchemeProfile& profile : profiles) {
    for (const OpProfile& op : profile.ops) {
      for (const ProfileRow& row : profile_rows(op, per)) {
        table.row({profile.scheme.name(), profile.backend, op_name(op.op), row.name, std::to_string(row.steps),
                   fmt::format("{:.6g}", row.milliseconds), fmt::format("{:.4f}", row.share), std::to_string(per),
                   std::to_string(op.count), fmt::format("{:.6g}", row.cycles)});
      }
    }
  }
  return table.render(TableFormat::kCsv);
}

Json op_as_json(const OpProfile& profile) {
  Json out{{"op", op_name(profile.op)},
           {"count", profile.count},
           {"batch", profile.batch},
           {"threads", profile.threads},
           {"wall_ns", profile.wall_nanoseconds},
           {"stages_ns", profile.stage_nanoseconds()},
           {"steps", steps_as_json(profile)}};
  const double total = static_cast<double>(std::max<std::uint64_t>(profile.total_nanoseconds(), 1));
  out["stages"] = Json::array();
  for (const StageTime& stage : profile.stages) {
    out["stages"].push_back({{"function", stage.name},
                             {"steps", stage.steps},
                             {"calls", stage.calls},
                             {"items", stage.items},
                             {"ns", stage.nanoseconds},
                             {"cycles", stage.cycles},
                             {"share", static_cast<double>(stage.nanoseconds) / total}});
  }
  return out;
}

Json as_json(const std::vector<SchemeProfile>& profiles) {
  Json result = json_header("polykem-profile-1");
  result["profiles"] = Json::array();
  for (const SchemeProfile& profile : profiles) {
    Json entry{{"scheme", profile.scheme.name()}, {"backend", profile.backend}, {"ops", Json::array()}};
    for (const OpProfile& op : profile.ops)
      entry["ops"].push_back(op_as_json(op));
    result["profiles"].push_back(entry);
  }
  return result;
}

/// The backend and the numbers of operations: "mlkem768 on avx2, 1 thread; measured 5,000 keygen, 20,000 encaps".
std::string caption(const SchemeProfile& profile) {
  std::string counts;
  for (const OpProfile& op : profile.ops) {
    counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", with_commas(op.count), op_name(op.op));
  }
  const unsigned threads = profile.ops.front().threads;
  return fmt::format("{} on {}, {} thread{}; measured {}", profile.scheme.name(), profile.backend, threads,
                     threads == 1 ? "" : "s", counts);
}

std::uint64_t largest_batch(const std::vector<SchemeProfile>& profiles) {
  std::uint64_t max_batch = 0;
  for (const SchemeProfile& profile : profiles) {
    for (const OpProfile& op : profile.ops)
      max_batch = std::max(max_batch, op.batch);
  }
  return max_batch;
}

/// The contexts to measure in: one for the requested backend, or with "all" one for each backend that can run here.
std::vector<Context> open_contexts(const ProfileOptions& options) {
  std::vector<Context> out;
  if (options.common.backend != "all") {
    out.push_back(open_context(options.common.threads, options.common.backend));
    return out;
  }
  for (std::size_t i = 0; i < polykem_backend_count(); ++i) {
    polykem_backend_info_t info{};
    info.struct_size = sizeof info;
    check(polykem_backend_info(i, &info), "backend");
    if (info.available != 0) out.push_back(open_context(options.common.threads, info.name));
  }
  return out;
}

void print_tables(const std::vector<SchemeProfile>& profiles, const ProfileOptions& options, TableFormat format) {
  if (format == TableFormat::kCsv) {
    print_out("{}", as_csv(profiles, options.per));
    return;
  }
  if (options.steps || options.all) {
    print_out("ms for {} operations, {} a batch at most\n\n", with_commas(options.per),
              with_commas(largest_batch(profiles)));
    print_out("{}", steps_table(profiles, options.per).render(format));
    return;
  }
  for (const SchemeProfile& profile : profiles)
    print_out("{}\n", caption(profile));
  print_out("ms for {} operations\n", with_commas(options.per));
  for (std::size_t op = 0; op < profiles.front().ops.size(); ++op) {
    const Table table = profiles.size() == 1 ? single_table(profiles.front().ops[op], options.per)
                                             : side_by_side(profiles, op, options.per);
    print_out("\n{}", table.render(format));
  }
}

/// The sets that have one of the operations. Throws CliError (usage) if there are none, or if stages of KEMs and of
/// signatures would be side by side.
std::vector<Scheme> schemes_of(const ProfileOptions& options, const std::vector<polykem_op>& ops) {
  std::vector<Scheme> out;
  for (const Scheme& scheme : open_schemes(options.all ? "all" : options.schemes))
    if (std::any_of(ops.begin(), ops.end(), [&](polykem_op op) { return has_op(scheme, op); })) out.push_back(scheme);
  if (out.empty())
    throw CliError(kExitUsage, fmt::format("{} has no operation '{}'", options.schemes, options.ops),
                   "KEMs have keygen, encaps and decaps, signatures keygen, sign and verify");
  const auto signs = std::count_if(out.begin(), out.end(), [](const Scheme& scheme) { return scheme.is_signature(); });
  if (options.steps || options.all || signs == 0 || signs == static_cast<std::ptrdiff_t>(out.size())) return out;
  throw CliError(kExitUsage, "the stages of KEMs and of signatures do not go into one table",
                 "profile them one after the other, or add --steps");
}

int run_profile(const ProfileOptions& options) {
  const TableFormat format = parse_table_format(options.format);
  const std::vector<polykem_op> ops = parse_ops(options.ops);
  const std::vector<Scheme> schemes = schemes_of(options, ops);
  const bool every_backend = options.common.backend == "all";
  if (every_backend && !options.steps && !options.all) {
    throw CliError(kExitUsage, "--backend all needs --steps or --all", "without them, name one backend");
  }
  const std::vector<Context> contexts = open_contexts(options);
  const bool silent = options.common.quiet || json_to_stdout(options.common.json);
  std::vector<SchemeProfile> profiles;
  Progress progress("profile", schemes.size() * contexts.size() * ops.size(), "operations", silent,
                    Progress::Rate::kHidden);
  std::size_t done = 0;
  for (const Scheme& scheme : schemes) {
    std::set<std::string> measured;  // a backend may leave a set to another one
    for (const Context& context : contexts) {
      const std::string backend = context.backend(scheme);
      if (every_backend && (backend.empty() || !measured.insert(backend).second)) continue;
      profiles.push_back({scheme, backend_for(context, scheme, options.common.backend), {}});
      for (const polykem_op op : ops) {
        if (!has_op(scheme, op)) continue;
        progress.update(done++, fmt::format("{} {} on {}", scheme.name(), op_name(op), profiles.back().backend));
        profiles.back().ops.push_back(
            measure_profile(context, scheme, op, options.count, options.batch, options.seconds, !options.no_merge));
      }
    }
  }
  progress.finish();
  write_json(options.common.json, as_json(profiles));
  if (!silent) print_tables(profiles, options, format);
  return kExitOk;
}

}  // namespace

void register_profile(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ProfileOptions>();
  CLI::App* command = app.add_subcommand("profile", "Show where the time goes, stage by stage");
  command->footer(kProfileFooter);
  CLI::Option* scheme =
      command->add_option("-s,--scheme", options->schemes, "Parameter sets or families, separated by commas")
          ->type_name("NAMES");
  command->add_flag("--all", options->all, "All parameter sets, as with --steps")->excludes(scheme);
  command->add_option("--op", options->ops, "keygen, encaps, decaps, sign, verify or all (default)")->type_name("OPS");
  add_format(*command, options->format);
  add_count(*command, "--count", options->count, "Operations to measure (default: about a second's worth of each)");
  add_count(*command, "--batch", options->batch, "Operations per call (default 256, on a GPU 16,896)");
  add_count(*command, "--per", options->per, "Show times for this many operations (default 1000)");
  command->add_option("--seconds", options->seconds, "Time for each operation where --count is not given (default 1)")
      ->check(within(0.001, 3600.0))
      ->type_name("S");
  command->add_flag("--steps", options->steps, "Stages added up to a few steps, a line for each set and operation");
  command->add_flag("--no-merge", options->no_merge, "Show every step by itself, not added up by function");
  add_backend(*command, options->common);
  add_threads(*command, options->common, 1);
  add_json(*command, options->common);
  add_quiet(*command, options->common);
  command->callback([options, &exit_code] { exit_code = run_guarded([&] { return run_profile(*options); }); });
}

}  // namespace polykem::cli
