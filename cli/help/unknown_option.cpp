// SPDX-License-Identifier: Apache-2.0
#include "help/unknown_option.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "common/context.hpp"
#include "common/exit_codes.hpp"

namespace polykem::cli {
namespace {

constexpr std::size_t kMaxShown = 40;

[[noreturn]] void throw_unknown(const CLI::App& command, const std::string& where, const std::string& name,
                                const std::string& meant = "") {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options([](const CLI::Option* o) { return !o->get_group().empty(); })) {
    for (const std::string& known : option->get_lnames())
      names.push_back("--" + known);
  }
  const std::string close = name.rfind("--", 0) == 0 ? nearest(name, names) : meant;
  const std::string help = fmt::format("'{} --help' shows the options", where);
  throw CliError(kExitUsage, fmt::format("{} has no option '{}'", where, printable(name, kMaxShown)),
                 close.empty() ? help : fmt::format("did you mean '{}'? {}", close, help));
}

/// Checks an argument that begins with '-'. Returns true if the next argument is its value.
bool check_option(const CLI::App& command, const std::string& where, const std::string& word) {
  if (word.rfind("--", 0) == 0) {
    const std::size_t assigned = word.find('=');
    const std::string name = word.substr(0, assigned);
    const CLI::Option* option = command.get_option_no_throw(name);
    if (option == nullptr) throw_unknown(command, where, name);
    return assigned == std::string::npos && option->get_items_expected_max() > 0;
  }
  const std::string one_dash = word.substr(0, word.find('='));
  // A long option with one dash, as openssl's are.
  if (one_dash.size() > 2 && command.get_option_no_throw("-" + one_dash) != nullptr)
    throw_unknown(command, where, one_dash, "-" + one_dash);
  for (std::size_t i = 1; i < word.size(); ++i) {  // "-qf": several flags; "-sNAME": a value
    const std::string name = std::string("-") + word[i];
    const CLI::Option* option = command.get_option_no_throw(name);
    if (option == nullptr) throw_unknown(command, where, name);
    if (option->get_items_expected_max() > 0) return i + 1 == word.size();
  }
  return false;
}

}  // namespace

void check_options(const CLI::App& app, const std::vector<std::string>& arguments) {
  const CLI::App* command = &app;
  std::string where = app.get_name();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word == "--") return;
    if (word.size() > 1 && word[0] == '-') {
      if (check_option(*command, where, word)) ++i;
      continue;
    }
    const auto named = command->get_subcommands([&](const CLI::App* c) { return c->get_name() == word; });
    if (named.empty()) continue;
    command = named.front();
    where += " " + word;
  }
}

}  // namespace polykem::cli
