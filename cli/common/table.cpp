// SPDX-License-Identifier: Apache-2.0
#include "common/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/context.hpp"
#include "common/exit_codes.hpp"
#include "common/terminal.hpp"

namespace polykem::cli {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kIndent = 2;
constexpr std::size_t kMinColumns = 20;

std::size_t display_width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string padded(const std::string& text, std::size_t width, Align align) {
  const std::string fill(width - std::min(width, display_width(text)), ' ');
  return align == Align::kLeft ? text + fill : fill + text;
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

std::string markdown_cell(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

void trim_right(std::string& text) {
  text.erase(text.find_last_not_of(' ') + 1);
}

std::size_t longest_word(const std::string& text) {
  std::size_t longest = 0;
  for (const std::string& word : split(text, ' '))
    longest = std::max(longest, display_width(word));
  return longest;
}

}  // namespace

std::vector<std::string> wrapped(const std::string& text, std::size_t width) {
  if (display_width(text) <= width) return {text};
  std::vector<std::string> out = {""};
  for (const std::string& word : split(text, ' ')) {
    std::string& line = out.back();
    if (line.empty()) {
      line = word;
    } else if (display_width(line) + 1 + display_width(word) <= width) {
      line += " " + word;
    } else {
      out.push_back(word);
    }
  }
  return out;
}

std::string wrap_lines(const std::string& text, std::size_t columns, std::size_t indent) {
  std::string out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (display_width(line) <= columns) {
      out += line + "\n";
      continue;
    }
    // The first `indent` columns, which may hold an entry's name, stay as they are.
    const bool entry = indent > 0 && indent < line.size() && line[indent - 1] == ' ';
    const std::size_t kept = entry ? indent : line.find_first_not_of(' ');
    std::string margin = line.substr(0, kept);
    for (const std::string& part : wrapped(line.substr(kept), columns - std::min(columns - 1, kept))) {
      out += margin + part + "\n";
      margin.assign(indent, ' ');
    }
  }
  return out;
}

TableFormat parse_table_format(const std::string& name) {
  if (name == "text") return TableFormat::kText;
  if (name == "markdown" || name == "md") return TableFormat::kMarkdown;
  if (name == "csv") return TableFormat::kCsv;
  throw CliError(kExitUsage, fmt::format("no table format '{}'", name), "use text, markdown or csv");
}

void Table::row(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

void Table::rule() {
  rows_.emplace_back();
}

std::string Table::render(TableFormat format) const {
  switch (format) {
    case TableFormat::kMarkdown:
      return render_markdown();
    case TableFormat::kCsv:
      return render_csv();
    case TableFormat::kText:
      break;
  }
  return render_text(output_columns());
}

std::vector<std::size_t> Table::widths() const {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = display_width(columns_[i].title);
    for (const auto& cells : rows_) {
      if (!cells.empty()) width = std::max(width, display_width(cells[i]));
    }
    out.push_back(width);
  }
  return out;
}

std::vector<std::size_t> Table::min_widths() const {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = longest_word(columns_[i].title);
    for (const auto& cells : rows_) {
      if (cells.empty()) continue;
      const bool number = columns_[i].align == Align::kRight;
      width = std::max(width, number ? display_width(cells[i]) : longest_word(cells[i]));
    }
    out.push_back(width);
  }
  return out;
}

std::vector<std::size_t> Table::fitted_widths(const std::vector<std::size_t>& shown, std::size_t columns) const {
  const std::vector<std::size_t> full = widths();
  const std::vector<std::size_t> min_width = min_widths();
  std::vector<std::size_t> width;
  std::size_t total = kGap * (shown.size() - 1);
  for (const std::size_t i : shown) {
    width.push_back(full[i]);
    total += full[i];
  }
  while (total > columns) {
    // Shrinks the widest column that can still shrink by one character.
    std::size_t widest = shown.size();
    for (std::size_t k = 0; k < shown.size(); ++k) {
      if (width[k] > min_width[shown[k]] && (widest == shown.size() || width[k] > width[widest])) widest = k;
    }
    if (widest == shown.size()) break;
    --width[widest];
    --total;
  }
  return width;
}

std::vector<std::vector<std::size_t>> Table::parts(std::size_t columns) const {
  const std::vector<std::size_t> min_width = min_widths();
  std::vector<std::vector<std::size_t>> out = {{0}};
  std::size_t total = min_width[0];
  for (std::size_t i = 1; i < columns_.size(); ++i) {
    if (total + kGap + min_width[i] > columns && out.back().size() > 1) {
      out.push_back({0});
      total = min_width[0];
    }
    out.back().push_back(i);
    total += kGap + min_width[i];
  }
  return out;
}

