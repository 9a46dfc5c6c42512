// SPDX-License-Identifier: Apache-2.0
// polykem tls-check: does the OpenSSL provider load, which TLS groups does it offer, and do they work?
#include <fmt/format.h>
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
#include "common/table.hpp"
#include "tls/loopback.hpp"
#include "tls/provider_check.hpp"

namespace polykem::cli {
namespace {

constexpr const char* kTlsCheckFooter =
    "Examples:\n"
    "  polykem tls-check\n"
    "  polykem tls-check --groups X25519MLKEM768,frodo976aes\n"
    "  polykem tls-check --config /etc/haproxy/openssl.cnf --json -\n"
    "\n"
    "OpenSSL goes on in silence when a provider of openssl.cnf does not load; this command says why.\n"
    "The handshakes are between a client and a server in this process. Exit code 1 if anything is wrong; with\n"
    "--config also if that file does not activate the provider.\n"
    "docs/tls.md has the lines for openssl.cnf.";

struct TlsCheckOptions {
  CommonOptions common;
  std::string modules, config, groups = "all";
};

struct GroupResult {
  TlsGroup group;
  Loopback loopback;
};

std::vector<TlsGroup> groups_asked_for(const std::vector<TlsGroup>& offered, const std::string& list) {
  if (list == "all") return offered;
  if (split(list, ',').empty()) throw CliError(kExitUsage, "--groups names no group", "'polykem tls-check' shows all");
  std::vector<std::string> names;
  for (const TlsGroup& group : offered)
    names.push_back(group.name);
  std::vector<TlsGroup> out;
  for (const std::string& name : split(list, ',')) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      const std::string close = nearest(name, names);
      throw CliError(kExitUsage, fmt::format("the provider offers no group '{}'", printable(name)),
                     close.empty() ? "'polykem tls-check' shows all" : fmt::format("did you mean '{}'?", close));
    }
    out.push_back(offered[static_cast<std::size_t>(found - names.begin())]);
  }
  return out;
}

std::string config_state(const ProviderCheck& check) {
  if (!check.has_config_file) return "not there";
  if (!check.configured) return "does not mention polykem";
  if (!check.activated) return "names polykem, but does not activate it";
  return check.lacks_default ? "activates polykem, but not 'default', which every program needs" : "activates polykem";
}

void print_provider(const ProviderCheck& check) {
  fmt::print("OpenSSL        {}\n", OpenSSL_version(OPENSSL_VERSION_STRING));
  fmt::print("configuration  {}: {}\n", check.config_file, config_state(check));
  if (!check.module.empty()) fmt::print("module         {} (configuration)\n", check.module);
  for (const ModuleFolder& folder : check.folders) {
    if (!check.module.empty()) break;
    fmt::print("looked in      {} ({}): {}\n", folder.path, folder.why, folder.found ? "found" : "not there");
    if (!folder.by_openssl) fmt::print("               other programs need OPENSSL_MODULES={}\n", folder.path);
  }
  if (!check.broker.empty()) {
    fmt::print(
        "broker         {}: {}\n", check.broker,
        check.broker_problem.empty()
            ? "answers"
            : fmt::format("warning: {}; until it answers each process computes by itself", check.broker_problem));
  }
  if (!check.statistics.empty()) {
    fmt::print("statistics     {}.PID: {}\n", check.statistics,
               check.statistics_problem.empty() ? "can be written by this user"
                                                : "cannot be written, " + check.statistics_problem);
  }
  if (check.linger_ms > 0)
    fmt::print("linger_us      every operation waits {:g} ms for others; a server under load needs none\n",
               check.linger_ms);
  if (check.problem.empty()) {
    fmt::print("provider       polykem {} loads\n\n", check.version);
  } else {
    fmt::print("provider       does not load: {}\n", check.problem);
    if (check.module.empty() &&
        std::none_of(check.folders.begin(), check.folders.end(), [](const auto& each) { return each.found; }))
      fmt::print("               polykem.so is in none of these folders: --modules DIR names another\n");
  }
}

