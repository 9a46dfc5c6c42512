// SPDX-License-Identifier: Apache-2.0
#include "help/help_text.hpp"

#include <fmt/format.h>

#include <sstream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "common/streams.hpp"
#include "common/table.hpp"
#include "common/terminal.hpp"

namespace polykem::cli {
namespace {

constexpr std::size_t kNameColumns = 34;
constexpr std::size_t kContinued = 6;  ///< blanks before the rest of an example

/// A name and its description, side by side, or on separate lines if the name is long.
std::string entry(const std::string& name, const std::string& text) {
  const bool beside = name.size() + 3 <= kNameColumns;
  const std::string above = beside ? "" : wrap_lines("  " + name, text_columns(), kContinued);
  return above + wrap_lines(fmt::format("  {:<{}}{}", beside ? name : "", kNameColumns - 2, text), text_columns(),
                            kNameColumns);
}

/// A command of the examples, with a backslash where it continues on the next line, and its description.
std::string example(const std::string& line) {
  const std::size_t columns = text_columns();
  if (line.size() <= columns) return line + "\n";
  const std::size_t end = line.find("  ", line.find_first_not_of(' '));
  std::vector<std::string> parts = wrapped(line.substr(0, end), columns - kContinued - 2);
  std::string out = "  ";
  for (std::size_t i = 0; i < parts.size(); ++i)
    out += parts[i] + (i + 1 < parts.size() ? " \\\n" + std::string(kContinued, ' ') : "\n");
  if (end == std::string::npos) return out;
  const std::string text = line.substr(line.find_first_not_of(' ', end));
  return out + wrap_lines(std::string(kContinued, ' ') + text, columns, kContinued);
}

/// Joins consecutive sentences to a paragraph. Lines that begin with blanks are examples and stay.
std::string footer_text(const std::string& footer) {
  std::istringstream lines(footer);
  std::string out, paragraph, line;
  const auto end_paragraph = [&] {
    if (!paragraph.empty()) out += wrap_lines(paragraph, text_columns(), 0);
    paragraph.clear();
  };
  while (std::getline(lines, line)) {
    const bool sentence = !line.empty() && line[0] != ' ';
    if (sentence) {
      paragraph += (paragraph.empty() ? "" : " ") + line;
      continue;
    }
    end_paragraph();
    out += line.empty() ? "\n" : example(line);
  }
  end_paragraph();
  return out;
}

class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    return entry(make_option_name(option, is_positional) + make_option_opts(option), make_option_desc(option));
  }
  std::string make_subcommand(const CLI::App* command) const override {
    return entry(command->get_name(), command->get_description());
  }
  std::string make_description(const CLI::App* app) const override {
    return wrap_lines(app->get_description() + "\n", text_columns(), 0);
  }
  std::string make_footer(const CLI::App* app) const override { return footer_text(app->get_footer()); }
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> help_formatter() {
  return std::make_shared<HelpFormatter>();
}

int print_help(const CLI::App& app, const CLI::ParseError& e) {
  std::ostringstream out, error;
  const int code = app.exit(e, out, error);
  print_out("{}", out.str());
  return code;
}

}  // namespace polykem::cli