std::string Table::render_part(const std::vector<std::size_t>& shown, std::size_t columns) const {
  const std::vector<std::size_t> width = fitted_widths(shown, columns);
  std::string out;
  const auto add_row = [&](auto cell) {
    std::vector<std::vector<std::string>> lines;
    std::size_t height = 1;
    for (std::size_t k = 0; k < shown.size(); ++k) {
      lines.push_back(wrapped(cell(shown[k]), width[k]));
      height = std::max(height, lines.back().size());
    }
    for (std::size_t line = 0; line < height; ++line) {
      std::string text;
      for (std::size_t k = 0; k < shown.size(); ++k) {
        const std::string piece = line < lines[k].size() ? lines[k][line] : "";
        text += (k > 0 ? std::string(kGap, ' ') : "") + padded(piece, width[k], columns_[shown[k]].align);
      }
      trim_right(text);
      out += text + "\n";
    }
  };
  const auto add_rule = [&] {
    std::size_t total = kGap * (shown.size() - 1);
    for (const std::size_t w : width)
      total += w;
    for (std::size_t i = 0; i < total; ++i)
      out += "─";
    out += "\n";
  };
  add_row([&](std::size_t i) { return columns_[i].title; });
  add_rule();
  for (const auto& cells : rows_) {
    if (cells.empty()) {
      add_rule();
    } else {
      add_row([&](std::size_t i) { return cells[i]; });
    }
  }
  return out;
}

std::string Table::render_text(std::size_t wanted) const {
  // Commands indent some of their tables.
  const std::size_t columns = std::max(wanted, kMinColumns) - kIndent;
  std::string out;
  for (const std::vector<std::size_t>& shown : parts(columns))
    out += (out.empty() ? "" : "\n") + render_part(shown, columns);
  return out;
}

std::string Table::render_markdown() const {
  const std::vector<std::size_t> width = widths();
  std::string out = "|";
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    out += fmt::format(" {} |", padded(markdown_cell(columns_[i].title), width[i], columns_[i].align));
  }
  out += "\n|";
  for (const Column& column : columns_)
    out += column.align == Align::kLeft ? " :-- |" : " --: |";
  out += "\n";
  for (const auto& cells : rows_) {
    if (cells.empty()) continue;
    out += "|";
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      out += fmt::format(" {} |", padded(markdown_cell(cells[i]), width[i], columns_[i].align));
    }
    out += "\n";
  }
  return out;
}

std::string Table::render_csv() const {
  std::string out;
  for (std::size_t i = 0; i < columns_.size(); ++i)
    out += fmt::format("{}{}", i > 0 ? "," : "", csv_cell(columns_[i].title));
  out += "\n";
  for (const auto& cells : rows_) {
    if (cells.empty()) continue;
    for (std::size_t i = 0; i < columns_.size(); ++i)
      out += fmt::format("{}{}", i > 0 ? "," : "", csv_cell(cells[i]));
    out += "\n";
  }
  return out;
}

std::string with_commas(unsigned long long value) {
  const std::string digits = std::to_string(value);
  std::string out;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) out += ',';
    out += digits[i];
  }
  return out;
}

std::string significant(double value) {
  if (!std::isfinite(value)) return "-";
  const double size = std::fabs(value);
  if (size >= 1000) return with_commas(static_cast<unsigned long long>(std::llround(value)));
  if (size >= 100) return fmt::format("{:.1f}", value);
  if (size >= 10) return fmt::format("{:.2f}", value);
  if (size >= 0.01 || size == 0) return fmt::format("{:.3f}", value);
  return fmt::format("{:.3g}", value);
}

std::string duration(double seconds) {
  if (seconds >= 1) return fmt::format("{:.2f} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.2f} ms", seconds * 1e3);
  return fmt::format("{:.1f} µs", seconds * 1e6);
}

std::string data_size(unsigned long long bytes) {
  if (bytes < 10240) return with_commas(bytes) + " B";
  if (bytes < 10ULL << 20) return fmt::format("{:.1f} KiB", static_cast<double>(bytes) / 1024.0);
  if (bytes < 10ULL << 30) return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / 1048576.0);
  return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / 1073741824.0);
}

}  // namespace polykem::cli
