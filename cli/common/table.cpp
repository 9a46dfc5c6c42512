// SPDX-License-Identifier: Apache-2.0
#include "common/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/exit_codes.hpp"

namespace polykem::cli {
namespace {

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

}  // namespace

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
  return render_text();
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

std::string Table::render_text() const {
  const std::vector<std::size_t> width = widths();
  std::string out;
  const auto line = [&](auto cell) {
    std::string text;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (i > 0) text += "  ";
      text += padded(cell(i), width[i], columns_[i].align);
    }
    trim_right(text);
    out += text + "\n";
  };
  const auto rule = [&] {
    std::size_t total = 2 * (columns_.size() - 1);
    for (const std::size_t w : width)
      total += w;
    for (std::size_t i = 0; i < total; ++i)
      out += "─";
    out += "\n";
  };
  line([&](std::size_t i) { return columns_[i].title; });
  rule();
  for (const auto& cells : rows_) {
    if (cells.empty()) {
      rule();
    } else {
      line([&](std::size_t i) { return cells[i]; });
    }
  }
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
