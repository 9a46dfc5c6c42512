// SPDX-License-Identifier: Apache-2.0
// Tables for people (text), for papers (Markdown) and for programs (CSV).
#pragma once

#include <string>
#include <vector>

namespace polykem::cli {

enum class TableFormat { kText, kMarkdown, kCsv };

/// From "text", "markdown", "md" or "csv". Throws CliError (usage).
TableFormat parse_table_format(const std::string& name);

enum class Align { kLeft, kRight };

/// Rows of cells under a header. Cells are UTF-8; each code point is one column wide.
class Table {
 public:
  struct Column {
    std::string title;
    Align align = Align::kRight;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// Adds a row, with a cell for each column.
  void row(std::vector<std::string> cells);
  /// A thin line between groups of rows, in text only.
  void rule();
  /// The whole table, with a final newline. Text fits the terminal: cells are wrapped at blanks, and columns that do
  /// not fit beside each other follow below, in groups that repeat the first column.
  std::string render(TableFormat format = TableFormat::kText) const;
  /// The table as text of at most that many columns.
  std::string render_text(std::size_t columns) const;
  bool empty() const { return rows_.empty(); }

 private:
  std::string render_markdown() const;
  std::string render_csv() const;
  std::string render_part(const std::vector<std::size_t>& shown, std::size_t columns) const;
  /// The widths of all columns without wrapping, and their minimum widths.
  std::vector<std::size_t> widths() const;
  std::vector<std::size_t> min_widths() const;
  /// The widths of the columns in `shown`, wrapped as far as `columns` requires.
  std::vector<std::size_t> fitted_widths(const std::vector<std::size_t>& shown, std::size_t columns) const;
  /// Groups of columns that fit beside each other; each contains the first column.
  std::vector<std::vector<std::size_t>> parts(std::size_t columns) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;  ///< An empty vector is a rule.
};

/// Breaks `text` at blanks into lines of at most `columns`; a longer word gets a line of its own.
std::vector<std::string> wrapped(const std::string& text, std::size_t columns);

/// Breaks lines of `text` that are longer than `columns` at blanks; continuation lines are indented by `indent`.
std::string wrap_lines(const std::string& text, std::size_t columns, std::size_t indent);

/// 1234567 -> "1,234,567".
std::string with_commas(unsigned long long value);

/// A rate or a figure with three to four significant digits: "12.34", "1,234", "0.00123".
std::string significant(double value);

/// A duration in seconds as "12.3 µs", "4.56 ms", "1.23 s".
std::string duration(double seconds);

/// A size in bytes as "1,230 B", "12.3 KiB", "4.5 MiB".
std::string data_size(unsigned long long bytes);

}  // namespace polykem::cli
