// SPDX-License-Identifier: Apache-2.0
// polykem tls-check: checks that the OpenSSL provider loads, and tries the TLS groups that it offers.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/crypto.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "commands.hpp"
#include "common/context.hpp"
#include "common/options.hpp"
#include "common/streams.hpp"
#include "common/table.hpp"
#include "formats/tls_groups.hpp"
#include "tls/connect.hpp"
#include "tls/loopback.hpp"
#include "tls/program_view.hpp"
#include "tls/provider_check.hpp"

namespace polykem::cli {
namespace {

constexpr const char* kTlsCheckFooter =
    "Examples:\n"
    "  polykem tls-check\n"
    "  polykem tls-check --groups X25519MLKEM768,frodo976aes\n"
    "  polykem tls-check --config /etc/haproxy/openssl.cnf --json -\n"
    "  polykem tls-check --connect www.example.com:443\n"
    "\n"
    "OpenSSL does not say when it ignores a line of openssl.cnf or cannot load a provider; this command says "
    "which and why. It starts a process as any program starts, with that openssl.cnf, and asks OpenSSL there which "
    "providers are active and which groups a client and a server negotiate. 'All is well.' means that two programs "
    "which set no groups themselves negotiate one of polykem's.\n"
    "Exit code 1 if anything is wrong: a line is ignored, polykem is named and not active, a configured group is not "
    "negotiated; with --config also if that file does not activate the provider.\n"
    "--connect is a client that offers all groups, X25519MLKEM768 first and classical ones last, or those of "
    "--groups. Exit code 0 whatever the server negotiates, 1 if it refuses every offered group, 3 if its answer "
    "is not valid TLS, 5 if it cannot be reached.\n"
    "docs/tls.md has the lines for openssl.cnf.";

struct TlsCheckOptions {
  CommonOptions common;
  std::string config;
  ConnectOptions connect;
};

std::string config_state(const ProgramView& view) {
  if (!view.has_config_file) return "not there";
  if (!view.failure.empty()) return "no program starts with it: " + view.failure;
  if (!view.mentions_polykem) return "does not mention polykem";
  if (!view.active) return "names polykem, but does not activate it";
  return view.has_default ? "activates polykem" : "activates polykem, but not 'default', which every program needs";
}

/// Prints what OpenSSL answered in a process that was started with the configuration.
void print_program(const ProgramView& view) {
  if (!view.failure.empty()) return;
  print_out("providers      {}{}\n", fmt::join(view.providers, ", "),
            view.module.empty() ? "" : fmt::format(" (polykem is {})", view.module));
  if (!view.active) return;
  if (view.mlkem_from.empty())
    print_out("ML-KEM         is offered by no provider\n");
  else if (openssl_has_mlkem())
    print_out("ML-KEM         is computed by the provider '{}'\n", view.mlkem_from);
  if (view.handshake.error.empty())
    print_out("by itself      a program negotiates {} ({}) with another; as a client it offers {}\n",
              view.handshake.group, view.handshake.version, fmt::join(view.handshake.offered, ", "));
  else
    print_out("by itself      a program does not connect to another: {}\n", view.handshake.error);
}

void print_provider(const ProgramView& view, const ProviderCheck& check) {
  print_out("OpenSSL        {}\n", OpenSSL_version(OPENSSL_VERSION_STRING));
  print_out("configuration  {}: {}\n", view.config_file, config_state(view));
  print_program(view);
  if (!check.module.empty()) print_out("module         {} (configuration)\n", check.module);
  for (const ModuleFolder& folder : check.folders) {
    if (!check.module.empty()) break;
    print_out("looked in      {} ({}): {}\n", folder.path, folder.why, folder.found ? "found" : "not there");
    if (!folder.by_openssl) print_out("               other programs need OPENSSL_MODULES={}\n", folder.path);
  }
  if (!check.broker.empty()) {
    print_out("broker         {}: {}\n", check.broker,
              check.broker_problem.empty()
                  ? "answers"
                  : fmt::format("warning: {}; until it answers each process computes by itself", check.broker_problem));
  }
  if (!check.statistics.empty()) {
    print_out("statistics     {}.PID: {}\n", check.statistics,
              check.statistics_problem.empty() ? "can be written by this user"
                                               : "cannot be written, " + check.statistics_problem);
  }
  if (check.linger_ms > 0)
    print_out("linger_us      every operation waits {:g} ms for others; a server under load needs none\n",
              check.linger_ms);
  if (check.problem.empty()) {
    print_out("provider       polykem {} loads\n\n", check.version);
  } else {
    print_out("provider       does not load: {}\n", check.problem);
    if (check.module.empty() &&
        std::none_of(check.folders.begin(), check.folders.end(), [](const auto& each) { return each.found; }))
      print_out("               polykem.so is in none of these folders: --modules DIR names another\n");
  }
}

void print_groups(const std::vector<GroupResult>& results) {
  Table table({{"group", Align::kLeft}, {"code point"}, {"handshake", Align::kLeft}, {"ms"}});
  for (const GroupResult& result : results) {
    const bool ok = result.loopback.error.empty();
    table.row({result.group.name, fmt::format("{0} (0x{0:04X})", result.group.code_point), ok ? "ok" : "FAILED",
               ok ? fmt::format("{:.2f}", result.loopback.milliseconds) : ""});
  }
  print_out("{}", table.render());
  for (const GroupResult& result : results)
    if (!result.loopback.error.empty()) print_out("{}: {}\n", result.group.name, result.loopback.error);
}

Json program_json(const ProgramView& view) {
  return {{"failure", view.failure},
          {"providers", view.providers},
          {"module", view.module},
          {"mlkem_from", view.mlkem_from},
          {"configured_groups", view.groups},
          {"offers", view.handshake.offered},
          {"negotiates", view.handshake.group},
          {"protocol", view.handshake.version},
          {"error", view.handshake.error},
          {"by_polykem", view.by_polykem}};
}

Json tls_check_json(const ProgramView& view, const ProviderCheck& check, const std::vector<GroupResult>& results,
                    bool well, const std::string& verdict) {
  Json out = json_header("polykem-tls-check-1");
  out["openssl"] = OpenSSL_version(OPENSSL_VERSION_STRING);
  out["config_file"] = view.config_file;
  out["configured"] = view.mentions_polykem;
  out["activated"] = view.active;
  out["lacks_default"] = view.active && !view.has_default;
  out["program"] = program_json(view);
  out["findings"] = view.findings;
  out["notes"] = view.notes;
  out["module"] = check.module;
  out["broker"] = check.broker;
  out["broker_problem"] = check.broker_problem;
  out["statistics"] = check.statistics;
  out["statistics_problem"] = check.statistics_problem;
  out["folders"] = Json::array();
  for (const ModuleFolder& folder : check.folders)
    out["folders"].push_back({{"path", folder.path}, {"why", folder.why}, {"found", folder.found}});
  out["loaded"] = check.provider != nullptr;
  out["provider_version"] = check.version;
  out["problem"] = check.problem;
  out["groups"] = Json::array();
  for (const GroupResult& result : results) {
    out["groups"].push_back({{"name", result.group.name},
                             {"code_point", result.group.code_point},
                             {"built_in", result.group.built_in},
                             {"ok", result.loopback.error.empty()},
                             {"error", result.loopback.error},
                             {"milliseconds", result.loopback.milliseconds}});
  }
  out["ok"] = well;
  out["verdict"] = verdict;
  return out;
}

bool is_standard_group(const std::string& name) {
  return std::any_of(std::begin(formats::kStandardGroups), std::end(formats::kStandardGroups),
                     [&](const formats::TlsGroup& each) { return name == each.name; });
}

std::string verdict(const ProgramView& view, bool well) {
  if (!well) return "Something is wrong.";
  if (!view.active) return "The provider works; programs use it once openssl.cnf activates it (docs/tls.md).";
  if (view.by_polykem) {
    const char* modules = secure_getenv("OPENSSL_MODULES");
    if (modules == nullptr || view.module.rfind(modules, 0) != 0) return "All is well.";
    return fmt::format("All is well, for programs with OPENSSL_MODULES={}.", modules);
  }
  if (is_standard_group(view.handshake.group)) {
    return fmt::format(
        "polykem is active, but OpenSSL itself computes {}: default_properties = ?provider=polykem "
        "(docs/tls_reference.md).",
        view.handshake.group);
  }
  if (view.groups.empty()) {
    return "polykem is active. This file sets no groups, so a program has polykem's only if it names them itself "
           "(docs/tls.md).";
  }
  return fmt::format("polykem is active, but no group of this file is polykem's: programs negotiate {} by themselves.",
                     view.handshake.group);
}

/// Tries the groups in a process with the configuration or, if polykem is not active there, with the provider alone.
std::vector<GroupResult> try_groups(const ProgramView& view, const ProviderCheck& check, const std::string& list) {
  if (check.provider == nullptr) return view.results;
  const std::vector<TlsGroup> asked = groups_asked_for(check.groups, list);
  if (view.active) return view.results;
  std::vector<GroupResult> out;
  const LoopbackServer server(check.libctx.get());
  for (const TlsGroup& group : asked)
    out.push_back(try_group(server, group));
  return out;
}

bool is_well(const ProgramView& view, const ProviderCheck& check, const std::vector<GroupResult>& results,
             bool asked_for_file) {
  const bool wants_polykem = asked_for_file || view.mentions_polykem;
  return check.provider != nullptr && view.failure.empty() && view.findings.empty() &&
         check.statistics_problem.empty() && (view.active || !wants_polykem) && view.handshake.error.empty() &&
         (!view.active || view.has_default) && !view.unread_groups &&
         std::all_of(results.begin(), results.end(), [](const GroupResult& r) { return r.loopback.error.empty(); });
}

void set_environment(const TlsCheckOptions& options) {
  if (!options.connect.modules.empty()) setenv("OPENSSL_MODULES", options.connect.modules.c_str(), 1);
  if (options.config.empty()) return;
  if (access(options.config.c_str(), R_OK) != 0)
    throw CliError(kExitIo, fmt::format("cannot read '{}': {}", options.config, std::strerror(errno)));
  setenv("OPENSSL_CONF", options.config.c_str(), 1);
}

int run_tls_check(const TlsCheckOptions& options) {
  const bool silent = options.common.quiet || json_to_stdout(options.common.json);
  set_environment(options);
  if (!options.connect.server.empty()) return show_group_of_server(options.connect, options.common);
  const std::vector<std::string> names =
      options.connect.groups == "all" ? std::vector<std::string>() : split(options.connect.groups, ',');
  const ProgramView view = view_of_program(names);
  const ProviderCheck check = check_provider(view, options.connect.modules);
  const std::vector<GroupResult> results = try_groups(view, check, options.connect.groups);
  const bool well = is_well(view, check, results, !options.config.empty());
  const std::string words = verdict(view, well);
  write_json(options.common.json, tls_check_json(view, check, results, well, words));
  if (silent) return well ? kExitOk : kExitCheckFailed;
  print_provider(view, check);
  if (!results.empty()) print_groups(results);
  if (!view.findings.empty()) print_out("\nIn {}:\n", view.config_file);
  for (const std::string& finding : view.findings)
    print_out("- {}\n", finding);
  for (const std::string& note : view.notes)
    print_out("\nNote: {}\n", note);
  print_out("\n{}\n", words);
  return well ? kExitOk : kExitCheckFailed;
}

}  // namespace

void register_tls_check(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<TlsCheckOptions>();
  CLI::App* command = app.add_subcommand("tls-check", "Load the OpenSSL provider and try its TLS groups");
  command->footer(kTlsCheckFooter);
  command
      ->add_option("--groups", options->connect.groups, "Groups to try or to offer, separated by commas (default all)")
      ->type_name("LIST");
  command->add_option("--modules", options->connect.modules, "Look for polykem.so in this folder only")
      ->type_name("DIR");
  command->add_option("--config", options->config, "Read this openssl.cnf (else OPENSSL_CONF, else OpenSSL's own)")
      ->type_name("FILE");
  CLI::Option* connect = command->add_option("--connect", options->connect.server,
                                             "HOST:PORT; show which group it negotiates, and check nothing else");
  connect->type_name("SERVER");
  command->add_option("--timeout", options->connect.timeout_seconds, "How long to wait for the server (default 10)")
      ->check(within(0.001, 3600.0))
      ->type_name("SECONDS")
      ->needs(connect);
  add_json(*command, options->common);
  add_quiet(*command, options->common);
  command->callback([options, &exit_code] { exit_code = run_guarded([&] { return run_tls_check(*options); }); });
}

}  // namespace polykem::cli