void print_groups(const std::vector<GroupResult>& results) {
  Table table({{"group", Align::kLeft}, {"code point"}, {"handshake", Align::kLeft}, {"ms"}});
  for (const GroupResult& result : results) {
    const bool ok = result.loopback.error.empty();
    table.row({result.group.name, fmt::format("{0} (0x{0:04X})", result.group.code_point), ok ? "ok" : "FAILED",
               ok ? fmt::format("{:.2f}", result.loopback.milliseconds) : ""});
  }
  fmt::print("{}", table.render());
  for (const GroupResult& result : results)
    if (!result.loopback.error.empty()) fmt::print("{}: {}\n", result.group.name, result.loopback.error);
  if (openssl_has_mlkem()) {
    fmt::print(
        "\nGroups of ML-KEM are OpenSSL's own; default_properties = ?provider=polykem in openssl.cnf makes them use "
        "polykem.\n");
  }
}

Json tls_check_json(const ProviderCheck& check, const std::vector<GroupResult>& results, bool well) {
  Json out = json_header("polykem-tls-check-1");
  out["openssl"] = OpenSSL_version(OPENSSL_VERSION_STRING);
  out["config_file"] = check.config_file;
  out["configured"] = check.configured;
  out["activated"] = check.activated;
  out["lacks_default"] = check.lacks_default;
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
  return out;
}

GroupResult try_group(const LoopbackServer& server, const TlsGroup& group) {
  GroupResult out{group, server.handshake(group.name)};
  if (out.loopback.error.empty() && out.loopback.code_point != group.code_point)
    out.loopback.error = fmt::format("the group with code point {} was negotiated", out.loopback.code_point);
  return out;
}

const char* verdict(const ProviderCheck& check, bool well) {
  if (!well) return "Something is wrong.";
  return check.activated ? "All is well."
                         : "The provider works; programs use it once openssl.cnf activates it (docs/tls.md).";
}

int run_tls_check(const TlsCheckOptions& options) {
  const bool silent = options.common.quiet || json_to_stdout(options.common.json);
  if (!options.config.empty()) {
    if (access(options.config.c_str(), R_OK) != 0)
      throw CliError(kExitIo, fmt::format("cannot read '{}': {}", options.config, std::strerror(errno)));
    setenv("OPENSSL_CONF", options.config.c_str(), 1);
  }
  const ProviderCheck check = check_provider(options.modules);
  if (!silent) print_provider(check);
  std::vector<GroupResult> results;
  if (check.provider != nullptr) {
    const LoopbackServer server(check.libctx.get());
    for (const TlsGroup& group : groups_asked_for(check.groups, options.groups))
      results.push_back(try_group(server, group));
  }
  const bool asked_for_file = !options.config.empty();
  const bool well =
      check.provider != nullptr && !check.lacks_default && check.statistics_problem.empty() &&
      (check.activated || !asked_for_file) &&
      std::all_of(results.begin(), results.end(), [](const GroupResult& r) { return r.loopback.error.empty(); });
  write_json(options.common.json, tls_check_json(check, results, well));
  if (!silent && check.provider != nullptr) print_groups(results);
  if (!silent) fmt::print("\n{}\n", verdict(check, well));
  return well ? kExitOk : kExitCheckFailed;
}

}  // namespace

void register_tls_check(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<TlsCheckOptions>();
  CLI::App* command = app.add_subcommand("tls-check", "Load the OpenSSL provider and try its TLS groups");
  command->footer(kTlsCheckFooter);
  command->add_option("--groups", options->groups, "Groups to try, separated by commas (default all)")
      ->type_name("LIST");
  command->add_option("--modules", options->modules, "Look for polykem.so in this folder only")->type_name("DIR");
  command->add_option("--config", options->config, "Read this openssl.cnf (else OPENSSL_CONF, else OpenSSL's own)")
      ->type_name("FILE");
  add_json(*command, options->common);
  add_quiet(*command, options->common);
  command->callback([options, &exit_code] { exit_code = run_guarded([&] { return run_tls_check(*options); }); });
}

}  // namespace polykem::cli
