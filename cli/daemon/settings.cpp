// SPDX-License-Identifier: Apache-2.0
#include "daemon/settings.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <map>
#include <string_view>

#include "common/context.hpp"
#include "common/input.hpp"

namespace polykem::cli {
namespace {

constexpr std::string_view kSpace = " \t\r";
/// The maximum number of findings about a file. In one that is no configuration file at all, every line has one.
constexpr std::size_t kMaxFindings = 20;

std::string without_space(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kSpace);
  return begin == text.npos ? "" : std::string(text.substr(begin, text.find_last_not_of(kSpace) + 1 - begin));
}

std::vector<std::string> reversed(const std::vector<std::string>& arguments) {
  return {arguments.rbegin(), arguments.rend()};
}

std::vector<std::string> setting_names(CLI::App& app) {
  std::vector<std::string> out;
  for (const CLI::Option* option : app.get_options([](const CLI::Option* o) { return o->get_configurable(); }))
    out.push_back(option->get_lnames().front());
  return out;
}

/// Describes a setting: "clients N: Limit of worker processes (default 256)".
std::string expected(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return fmt::format("{} = {}: {}", option.get_lnames().front(), type.substr(0, type.find(':')),
                     option.get_description());
}

/// Reads lines and gives their values to the options of `app`.
class Reader {
 public:
  Reader(CLI::App& app, Configuration& out) : app_(app), names_(setting_names(app)), out_(out) {}

  void read() {
    InputFile file(out_.file);
    std::string_view text;
    for (std::size_t line = 1; file.line(text) && out_.findings.size() < kMaxFindings; ++line)
      read_line({line, "", ""}, without_space(text));
  }

 private:
  void add_finding(const Setting& setting, const std::string& what, const std::string& hint) {
    out_.findings.push_back({fmt::format("{}:{}", out_.file, setting.line), what, hint});
  }

  void read_line(Setting setting, const std::string& text) {
    if (text.empty() || text.front() == '#') return;
    const std::size_t equals = text.find('=');
    setting.name = without_space(std::string_view(text).substr(0, equals));
    if (equals == text.npos)
      return add_finding(setting, fmt::format("'{}' has no '='", printable(text)),
                         "a setting is a line 'name = value'");
    setting.value = without_space(std::string_view(text).substr(equals + 1));
    if (std::find(names_.begin(), names_.end(), setting.name) == names_.end()) return add_unknown_name(setting);
    if (const auto [earlier, is_first] = lines_.emplace(setting.name, setting.line); !is_first)
      return add_finding(setting, fmt::format("'{}' is also set in line {}", setting.name, earlier->second),
                         "keep one of the two");
    if (setting.value.empty())
      return add_finding(setting, fmt::format("'{}' has no value", setting.name), "leave the line out for the default");
    apply(setting);
  }

  void add_unknown_name(const Setting& setting) {
    const std::string close = nearest(setting.name, names_);
    add_finding(setting, fmt::format("no setting '{}'", printable(setting.name)),
                close.empty() ? fmt::format("there are: {}", fmt::join(names_, ", "))
                              : fmt::format("did you mean '{}'?", close));
  }

  void apply(const Setting& setting) {
    CLI::Option& option = *app_.get_option("--" + setting.name);
    option.add_result(setting.value);
    try {
      option.run_callback();
      out_.settings.push_back(setting);
    } catch (const CLI::ParseError& e) {
      const std::string what = e.what(), dashes = "--" + setting.name + ": ";
      add_finding(setting,
                  fmt::format("{}: {}", setting.name, what.rfind(dashes, 0) == 0 ? what.substr(dashes.size()) : what),
                  expected(option));
    }
    option.clear();
  }

  CLI::App& app_;
  const std::vector<std::string> names_;
  Configuration& out_;
  std::map<std::string, std::size_t> lines_;
};

/// The file that `options` name; empty: none.
std::string config_file(const DaemonOptions& options) {
  return options.config == kDefaultConfig && ::access(kDefaultConfig, F_OK) != 0 ? "" : options.config;
}

}  // namespace

Configuration read_configuration(const std::vector<std::string>& arguments) {
  Configuration out;
  CLI::App first;
  add_daemon_options(first, out.options);
  first.parse(reversed(arguments));
  out.file = config_file(out.options);
  if (out.file.empty()) return out;
  out.options = {};
  CLI::App app;
  add_daemon_options(app, out.options);
  Reader(app, out).read();
  app.parse(reversed(arguments));
  return out;
}

}  // namespace polykem::cli
