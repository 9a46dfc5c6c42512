// SPDX-License-Identifier: Apache-2.0
#include "help/command_tree.hpp"

#include <polykem/polykem.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "common/context.hpp"

namespace polykem::cli {
namespace {

constexpr std::string_view kExamples = "Examples:";

bool is_word(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

/// The kind of sets that a command takes.
Sets sets_of(const std::string& command) {
  if (command == "sign" || command == "verify") return Sets::kSignatures;
  constexpr std::array kKemCommands = {"encaps", "decaps", "exchange", "serve", "swarm"};
  return std::find(kKemCommands.begin(), kKemCommands.end(), command) == kKemCommands.end() ? Sets::kAll : Sets::kKems;
}

std::vector<std::string> scheme_names(Sets sets, bool with_families) {
  std::vector<std::string> out;
  std::vector<std::string> families;
  for (const Scheme& scheme : all_sets(sets)) {
    out.emplace_back(scheme.name());
    const std::string family = scheme.info().family;
    if (std::find(families.begin(), families.end(), family) == families.end()) families.push_back(family);
  }
  if (with_families) out.insert(out.end(), families.begin(), families.end());
  return out;
}

/// The argument's name without the suffix of a validator ("F" of "F:{armour,raw}").
std::string argument_name(const CLI::Option& option) {
  const std::string text = option.get_type_name();
  return text.substr(0, text.find(':'));
}

/// The values in "tcp|inproc", "auto|N" or "F:{armour,raw}", without placeholders in capital letters.
std::vector<std::string> listed_values(const CLI::Option& option) {
  const std::string text = option.get_type_name();
  const std::size_t open = text.find('{');
  const std::size_t close = text.find('}', open == std::string::npos ? 0 : open);
  std::vector<std::string> out;
  if (open != std::string::npos && close != std::string::npos) {
    out = split(text.substr(open + 1, close - open - 1), ',');
  } else if (text.find('|') != std::string::npos) {
    out = split(text, '|');
  }
  out.erase(std::remove_if(out.begin(), out.end(), [](const std::string& word) { return !is_word(word); }), out.end());
  return out;
}

std::vector<std::string> values_of(const CLI::Option& option, const std::string& command) {
  if (option.check_lname("scheme")) return scheme_names(sets_of(command), argument_name(option) == "NAMES");
  if (option.check_lname("backend")) return backend_names(false);
  return listed_values(option);
}

Json option_as_json(const CLI::Option& option, const std::string& command) {
  Json names = Json::array();
  for (const std::string& name : option.get_snames())
    names.push_back("-" + name);
  for (const std::string& name : option.get_lnames())
    names.push_back("--" + name);
  if (option.get_positional()) names.push_back(option.get_name(true));
  const bool flag = option.get_items_expected_max() == 0;
  const std::string argument = argument_name(option);
  return Json{{"names", names},
              {"argument", flag ? Json(nullptr) : Json(argument)},
              {"values", flag ? std::vector<std::string>() : values_of(option, command)},
              {"file", argument == "FILE"},
              {"required", option.get_required()},
              {"repeats", option.get_items_expected_max() > 1},
              {"description", option.get_description()}};
}

/// Splits "  polykem list      what this build can do" at the first two blanks into a command and its description.
Json example_as_json(const std::string& line) {
  const std::string text = line.substr(line.find_first_not_of(' '));
  const std::size_t end = text.find("  ");
  const std::size_t rest = end == std::string::npos ? end : text.find_first_not_of(' ', end);
  return Json{{"command", text.substr(0, end)}, {"description", rest == std::string::npos ? "" : text.substr(rest)}};
}

/// Splits the footer of --help into examples, the lines from "Examples:" to a blank line, and notes, all others.
void add_footer(Json& out, const std::string& footer) {
  out["examples"] = Json::array();
  std::string notes;
  bool examples = false;
  std::size_t begin = 0;
  while (begin < footer.size()) {
    const std::size_t end = std::min(footer.find('\n', begin), footer.size());
    const std::string line = footer.substr(begin, end - begin);
    begin = end + 1;
    if (line == kExamples) {
      examples = true;
    } else if (examples && line.rfind("  ", 0) == 0) {
      out["examples"].push_back(example_as_json(line));
    } else {
      examples = false;
      if (!line.empty() || !notes.empty()) notes += line + "\n";
    }
  }
  out["notes"] = notes;
}

Json command_as_json(const CLI::App& app, const std::string& parent) {
  const std::string usage = parent.empty() ? app.get_name() : parent + " " + app.get_name();
  Json out{{"name", app.get_name()},
           {"usage", usage},
           {"description", app.get_description()},
           {"options", Json::array()},
           {"positionals", Json::array()}};
  // Options without a group are hidden.
  for (const CLI::Option* option : app.get_options([](const CLI::Option* o) { return !o->get_group().empty(); })) {
    out[option->get_positional() ? "positionals" : "options"].push_back(option_as_json(*option, app.get_name()));
  }
  add_footer(out, app.get_footer());
  out["commands"] = Json::array();
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    out["commands"].push_back(command_as_json(*command, usage));
  }
  return out;
}

}  // namespace

Json command_tree(const CLI::App& app) {
  return Json{{"schema", "polykem-help-1"}, {"version", polykem_version()}, {"program", command_as_json(app, "")}};
}

bool asks_for_tree(const std::vector<std::string>& arguments) {
  return arguments.size() == 2 && arguments[0] == "help" && arguments[1] == "--json";
}

}  // namespace polykem::cli
