// SPDX-License-Identifier: Apache-2.0
#include "daemon/options.hpp"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>

#include "common/context.hpp"
#include "metrics/endpoint.hpp"

namespace polykem::cli {
namespace {

constexpr const char* kDefaultFolder = "/run/polykem";

bool read_number(const std::string& word, int base, std::uint32_t& value) {
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), value, base);
  return problem == std::errc() && end == word.data() + word.size();
}

/// The ids in a list of names and numbers. number_of: looks up a name, false if it is unknown.
template <class NumberOf>
std::vector<std::uint32_t> ids(const std::string& list, const char* kind, NumberOf&& number_of) {
  std::vector<std::uint32_t> out;
  for (const std::string& word : split(list, ',')) {
    std::uint32_t id = 0;
    if (!number_of(word.c_str(), id) && !read_number(word, 10, id))
      throw CliError(kExitUsage, fmt::format("no {} '{}'", kind, printable(word)));
    out.push_back(id);
  }
  return out;
}

/// A validator that returns `problem_of` the text, which is empty if the text is valid.
template <class ProblemOf>
CLI::Validator refused_by(ProblemOf problem_of) {
  return CLI::Validator([problem_of](std::string& text) -> std::string { return problem_of(text); }, "");
}

template <class Ids>
CLI::Validator known_by(Ids ids_of) {
  return refused_by([ids_of](const std::string& list) -> std::string {
    try {
      ids_of(list);
      return {};
    } catch (const CliError& e) {
      return e.what();
    }
  });
}

std::string problem_of_mode(const std::string& text) {
  std::uint32_t mode = 0;
  if (!read_number(text, 8, mode)) return fmt::format("'{}' is not octal, for example 0660", printable(text));
  return mode > 0777 || mode == 0 ? "the mode is not within 0001 to 0777" : std::string();
}

std::string problem_of_slots(const std::string& text) {
  std::uint32_t slots = 0;
  return read_number(text, 10, slots) && std::has_single_bit(slots) ? std::string()
                                                                    : text + " is not a power of two, for example 256";
}

std::string problem_of_endpoint(const std::string& text) {
  return is_host_and_port(text) ? std::string()
                                : fmt::format("'{}' is not HOST:PORT, for example 127.0.0.1:9464", printable(text));
}

std::string problem_of_backend(const std::string& name) {
  const std::vector<std::string> known = backend_names(false);
  if (std::find(known.begin(), known.end(), name) != known.end()) return {};
  return fmt::format("no backend '{}'; this build has: {}", printable(name), fmt::join(known, ", "));
}

void add_access(CLI::App& app, DaemonOptions& o) {
  app.add_option("--socket", o.socket,
                 "Where workers connect (default: the socket that systemd hands over, else /run/polykem/socket)")
      ->type_name("FILE");
  app.add_option("--socket-mode", o.mode, "Mode of the socket's file (default 0600, with --allow-uid or -gid 0666)")
      ->check(refused_by(problem_of_mode))
      ->type_name("OCTAL");
  app.add_option("--allow-uid", o.uids, "Users that may connect besides the daemon's own, by name or number")
      ->check(known_by(user_ids))
      ->type_name("USER,...");
  app.add_option("--allow-gid", o.gids, "Groups whose members may connect, by name or number")
      ->check(known_by(group_ids))
      ->type_name("GROUP,...");
}

void add_limits(CLI::App& app, DaemonOptions& o) {
  app.add_option("--batch-items", o.batch_items, "Limit of operations in a batch (default 1024)")
      ->check(CLI::Range(1, 65536))
      ->type_name("N");
  app.add_option("--clients", o.clients, "Limit of worker processes (default 256)")
      ->check(CLI::Range(1, 65536))
      ->type_name("N");
  app.add_option("--clients-per-user", o.clients_per_user, "Limit of worker processes of a user (default 128)")
      ->check(CLI::Range(1, 65536))
      ->type_name("N");
  app.add_option("--slots", o.slots, "Limit of operations in flight of a worker, a power of two (default 256)")
      ->check(CLI::Range(1, 4096))
      ->check(refused_by(problem_of_slots))
      ->type_name("N");
  app.add_option("--memory", o.memory_mib,
                 "Limit of memory that all workers share with the daemon, in MiB; each of several users may take half "
                 "of what the others leave, a worker half of what its user has left (default 4096, or less where "
                 "this process may not use twice as much)")
      ->check(CLI::Range(1, 1 << 24))
      ->type_name("MIB");
}

}  // namespace

std::string sentence(const Finding& finding) {
  return finding.where.empty() ? finding.what : fmt::format("{}: {}", finding.where, finding.what);
}

std::vector<std::uint32_t> user_ids(const std::string& list) {
  return ids(list, "user", [](const char* name, std::uint32_t& id) {
    const passwd* entry = ::getpwnam(name);
    if (entry != nullptr) id = entry->pw_uid;
    return entry != nullptr;
  });
}

std::vector<std::uint32_t> group_ids(const std::string& list) {
  return ids(list, "group", [](const char* name, std::uint32_t& id) {
    const group* entry = ::getgrnam(name);
    if (entry != nullptr) id = entry->gr_gid;
    return entry != nullptr;
  });
}

std::uint32_t socket_mode(const DaemonOptions& options) {
  std::uint32_t mode = options.uids.empty() && options.gids.empty() ? 0600 : 0666;
  read_number(options.mode, 8, mode);
  return mode;
}

std::string socket_path(const DaemonOptions& options) {
  if (!options.socket.empty()) return options.socket;
  const char* folder = std::getenv("RUNTIME_DIRECTORY");  // set by systemd for RuntimeDirectory=
  return fmt::format("{}/socket", folder == nullptr ? kDefaultFolder : folder);
}

void add_daemon_options(CLI::App& app, DaemonOptions& o) {
  app.add_option("--config", o.config,
                 fmt::format("Settings, a line each: the name of an option without its dashes, '=', its value. "
                             "Options go before settings (default {}, if it exists; '': none)",
                             kDefaultConfig))
      ->configurable(false)
      ->type_name("FILE");
  app.add_flag("--check", o.check, "Examine the configuration, print the limits that follow from it, and end")
      ->configurable(false);
  add_json(app, o.common);
  for (const char* name : {"--json", "--force"})
    app.get_option(name)->needs(app.get_option("--check"))->configurable(false);
  add_access(app, o);
  add_backend(app, o.common);
  app.get_option("--backend")->check(refused_by(problem_of_backend));
  add_threads(app, o.common, 0);
  add_limits(app, o);
  app.add_option("--metrics", o.metrics, "HOST:PORT; publish figures for Prometheus at http://HOST:PORT/metrics")
      ->check(refused_by(problem_of_endpoint))
      ->type_name("ADDRESS");
  app.add_option("--log", o.log, "What to write on standard error (default info)")
      ->check(CLI::IsMember({"info", "warning"}))
      ->type_name("info|warning");
  app.add_option("--log-format", o.log_format,
                 "How to write it: json, a line each; text; or auto, fields of the journal if that reads it, else text "
                 "(default auto)")
      ->check(CLI::IsMember({"auto", "text", "json"}))
      ->type_name("auto|text|json");
}

}  // namespace polykem::cli
